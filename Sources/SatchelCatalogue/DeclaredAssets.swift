import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

/// The strings of one section's content that are declared to be URLs of assets, by the entity that has them.
struct DeclaredAssets {
  /// A member of content: the tokens of a JSON Pointer, of which "*" is any member or element.
  struct Path: Sendable {
    let tokens: [String]

    /// - Throws: `JSONError` for what is not a pointer
    init(_ text: String) throws {
      guard !text.isEmpty else { throw JSONError("an empty path is the whole content, which is no URL") }
      tokens = try JSONPath(pointer: text).components
    }
  }

  private let tape: JSONTape
  /// By the innermost entity; nil for the section itself.
  private(set) var urls: [EntityTarget?: [String]] = [:]
  private(set) var problems: [Receipt.Problem] = []

  /// - Parameters:
  ///   - content: the token of the section's content, with the `_storage` of its entities
  ///   - pointer: of the content, for problems
  init(_ paths: [Path], in tape: JSONTape, at content: Int, pointer: String) {
    self.tape = tape
    for path in paths { visit(content, path.tokens[...], pointer, inside: nil) }
  }

  private mutating func visit(
    _ index: Int, _ tokens: ArraySlice<String>, _ pointer: String, inside outer: EntityTarget?
  ) {
    let kind = tape[index].kind
    var entity = outer
    if kind == .object, let tag = tape.member(StorageTag.key, of: index),
      let known = try? StorageTag(tape, at: tag)
    {
      entity = EntityTarget(entityID: known.entityID, scope: known.scope)
    }
    guard let token = tokens.first else { return add(index, pointer, inside: entity) }
    guard kind == .object || kind == .array else { return }
    var position = -1
    for child in tape.children(of: index) {
      position += 1
      let name = kind == .object ? tape.text(child - 1) : "\(position)"
      guard token == "*" || token.hasSameBytes(as: name) else { continue }
      visit(child, tokens.dropFirst(), pointer + "/" + JSONPointer.escaped(name), inside: entity)
    }
  }

  private mutating func add(_ index: Int, _ pointer: String, inside entity: EntityTarget?) {
    guard tape[index].kind == .string else {
      if tape[index].kind != .null, !isAsset(index) {
        problems.append(
          .init(pointer: pointer, reason: "is declared to be the URL of an asset, and is no string"))
      }
      return
    }
    let url = tape.text(index)
    guard Asset.isURL(url) else {
      problems.append(
        .init(pointer: pointer, reason: "is declared to be the URL of an asset, and is not http or https"))
      return
    }
    urls[entity, default: []].append(url)
  }

  /// A reference says itself what it is.
  private func isAsset(_ index: Int) -> Bool {
    tape[index].kind == .object && tape.member("_asset", of: index) != nil
  }

  // MARK: Declaring

  /// The paths that are declared for a section.
  static func paths(of section: String, _ connection: Connection) throws -> [Path] {
    var paths: [Path] = []
    try connection.each("SELECT path FROM asset_path WHERE section = ? ORDER BY path", .text(section)) {
      if let path = try? Path($0.text(0)) { paths.append(path) }
    }
    return paths
  }
}

extension Catalogue {
  /// Declares members of a section whose strings are URLs of assets: they are fetched, counted and pruned as objects with
  /// the member `_asset` are. The content stays as it is. What is stored already is looked through again.
  ///
  /// - Parameters:
  ///   - section: the section's name
  ///   - paths: JSON Pointers (RFC 6901) into its content, "*" for any member or element: "/cards/*/image"; they replace
  ///     those that were declared before, and none ends the declaration
  /// - Throws: `SatchelError` `.invalid` for a path that is no pointer, `.readOnly`, `.busy`, `.full`, `.io`, `.closed`
  public func declareAssets(of section: String, paths: [String]) throws {
    for path in paths { _ = try naming("paths") { try DeclaredAssets.Path(path) } }
    try database.prepare(AssetSchema.subject)
    try database.write { transaction in
      let connection = transaction.connection
      var known: [String] = []
      try connection.each("SELECT path FROM asset_path WHERE section = ?", .text(section)) {
        known.append($0.text(0))
      }
      guard Set(known) != Set(paths) else { return }
      try connection.run("DELETE FROM asset_path WHERE section = ?", .text(section))
      for path in Set(paths) {
        try connection.run("INSERT INTO asset_path(section, path) VALUES(?, ?)", .text(section), .text(path))
      }
      try recordAssets(of: section, in: transaction)
    }
  }

  private func recordAssets(of section: String, in transaction: Transaction) throws {
    for location in try locations(of: section, transaction.connection) {
      try SectionPersister(self, at: location, reuse: .unlessChanged, in: transaction).recordAssets(
        of: section)
    }
  }

  /// Records again what all sections with declared paths refer to.
  func recordDeclaredAssets(in transaction: Transaction) throws {
    var sections: [String] = []
    try transaction.connection.each("SELECT DISTINCT section FROM asset_path") { sections.append($0.text(0)) }
    for section in sections { try recordAssets(of: section, in: transaction) }
  }

  private func locations(of section: String, _ connection: Connection) throws -> [Location] {
    var texts: [[UInt8]] = []
    try connection.each(
      "SELECT c.location FROM section s JOIN context c ON c.id = s.context WHERE s.name = ?", .text(section)
    ) { texts.append(Array($0.bytes(0))) }
    return try texts.map { try Location(json: JSONValue(parsing: $0)) }
  }
}
