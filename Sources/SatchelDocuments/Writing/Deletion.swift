import SatchelCore
import SatchelJSON
import SatchelStorage

/// The record, "collection/id", that keeps another one from being written or deleted.
struct BlockingRecord: LocatedError {
  var name: String
  var details: SatchelError.Details { .blocked(by: name) }
}

/// Deletes a record and applies the `onDelete` actions of the relations that refer to it. Everything is
/// determined and checked before anything changes.
///
/// Uses a queue instead of recursion, because a chain of references can be as long as a collection.
struct Deletion {
  private let work: RecordWork
  struct Item {
    var row: Int64
    var key: [UInt8]
    var collection: CollectionState
  }
  private struct Reference {
    var source: Int64
    var relation: CollectionRelation
    var target: [UInt8]
    /// Collection and id of the record that is referred to.
    var name: String
  }
  /// A record that keeps another one from being deleted.
  struct Restriction {
    /// Its id,
    var source: [UInt8]
    /// and the relation by which it refers to `target`.
    var relation: CollectionRelation
    var target: [UInt8]
    var error: SatchelError
  }
  /// The other records that were deleted or changed.
  private(set) var changed: [(collection: Int64, key: [UInt8])] = []
  /// The records to delete: the requested ones first, `count` of them.
  private var queue: [Item] = []
  private var count = 0
  private var deleted: Set<Int64> = []
  private var restricted: [Reference] = []
  /// The references to nullify, by row; `nullifiedRows` has the rows in the order in which they were found.
  private var nullified: [Int64: [Reference]] = [:]
  private var nullifiedRows: [Int64] = []
  private var incoming: [Int64: [Int64: CollectionRelation]] = [:]

  init(_ work: RecordWork) { self.work = work }

  /// Deletes records of any collections at once: they may refer to each other.
  ///
  /// - Throws: `.constraint` when a record that is not deleted restricts the deletion, or must not lose its
  ///   reference; for the former, a `BlockingRecord` is its underlying error
  mutating func run(
    _ records: [Item],
    willCascade: (_ key: [UInt8], _ row: Int64, _ collection: CollectionState) throws -> Void
  ) throws {
    try find(records)
    if let restriction = try restrictions().first { throw restriction.error }
    try carryOut(willCascade)
  }

  /// Deletes and changes the records that were found.
  mutating func carryOut(
    _ willCascade: (_ key: [UInt8], _ row: Int64, _ collection: CollectionState) throws -> Void
  ) throws {
    let rewritten = try nullifiedRows.filter { !deleted.contains($0) }.map { ($0, try rewrite($0)) }
    try work.changing {
      for (row, body) in rewritten { try replace(row, body) }
      for item in queue.dropFirst(count) {
        try willCascade(item.key, item.row, item.collection)
        changed.append((item.collection.id, item.key))
      }
      for item in queue {
        try item.key.withUnsafeBytes { try work.remove(item.row, $0, from: item.collection) }
      }
    }
  }

  /// Determines the records to delete and to change with the given ones.
  mutating func find(_ records: [Item]) throws {
    (queue, count) = (records, records.count)
    deleted = Set(records.map(\.row))
    var next = 0
    while next < queue.count {
      try visit(queue[next])
      next += 1
    }
  }

  /// The other records to delete or change.
  func affected() throws -> [(collection: Int64, key: [UInt8])] {
    try queue.dropFirst(count).map { ($0.collection.id, $0.key) }
      + nullifiedRows.filter { !deleted.contains($0) }.map {
        (RecordRow.collection(of: $0), try RecordTable(connection: work.connection).key($0) ?? [])
      }
  }

  /// The references that keep the records from being deleted.
  func restrictions() throws -> [Restriction] {
    try restricted.filter { !deleted.contains($0.source) }.map { reference in
      let source = try work.collection(reference.relation.source)
      let key = try RecordTable(connection: work.connection).key(reference.source) ?? []
      let owner = "\(source.name)/\(String(decoding: key, as: UTF8.self))"
      return Restriction(
        source: key, relation: reference.relation, target: reference.target,
        error: SatchelError(
          .constraint,
          "\(reference.name): cannot be deleted while \(owner) refers to it at "
            + reference.relation.path.pointer, underlying: BlockingRecord(name: owner)
        ).at(.record(named: reference.name, pointer: reference.relation.path.pointer)))
    }
  }

