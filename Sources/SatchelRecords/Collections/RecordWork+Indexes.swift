import SatchelStorage

/// How the entries of a record in its collection's indexes change.
struct IndexEntries {
  struct Change {
    /// Position of the index in the shape.
    var index: Int
    /// Of the keys in the work's room; empty for no entry.
    var old: Range<Int>
    var new: Range<Int>
  }

  var changes: [Change] = []
}

extension RecordWork {
  /// Works out what changes, and whether that is allowed. The keys stay in `keyRoom` until the next record.
  ///
  /// - Parameters:
  ///   - old: the document as it was; nil for none
  ///   - new: as it will be; nil when it is deleted
  func indexEntries(
    _ old: [UInt8]?, _ new: UnsafeRawBufferPointer?, _ key: UnsafeRawBufferPointer, _ row: Int64?,
    _ collection: WorkingCollection
  ) throws -> IndexEntries {
    var entries = IndexEntries()
    guard !collection.shape.indexes.isEmpty else { return entries }
    keyRoom.removeAll(keepingCapacity: true)
    for (position, index) in collection.shape.indexes.enumerated() {
      let before = keyRoom.count
      old?.withUnsafeBytes { bytes -> Void in
        ValueKey.append(DocumentReader(bytes).field(index.path), to: &keyRoom)
      }
      let middle = keyRoom.count
      if let new {
        let reader = DocumentReader(new)
        let field = reader.field(index.path)
        let isExact = ValueKey.append(field, to: &keyRoom)
        if index.isUnique {
          try checkUnique(index, field, keyRoom[middle...], isExact, key, row, collection)
        }
      }
      let change = IndexEntries.Change(index: position, old: before..<middle, new: middle..<keyRoom.count)
      if !keyRoom[change.old].elementsEqual(keyRoom[change.new]) { entries.changes.append(change) }
    }
    return entries
  }

  func apply(_ entries: IndexEntries, _ row: Int64, _ collection: WorkingCollection) throws {
    let table = ValueTable(connection: connection)
    for change in entries.changes {
      let index = collection.shape.indexes[change.index].id
      try keyRoom.withUnsafeBytes { room in
        if !change.old.isEmpty {
          try table.delete(index, UnsafeRawBufferPointer(rebasing: room[change.old]), row)
        }
        if !change.new.isEmpty {
          try table.insert(index, UnsafeRawBufferPointer(rebasing: room[change.new]), row)
        }
      }
      collection.numbers.isDirty = true
      collection.numbers.entries[change.index] += (change.new.isEmpty ? 0 : 1) - (change.old.isEmpty ? 0 : 1)
    }
  }

  private func checkUnique(
    _ index: CollectionShape.Index, _ field: FieldValue, _ value: ArraySlice<UInt8>, _ isExact: Bool,
    _ key: UnsafeRawBufferPointer, _ row: Int64?, _ collection: WorkingCollection
  ) throws {
    switch field {
    case .missing, .null: return
    case .array, .object:
      throw collection.problem(
        key, index.path.pointer, "a unique index is of numbers, texts and truth values only")
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
