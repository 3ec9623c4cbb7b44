import SatchelCore
import SatchelStorage

/// A unique value that another record had when it was written.
struct ContestedValue {
  var index: CollectionShape.Index
  var collection: Int64
  /// The value's key in the index.
  var value: [UInt8]
  /// Whether the key identifies the value.
  var isExact: Bool
  /// The id of the record that was written.
  var key: [UInt8]
}

extension RecordWork {
  /// Checks at the end of a transaction that no unique value is left with two records.
  ///
  /// - Throws: `.constraint`; the message names both records
  func checkContested() throws {
    for value in contested {
      if let error = try violation(value) { throw error }
    }
    contested = []
  }

  /// Returns the records that were written with a unique value that another record still has, with the errors.
  ///
  /// - Parameter start: the number of values that were contested before the records were written
  func uniqueViolations(from start: Int, in collection: WorkingCollection) throws -> [[UInt8]: SatchelError] {
    var found: [[UInt8]: SatchelError] = [:]
    for value in contested.dropFirst(start) where value.collection == collection.id && found[value.key] == nil
    {
      found[value.key] = try violation(value)
    }
    return found
  }

  /// Returns nil where one of the records has got another value, was deleted, or was rolled back.
  private func violation(_ contested: ContestedValue) throws -> SatchelError? {
    let index = contested.index
    let rows = try contested.value.withUnsafeBytes {
      try ValueTable(connection: connection).rows(index.id, $0, limit: contested.isExact ? 2 : -1)
    }
    guard rows.count > 1 else { return nil }
    let collection = try collection(contested.collection)
    guard collection.shape.indexes.contains(where: { $0.id == index.id && $0.isUnique }) else { return nil }
    return try contested.key.withUnsafeBytes { key in
      guard let row = try find(key, in: collection).row else { return nil }
      let other: Int64?
      if contested.isExact {
        // Where this record is not among the first two, its value is theirs all the same, if it still has it.
        other = try has(contested.value, row, index) ? rows.first { $0 != row } : nil
      } else {
        other =
          try rows.contains(row) ? rows.first { try $0 != row && haveSameText($0, row, index.path) } : nil
      }
      guard let other else { return nil }
      let owner = try RecordTable(connection: connection).key(other) ?? []
      return Self.uniqueViolation(index, by: String(decoding: owner, as: UTF8.self), key, collection)
    }
  }

  private func has(_ value: [UInt8], _ row: Int64, _ index: CollectionShape.Index) throws -> Bool {
    try value.withUnsafeBytes {
      try connection.number(
        "SELECT EXISTS(SELECT 1 FROM record_value WHERE index_id = ? AND value = ? AND record = ?)",
        .integer(index.id), .blob($0), .integer(row))
    } == 1
  }

  private func haveSameText(_ one: Int64, _ other: Int64, _ path: DocumentPath) throws -> Bool {
    let table = RecordTable(connection: connection)
    let (one, other) = (try table.body(one) ?? [], try table.body(other) ?? [])
    return one.withUnsafeBytes { one in
      other.withUnsafeBytes { other in
        DocumentReader(one).field(path).withText { one in
          DocumentReader(other).field(path).withText { one.order(against: $0) == 0 } ?? false
        } ?? false
      }
    }
  }
}
