import SatchelJSON
import SatchelStorage

/// What the deletion of one record does to those that name it. All is known, and allowed, before anything changes.
///
/// A queue, not recursion: chains may be as long as a collection.
struct Deletion {
  private let work: RecordWork
  private struct Item {
    var row: Int64
    var key: [UInt8]
    var collection: WorkingCollection
  }
  private struct Use {
    var source: Int64
    var relation: CollectionShape.Relation
    var target: [UInt8]
    /// The name of the record that is used.
    var name: String
  }
  private var queue: [Item] = []
  private var deleted: Set<Int64> = []
  private var restricted: [Use] = []
  /// By row, in the order they were met.
  private var nullified: [Int64: [Use]] = [:]
  private var nullifiedRows: [Int64] = []
  private var incoming: [Int64: [Int64: CollectionShape.Relation]] = [:]

  init(_ work: RecordWork) { self.work = work }

  /// - Throws: `.invalid` when a record that stays restricts it, or may not lose the reference
  mutating func run(_ row: Int64, _ key: [UInt8], from collection: WorkingCollection) throws {
    queue = [Item(row: row, key: key, collection: collection)]
    deleted = [row]
    var next = 0
    while next < queue.count {
      try follow(queue[next])
      next += 1
    }
    for use in restricted where !deleted.contains(use.source) {
      let source = try work.collection(use.relation.source)
      let owner = try RecordTable(connection: work.connection).key(use.source) ?? []
      throw SatchelError(
        .invalid,
        "\(use.name): cannot be deleted while \(source.name)/\(String(decoding: owner, as: UTF8.self)) names it at "
          + use.relation.path.pointer)
    }
    let rewritten = try nullifiedRows.filter { !deleted.contains($0) }.map { ($0, try rewrite($0)) }
    try work.changing {
      for (row, body) in rewritten { try replace(row, body) }
      for item in queue {
        try item.key.withUnsafeBytes { try work.remove(item.row, $0, from: item.collection) }
      }
    }
  }

  private mutating func follow(_ item: Item) throws {
    let relations = try incoming(item.collection.id)
    guard !relations.isEmpty else { return }
    let sources = try ReferenceTable(connection: work.connection).sources(
      of: item.key, in: item.collection.id)
    for (row, number) in sources {
      guard let relation = relations[number] else { continue }
      switch relation.onDelete {
      case .cascade: try cascade(row, relation)
      case .restrict: restricted.append(use(row, relation, item))
      case .nullify:
        if nullified[row] == nil { nullifiedRows.append(row) }
        nullified[row, default: []].append(use(row, relation, item))
      }
    }
  }

  private func use(_ row: Int64, _ relation: CollectionShape.Relation, _ item: Item) -> Use {
    Use(
      source: row, relation: relation, target: item.key,
      name: item.collection.name + "/" + String(decoding: item.key, as: UTF8.self))
  }

  private mutating func cascade(_ row: Int64, _ relation: CollectionShape.Relation) throws {
    guard deleted.insert(row).inserted else { return }
    guard let key = try RecordTable(connection: work.connection).key(row) else { return }
    queue.append(Item(row: row, key: key, collection: try work.collection(relation.source)))
  }

  private mutating func incoming(_ collection: Int64) throws -> [Int64: CollectionShape.Relation] {
    if let known = incoming[collection] { return known }
    let relations = try CollectionShape.incoming(collection, work.connection)
    incoming[collection] = relations
    return relations
  }

  // MARK: Nullifying

  /// The document without its references to what goes, every other byte as it was.
  private func rewrite(_ row: Int64) throws -> [UInt8] {
    var body = try RecordTable(connection: work.connection).body(row) ?? []
    guard let uses = nullified[row], let relation = uses.first?.relation else { return body }
    for relation in Dictionary(grouping: uses, by: \.relation.id).values.compactMap(\.first?.relation) {
      let gone = Set(uses.filter { $0.relation.id == relation.id }.map(\.target))
      body = try body.withUnsafeBytes { try Self.body($0, without: gone, relation) }
    }
    let collection = try work.collection(relation.source)
    let key = try RecordTable(connection: work.connection).key(row) ?? []
    try body.withUnsafeBytes {
      try collection.shape.schema?.check($0, "\(collection.name)/\(String(decoding: key, as: UTF8.self))")
    }
    return body
  }

  private static func body(
    _ bytes: UnsafeRawBufferPointer, without gone: Set<[UInt8]>, _ relation: CollectionShape.Relation
  ) throws -> [UInt8] {
    let document = DocumentReader(bytes)
    guard let place = document.find(relation.path) else { return Array(bytes) }
    let range = place.spelling
    var body = Array(bytes[..<range.lowerBound])
    if relation.isMany, place.kind == .array {
      body.append(UInt8(ascii: "["))
      var isFirst = true
      document.elements(of: place) { element in
        if let id = document.field(element).withText({ Array($0) }), gone.contains(id) { return }
        if !isFirst { body.append(UInt8(ascii: ",")) }
        isFirst = false
        body.append(contentsOf: bytes[element.spelling])
      }
      body.append(UInt8(ascii: "]"))
    } else {
      body.append(contentsOf: "null".utf8)
    }
    body.append(contentsOf: bytes[range.upperBound...])
    return body
  }

  private func replace(_ row: Int64, _ body: [UInt8]) throws {
    let collection = try work.collection(RecordRow.collection(of: row))
    guard let key = try RecordTable(connection: work.connection).key(row) else { return }
    try key.withUnsafeBytes { key in
      _ = try body.withUnsafeBytes { try work.put(key, $0, in: collection) }
    }
  }
}
