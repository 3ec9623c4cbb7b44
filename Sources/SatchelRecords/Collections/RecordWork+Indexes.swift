import SatchelCore
import SatchelStorage

/// The changes of a record's entries in the indexes of its collection.
struct IndexEntries {
  struct Change {
    /// The position of the index in the shape.
    var index: Int
    /// Ranges of the keys in `keyBuffer`; empty for no entry.
    var old: Range<Int>
    var new: Range<Int>
  }

  var changes: [Change] = []
}

extension RecordWork {
  /// Determines the changes, and checks that they are allowed. The keys stay in `keyBuffer` until the next
  /// record.
  ///
  /// - Parameters:
  ///   - old: the previous document; nil for none
  ///   - new: the new document; nil when the record is deleted
  func indexEntries(
    _ old: [UInt8]?, _ new: UnsafeRawBufferPointer?, _ key: UnsafeRawBufferPointer, _ row: Int64?,
    _ collection: WorkingCollection
  ) throws -> IndexEntries {
    var entries = IndexEntries()
    guard !collection.shape.indexes.isEmpty else { return entries }
    keyBuffer.removeAll(keepingCapacity: true)
    for (position, index) in collection.shape.indexes.enumerated() {
      let before = keyBuffer.count
      old?.withUnsafeBytes { bytes -> Void in
        ValueKey.append(DocumentReader(bytes).field(index.path), to: &keyBuffer)
      }
      let middle = keyBuffer.count
      if let new {
        let reader = DocumentReader(new)
        let field = reader.field(index.path)
        let isExact = ValueKey.append(field, to: &keyBuffer)
        if index.isUnique {
          try checkUnique(index, field, keyBuffer[middle...], isExact, key, row, collection)
        }
      }
      let change = IndexEntries.Change(index: position, old: before..<middle, new: middle..<keyBuffer.count)
      if !keyBuffer[change.old].elementsEqual(keyBuffer[change.new]) { entries.changes.append(change) }
    }
    return entries
  }

  func apply(_ entries: IndexEntries, _ row: Int64, _ collection: WorkingCollection) throws {
    let table = ValueTable(connection: connection)
    for change in entries.changes {
      let index = collection.shape.indexes[change.index].id
      try keyBuffer.withUnsafeBytes { buffer in
        if !change.old.isEmpty {
          try table.delete(index, UnsafeRawBufferPointer(rebasing: buffer[change.old]), row)
        }
        if !change.new.isEmpty {
          try table.insert(index, UnsafeRawBufferPointer(rebasing: buffer[change.new]), row)
        }
      }
      collection.numbers.isDirty = true
      collection.numbers.entries[change.index] += (change.new.isEmpty ? 0 : 1) - (change.old.isEmpty ? 0 : 1)
    }
  }

  /// The id of a record that has a value which a document must not have as well; nil when there is none.
  func owner(
    ofUniqueValuesOf document: [UInt8], except id: String, in collection: WorkingCollection
  ) throws -> String? {
    for index in collection.shape.indexes where index.isUnique {
      var value: [UInt8] = []
      document.withUnsafeBytes { document -> Void in
        ValueKey.append(DocumentReader(document).field(index.path), to: &value)
      }
      if value.isEmpty { continue }
      for row in try value.withUnsafeBytes({ try ValueTable(connection: connection).rows(index.id, $0) }) {
        guard let key = try RecordTable(connection: connection).key(row) else { continue }
        let owner = String(decoding: key, as: UTF8.self)
        if !owner.hasSameBytes(as: id) { return owner }
      }
    }
    return nil
  }

  private func checkUnique(
    _ index: CollectionShape.Index, _ field: FieldValue, _ value: ArraySlice<UInt8>, _ isExact: Bool,
    _ key: UnsafeRawBufferPointer, _ row: Int64?, _ collection: WorkingCollection
  ) throws {
    switch field {
    case .missing, .null: return
    case .array, .object:
      throw collection.problem(
        key, index.path.pointer, "a unique index accepts only numbers, strings and Booleans")
    default: break
    }
    let others = try value.withUnsafeBytes { try ValueTable(connection: connection).rows(index.id, $0) }
    for other in others where other != row {
      if try !isExact && !hasSameText(other, index.path, field) { continue }
      let owner = try RecordTable(connection: connection).key(other) ?? []
      throw collection.problem(
        key, index.path.pointer,
        "the value is unique, and \(collection.name)/\(String(decoding: owner, as: UTF8.self)) has it")
    }
  }

  private func hasSameText(_ row: Int64, _ path: DocumentPath, _ field: FieldValue) throws -> Bool {
    let body = try RecordTable(connection: connection).body(row) ?? []
    return body.withUnsafeBytes { body in
      DocumentReader(body).field(path).withText { other in
        field.withText { $0.order(against: other) == 0 } ?? false
      } ?? false
    }
  }
}
