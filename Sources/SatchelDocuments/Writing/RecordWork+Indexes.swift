import SatchelCore
import SatchelStorage

/// The changes of a record's entries in the indexes of its collection.
struct IndexEntries {
  struct Change {
    /// The position of the index in the shape.
    var index: Int
    /// Ranges of the keys in `keyBuffer`; empty for no record.
    var old: Range<Int>
    var new: Range<Int>
  }

  var changes: [Change] = []
}

/// The parts of a record that the indexes of its collection read.
struct IndexedRecord {
  var key: UnsafeRawBufferPointer
  var created: Int64
  var modified: Int64
  var document: UnsafeRawBufferPointer

  func field(_ path: FieldPath) -> FieldValue {
    switch path {
    case .document(let path): DocumentReader(document).field(path)
    case .id: .string(key)
    case .created: .int(created)
    case .modified: .int(modified)
    // No index has them.
    case .revision, .syncStatus: .missing
    }
  }
}

extension RecordWork {
  /// Determines the changes, and checks that they are allowed. The keys stay in `keyBuffer` until the next
  /// record.
  ///
  /// - Parameters:
  ///   - old: the previous record; nil for none
  ///   - new: the new record; nil when it is deleted
  func indexEntries(
    _ old: RecordTable.Head?, _ new: IndexedRecord?, key: UnsafeRawBufferPointer, row: Int64?,
    in collection: CollectionState
  ) throws -> IndexEntries {
    var entries = IndexEntries()
    guard try !collection.rules.indexes.isEmpty else { return entries }
    keyBuffer.removeAll(keepingCapacity: true)
    for (position, index) in try collection.rules.indexes.enumerated() {
      let before = keyBuffer.count
      if let old {
        old.body.withUnsafeBytes { body -> Void in
          let record = IndexedRecord(key: key, created: old.created, modified: old.modified, document: body)
          ValueKey.append(record.field(index.path), to: &keyBuffer)
        }
      }
      let middle = keyBuffer.count
      if let new {
        let field = new.field(index.path)
        let isExact = ValueKey.append(field, to: &keyBuffer)
        if index.isUnique {
          try checkUnique(
            index, field, value: keyBuffer[middle...], isExact: isExact, key: key, row: row, in: collection)
        }
      }
      let change = IndexEntries.Change(index: position, old: before..<middle, new: middle..<keyBuffer.count)
      if !keyBuffer[change.old].elementsEqual(keyBuffer[change.new]) { entries.changes.append(change) }
    }
    return entries
  }

  func apply(_ entries: IndexEntries, _ row: Int64, in collection: CollectionState) throws {
    let table = ValueTable(connection: connection)
    for change in entries.changes {
      let index = try collection.rules.indexes[change.index].id
      try keyBuffer.withUnsafeBytes { buffer in
        if !change.old.isEmpty {
          try table.delete(index, UnsafeRawBufferPointer(rebasing: buffer[change.old]), row: row)
        }
        if !change.new.isEmpty {
          try table.insert(index, UnsafeRawBufferPointer(rebasing: buffer[change.new]), row: row)
        }
      }
    }
  }

  /// Changes the entries of a record whose times are another copy's.
  func moveEntries(
    of row: Int64, from old: (created: Int64, modified: Int64), to new: (created: Int64, modified: Int64),
    in collection: CollectionState
  ) throws {
    let table = ValueTable(connection: connection)
    for index in try collection.rules.indexes where index.isOfRecord {
      guard index.path != .id else { continue }
      let (before, after) = index.path == .created ? (old.created, new.created) : (old.modified, new.modified)
      guard before != after else { continue }
      var (removed, added): ([UInt8], [UInt8]) = ([], [])
      ValueKey.append(before, to: &removed)
      ValueKey.append(after, to: &added)
      try removed.withUnsafeBytes { try table.delete(index.id, $0, row: row) }
      try added.withUnsafeBytes { try table.insert(index.id, $0, row: row) }
    }
  }

