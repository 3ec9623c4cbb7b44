import SatchelCore
import SatchelJSON
import SatchelStorage

/// The content of an index: the values at its paths, of those records that match its filter.
struct IndexDefinition: Sendable {
  struct Part: Sendable {
    var path: FieldPath
    var isDescending: Bool
  }

  /// The maximum number of paths.
  static let maxParts = 8

  let parts: [Part]
  /// The conditions that records with an entry fulfil; nil for all records.
  let filter: CompiledFilter?
  /// The form in the store: the path of an index of one path, and JSON of any other.
  let text: String
  private let source: RecordFilter?

  /// - Throws: `.invalid` for an invalid path or condition, and for what no index can have
  init(_ index: RecordIndex, _ types: TypedPaths) throws {
    guard (1...Self.maxParts).contains(index.paths.count) else {
      throw SatchelError(.invalid, "an index has 1 to \(Self.maxParts) paths, not \(index.paths.count)")
    }
    parts = try index.paths.map { text in
      let isDescending = index.paths.count > 1 && text.utf8.first == UInt8(ascii: "-")
      let path = try FieldPath(isDescending ? String(text.dropFirst()) : text)
      return Part(path: types.typed(path), isDescending: isDescending)
    }
    source = index.filter
    filter = try index.filter.map { try CompiledFilter($0, types) }
    text = try Self.text(parts, index.filter, types)
    try check(index)
  }

  private func check(_ index: RecordIndex) throws {
    let name = index.paths.joined(separator: ", ")
    if parts.count == 1, name.utf8.first == UInt8(ascii: "-") {
      throw SatchelError(
        .invalid,
        "an index of \"\(name)\": an index of one path has both orders: declare \"\(name.dropFirst())\"; a member of that "
          + "name is \"/\(name)\"")
    }
    for (position, part) in parts.enumerated() {
      if parts[..<position].contains(where: { $0.path == part.path }) {
        throw SatchelError(.invalid, "the index of \"\(name)\" has \"\(part.path.text)\" twice")
      }
      switch part.path {
      case .elements where parts.count > 1:
        throw SatchelError(
          .invalid, "the index of \"\(name)\": elements of an array have an index of their own")
      case .elements where index.isUnique:
        throw SatchelError(.invalid, "the index of \"\(name)\" cannot be unique")
      case .id, .created, .modified:
        guard parts.count == 1, !index.isUnique, filter == nil else {
          throw SatchelError(
            .invalid,
            "the index of \"\(name)\" cannot \(index.isUnique ? "be unique" : "have other paths or conditions")"
          )
        }
      case .revision, .syncStatus:
        throw SatchelError(.invalid, "\"\(part.path.text)\" cannot have an index")
      default: break
      }
    }
    try filter?.eachTest { test in
      guard test.path.isOfRecord || test.times != nil else { return }
      throw SatchelError(
        .invalid,
        "the index of \"\(name)\": \"\(test.path.text)\": a condition of an index is of the documents, and a range of "
          + "times needs the path's type")
    }
  }

  /// Whether all records have one entry each, which is the value's key.
  var isPlain: Bool { parts.count == 1 && filter == nil && !hasElements }

  /// Whether a record has an entry for each element of an array.
  var hasElements: Bool { if case .elements = parts[0].path { true } else { false } }

  /// Every path that the index reads.
  func eachPath(_ body: (FieldPath) throws -> Void) rethrows {
    for part in parts { try body(part.path) }
    try filter?.eachTest { try body($0.path) }
  }

  /// Whether another index has the same entries.
  func isSame(as other: IndexDefinition) -> Bool {
    parts.elementsEqual(other.parts) { $0.path == $1.path && $0.isDescending == $1.isDescending }
      && source == other.source
  }
}

extension IndexDefinition {
  private static func text(_ parts: [Part], _ filter: RecordFilter?, _ types: TypedPaths) throws -> String {
    var used: [FieldPath] = parts.map(\.path)
    try filter.map { try CompiledFilter($0, types).eachTest { used.append($0.path) } }
    let typed = used.filter { $0.type != nil }
    let paths = parts.map { ($0.isDescending ? "-" : "") + $0.path.text }
    if paths.count == 1, typed.isEmpty, filter == nil, paths[0].utf8.first != UInt8(ascii: "{") {
      return paths[0]
    }
    var members: JSONObject = ["paths": .array(paths.map { .string($0) })]
    if let filter { members["where"] = filter.json }
    if !typed.isEmpty {
      var types = JSONObject()
      for path in typed { types[path.text] = path.type?.json }
      members["types"] = .object(types)
    }
    // Keys of another table have to be made again.
    if typed.contains(where: { $0.type?.hasTable == true }) { members["table"] = .string(RootOrder.version) }
    return try JSONValue.object(members).text
  }

