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

  /// Adds the changes from some keys of an index to others, both in order.
  mutating func add(index: Int, _ old: [Range<Int>], _ new: [Range<Int>], _ buffer: [UInt8]) {
    var (left, right) = (0, 0)
    while left < old.count || right < new.count {
      let before = left < old.count ? old[left] : 0..<0
      let after = right < new.count ? new[right] : 0..<0
      if before.isEmpty || after.isEmpty {
        changes.append(Change(index: index, old: before, new: after))
        (left, right) = (left + (before.isEmpty ? 0 : 1), right + (after.isEmpty ? 0 : 1))
      } else if buffer[before].elementsEqual(buffer[after]) {
        (left, right) = (left + 1, right + 1)
      } else if buffer[before].lexicographicallyPrecedes(buffer[after]) {
        changes.append(Change(index: index, old: before, new: 0..<0))
        left += 1
      } else {
        changes.append(Change(index: index, old: 0..<0, new: after))
        right += 1
      }
    }
  }
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
    case .computed(let path): path.value(in: DocumentReader(document))
    case .elements: .missing
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
      var (before, after): ([Range<Int>], [Range<Int>]) = ([], [])
      if let old {
        try old.body.withUnsafeBytes { body in
          let record = IndexedRecord(key: key, created: old.created, modified: old.modified, document: body)
          try index.eachKey(of: record, into: &keyBuffer) { range, _ in before.append(range) }
        }
      }
      if let new {
        try index.eachKey(of: new, into: &keyBuffer) { range, _ in after.append(range) }
      }
      if index.isUnique, let new { try checkUnique(index, new, row: row, in: collection) }
      entries.add(index: position, before, after, keyBuffer)
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

  /// The values of a record in a unique index.
  struct UniqueKey {
    var bytes: [UInt8]
    /// Whether the key identifies the values.
    var isExact: Bool
    /// The key of the whole values; empty where `bytes` suffices.
    var whole: [UInt8]
  }

  /// Returns the values of a record that must be unique; nil for none.
  ///
  /// - Throws: `.constraint` for one that a unique index does not accept
  func uniqueKey(
    _ index: CollectionIndex, _ record: IndexedRecord, in collection: CollectionState
  ) throws -> UniqueKey? {
    var (bytes, found): ([UInt8], UniqueKey?) = ([], nil)
    try index.eachKey(of: record, into: &bytes) { range, key in
      if key.hasContainer {
        throw index.unacceptable(record.key, in: collection)
      }
      if key.hasNull { return }
      found = UniqueKey(
        bytes: [], isExact: key.isExact, whole: key.isExact ? [] : index.wholeKey(record))
    }
    found?.bytes = bytes
    return found
  }

  private func checkUnique(
    _ index: CollectionIndex, _ record: IndexedRecord, row: Int64?, in collection: CollectionState
  ) throws {
    guard let value = try uniqueKey(index, record, in: collection) else { return }
    guard checksUniqueAtOnce else {
      let others = try value.bytes.withUnsafeBytes {
        try ValueTable(connection: connection).rows(index.id, $0, limit: 2)
      }
      if others.contains(where: { $0 != row }) {
        contested.append(
          ContestedValue(
            index: index, collection: collection.id, value: value.bytes, isExact: value.isExact,
            key: Array(record.key)))
      }
      return
    }
    for other in try rows(with: value, index: index)
    where try other != row && !released.contains(other) && !isExpired(other, in: collection) {
      throw try uniqueViolation(index, by: other, record.key, in: collection).error
    }
  }

  /// Returns the rows of the records that have a value of a unique index: at most one, except before the end of a
  /// transaction.
  func rows(with value: UniqueKey, index: CollectionIndex) throws -> [Int64] {
    let rows = try value.bytes.withUnsafeBytes { try ValueTable(connection: connection).rows(index.id, $0) }
    if value.isExact { return rows }
    let table = RecordTable(connection: connection)
    return try rows.filter { try table.wholeKey($0, index) == value.whole }
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
      guard let found = try uniqueKey(index, record, in: collection) else { continue }
      var value = UniqueValue(index: index, key: found.isExact ? found.bytes : nil)
      for other in try rows(with: found, index: index) {
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