  private func checkUnique(
    _ index: CollectionIndex, _ field: FieldValue, value: ArraySlice<UInt8>, isExact: Bool,
    key: UnsafeRawBufferPointer, row: Int64?, in collection: CollectionState
  ) throws {
    guard try isUnique(field, index, key: key, in: collection) else { return }
    guard checksUniqueAtOnce else {
      let others = try value.withUnsafeBytes {
        try ValueTable(connection: connection).rows(index.id, $0, limit: 2)
      }
      if others.contains(where: { $0 != row }) {
        contested.append(
          ContestedValue(
            index: index, collection: collection.id, value: Array(value), isExact: isExact, key: Array(key)))
      }
      return
    }
    for other in try rows(with: field, value, isExact, index: index)
    where other != row && !released.contains(other) {
      throw try uniqueViolation(index, by: other, key, in: collection).error
    }
  }

  /// Returns whether a value counts for a unique index.
  ///
  /// - Throws: `.constraint` for one that it does not accept
  private func isUnique(
    _ field: FieldValue, _ index: CollectionIndex, key: UnsafeRawBufferPointer,
    in collection: CollectionState
  ) throws -> Bool {
    switch field {
    case .missing, .null: return false
    case .array, .object:
      throw collection.problem(
        key, index.pointer, reason: "a unique index accepts only numbers, strings and Booleans")
    default: return true
    }
  }

  /// Returns the rows of the records that have a value of a unique index: at most one, except before the end of a
  /// transaction.
  func rows(
    with field: FieldValue, _ value: ArraySlice<UInt8>, _ isExact: Bool, index: CollectionIndex
  ) throws -> [Int64] {
    let rows = try value.withUnsafeBytes { try ValueTable(connection: connection).rows(index.id, $0) }
    if isExact { return rows }
    var whole: [UInt8] = []
    OrderKey.append(field, descending: false, to: &whole)
    let table = RecordTable(connection: connection)
    return try rows.filter { try table.wholeKey($0, index) == whole }
  }

  /// The violation of a unique index by a value that another record has.
  private func uniqueViolation(
    _ index: CollectionIndex, by row: Int64, _ key: UnsafeRawBufferPointer,
    in collection: CollectionState
  ) throws -> (owner: String, error: SatchelError) {
    let owner = String(decoding: try RecordTable(connection: connection).key(row) ?? [], as: UTF8.self)
    return (owner, Self.uniqueViolation(index, by: owner, key, in: collection))
  }

  static func uniqueViolation(
    _ index: CollectionIndex, by owner: String, _ key: UnsafeRawBufferPointer,
    in collection: CollectionState
  ) -> SatchelError {
    let name = "\(collection.name)/\(owner)"
    return collection.problem(
      key, index.pointer, reason: "the value must be unique, and \(name) has the same",
      underlying: BlockingRecord(name: name))
  }

  /// A value that a document has at a unique index.
  struct UniqueValue {
    var index: CollectionIndex
    /// Its key in the index; nil where the key does not identify the value.
    var key: [UInt8]?
    /// Whether the record has it already.
    var isOwn = false
    /// The ids of other records that have it, and the error for the document.
    var owners: [(id: String, error: SatchelError)] = []
  }

  /// Checks a document, except for the owners of its unique values, and the existence of the records that it
  /// refers to.
  ///
  /// - Throws: `.constraint`
  func uniqueValues(
    of document: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, in collection: CollectionState
  ) throws -> [UniqueValue] {
    try collection.rules.schema?.check(document, collection.location(key))
    for relation in try collection.rules.relations {
      _ = try Self.targets(of: document, relation, key, in: collection)
    }
    let row = try find(key, in: collection).row
    var values: [UniqueValue] = []
    for index in try collection.rules.indexes where index.isUnique {
      let record = IndexedRecord(key: key, created: 0, modified: 0, document: document)
      let field = record.field(index.path)
      guard try isUnique(field, index, key: key, in: collection) else { continue }
      var bytes: [UInt8] = []
      let isExact = ValueKey.append(field, to: &bytes)
      var value = UniqueValue(index: index, key: isExact ? bytes : nil)
      for other in try rows(with: field, bytes[...], isExact, index: index) {
        if other == row {
          value.isOwn = true
        } else {
          let (owner, error) = try uniqueViolation(index, by: other, key, in: collection)
          value.owners.append((owner, error))
        }
      }
      values.append(value)
    }
    return values
  }
}