  /// Reads the form in the store.
  ///
  /// - Returns: nil for an index whose keys were made with another version of Unicode's tables
  /// - Throws: `.damaged`
  init?(stored text: String) throws {
    guard text.utf8.first == UInt8(ascii: "{") else {
      try self.init(RecordIndex(text), .none)
      return
    }
    do {
      guard case .object(let members) = try JSONValue(parsing: text), let paths = members["paths"]?.arrayValue
      else {
        throw JSONError("must be an object with paths", pointer: "")
      }
      if let table = members["table"], table != .string(RootOrder.version) { return nil }
      var types: [String: RecordType] = [:]
      for (path, type) in members["types"]?.objectValue ?? [:] {
        types[path] = try RecordType(type, at: "/types/" + JSONPointer.escaped(path))
      }
      var index = RecordIndex(paths: paths.compactMap(\.stringValue))
      index.filter = try members["where"].map { try RecordFilter($0, at: "/where") }
      try self.init(index, try TypedPaths(types))
    } catch {
      throw SatchelError(.damaged, "record_index.definition: \(text): \(error)", underlying: error)
    }
  }
}

/// An index of a collection in the store.
final class CollectionIndex: Sendable {
  let id: Int64
  let definition: IndexDefinition
  let isUnique: Bool

  init(id: Int64, _ definition: IndexDefinition, isUnique: Bool) {
    (self.id, self.definition, self.isUnique) = (id, definition, isUnique)
  }

  /// The first path.
  var path: FieldPath { definition.parts[0].path }
  var parts: [IndexDefinition.Part] { definition.parts }

  /// The JSON Pointers of its values, for messages.
  var pointer: String {
    parts.map { if case .document(let path) = $0.path { path.pointer } else { $0.path.text } }
      .joined(separator: ", ")
  }

  /// The paths, for messages.
  var name: String { parts.map { ($0.isDescending ? "-" : "") + $0.path.text }.joined(separator: ", ") }

  /// Whether it was made for a field of the records, which no declaration has to name.
  var isOfRecord: Bool { path.isOfRecord }

  /// Properties of the values that the key of a record is made of.
  struct Key {
    /// Whether the key alone identifies them.
    var isExact = true
    /// Whether one is missing or null, so that they do not count for a unique index.
    var hasNull = false
    /// Whether one is an array or an object, which a unique index does not accept.
    var hasContainer = false
  }

  /// Appends the keys that a record has in the index, and visits each.
  func eachKey(
    of record: IndexedRecord, into bytes: inout [UInt8], _ visit: (Range<Int>, Key) throws -> Void
  ) throws {
    if let filter = definition.filter, try !filter.matches(record) { return }
    if case .elements(let path) = self.path {
      for key in Self.keys(of: path, record) {
        let start = bytes.count
        bytes += key
        try visit(start..<bytes.count, Key())
      }
      return
    }
    let start = bytes.count
    var key = Key()
    for part in parts {
      let field = record.field(part.path)
      switch field {
      case .missing, .null: key.hasNull = true
      case .array, .object: key.hasContainer = true
      default: break
      }
      let isExact: Bool
      if parts.count == 1 {
        isExact = ValueKey.append(field, to: &bytes)
      } else {
        let beginning = bytes.count
        isExact = OrderKey.append(field, upTo: ValueKey.maxLength, to: &bytes)
        if part.isDescending { for index in beginning..<bytes.count { bytes[index] = ~bytes[index] } }
      }
      key.isExact = key.isExact && isExact
    }
    try visit(start..<bytes.count, key)
  }

  /// Returns the keys of the elements of an array, each once, in order.
  private static func keys(of path: ElementPath, _ record: IndexedRecord) -> [[UInt8]] {
    var keys: Set<[UInt8]> = []
    path.each(in: DocumentReader(record.document)) {
      var key: [UInt8] = []
      ValueKey.append($0, to: &key)
      keys.insert(key)
    }
    return keys.count < 2 ? Array(keys) : keys.ordered { $0.lexicographicallyPrecedes($1) }
  }

  /// The error for an array or an object in a unique index.
  func unacceptable(_ key: UnsafeRawBufferPointer, in collection: CollectionState) -> SatchelError {
    collection.problem(
      key, pointer, reason: "a unique index accepts only numbers, strings and Booleans")
  }

  /// Returns the keys of a record's whole values.
  func wholeKey(_ record: IndexedRecord) -> [UInt8] {
    var key: [UInt8] = []
    for part in parts { OrderKey.append(record.field(part.path), upTo: .max, to: &key) }
    return key
  }
}