  private mutating func visit(_ item: Item) throws {
    let relations = try incoming(item.collection.id)
    guard !relations.isEmpty else { return }
    let sources = try ReferenceTable(connection: work.connection).sources(
      of: item.key, in: item.collection.id)
    for (row, number) in sources {
      guard let relation = relations[number] else { continue }
      switch relation.onDelete {
      case .cascade: try cascade(row, relation)
      case .restrict: restricted.append(reference(row, relation, item: item))
      case .nullify:
        if nullified[row] == nil { nullifiedRows.append(row) }
        nullified[row, default: []].append(reference(row, relation, item: item))
      }
    }
  }

  private func reference(_ row: Int64, _ relation: CollectionRelation, item: Item) -> Reference {
    Reference(
      source: row, relation: relation, target: item.key,
      name: item.collection.name + "/" + String(decoding: item.key, as: UTF8.self))
  }

  private mutating func cascade(_ row: Int64, _ relation: CollectionRelation) throws {
    guard deleted.insert(row).inserted else { return }
    guard let key = try RecordTable(connection: work.connection).key(row) else { return }
    queue.append(Item(row: row, key: key, collection: try work.collection(relation.source)))
  }

  private mutating func incoming(_ collection: Int64) throws -> [Int64: CollectionRelation] {
    if let known = incoming[collection] { return known }
    let relations = try CollectionRules.incoming(collection, work.connection)
    incoming[collection] = relations
    return relations
  }

  // MARK: Nullifying

  /// Returns the document without its references to deleted records, every other byte unchanged.
  private func rewrite(_ row: Int64) throws -> [UInt8] {
    guard let references = nullified[row], let relation = references.first?.relation else { return [] }
    let collection = try work.collection(relation.source)
    let key = try RecordTable(connection: work.connection).key(row) ?? []
    var body = try key.withUnsafeBytes { try work.document(row, $0, in: collection) } ?? []
    for relation in Dictionary(grouping: references, by: \.relation.id).values.compactMap(\.first?.relation) {
      let removed = Set(references.filter { $0.relation.id == relation.id }.map(\.target))
      body = try body.withUnsafeBytes { try Self.body($0, without: removed, relation) }
    }
    try body.withUnsafeBytes {
      try collection.rules.schema?.check($0, key.withUnsafeBytes(collection.location))
    }
    return body
  }

  static func body(
    _ bytes: UnsafeRawBufferPointer, without removed: Set<[UInt8]>, _ relation: CollectionRelation
  ) throws -> [UInt8] {
    let document = DocumentReader(bytes)
    guard let location = document.find(relation.path) else { return Array(bytes) }
    let range = location.rawRange
    var body = Array(bytes[..<range.lowerBound])
    if relation.isMany, location.kind == .array {
      body.append(UInt8(ascii: "["))
      var isFirst = true
      document.elements(of: location) { element in
        if let id = document.field(element).withText({ Array($0) }), removed.contains(id) { return }
        if !isFirst { body.append(UInt8(ascii: ",")) }
        isFirst = false
        body.append(contentsOf: bytes[element.rawRange])
      }
      body.append(UInt8(ascii: "]"))
    } else {
      body.append(contentsOf: "null".utf8)
    }
    body.append(contentsOf: bytes[range.upperBound...])
    return body
  }

  private mutating func replace(_ row: Int64, _ body: [UInt8]) throws {
    let collection = try work.collection(RecordRow.collection(of: row))
    guard let key = try RecordTable(connection: work.connection).key(row) else { return }
    changed.append((collection.id, key))
    try key.withUnsafeBytes { key in
      _ = try body.withUnsafeBytes { try work.put(key, $0, in: collection) }
    }
  }
}
