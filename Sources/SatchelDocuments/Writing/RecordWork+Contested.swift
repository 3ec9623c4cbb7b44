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
    if let violation = try violations(of: contested[...]).first { throw violation.error }
    contested = []
  }

  /// Returns the records of a collection that were written with a unique value that another record still has, with the
  /// errors.
  ///
  /// - Parameter start: the number of values that were contested before the records were written
  func uniqueViolations(from start: Int, in collection: WorkingCollection) throws -> [[UInt8]: SatchelError] {
    let violations = try violations(of: contested.dropFirst(start))
    return Dictionary(
      violations.filter { $0.value.collection == collection.id }.map { ($0.value.key, $0.error) },
      uniquingKeysWith: { first, _ in first })
  }

  private struct Place: Hashable {
    var index: Int64
    var value: [UInt8]
  }

  /// Values whose records have got others, were deleted, or were rolled back are none.
  private func violations(
    of contested: ArraySlice<ContestedValue>
  ) throws -> [(value: ContestedValue, error: SatchelError)] {
    guard !contested.isEmpty else { return [] }
    var order: [Place] = []
    var groups: [Place: [ContestedValue]] = [:]
    for value in contested {
      let place = Place(index: value.index.id, value: value.value)
      if groups[place] == nil { order.append(place) }
      groups[place, default: []].append(value)
    }
    return try order.flatMap { try violations(of: groups[$0] ?? []) }
  }

  /// - Parameter group: of one value of an index
  private func violations(
    of group: [ContestedValue]
  ) throws -> [(value: ContestedValue, error: SatchelError)] {
    guard let first = group.first else { return [] }
    let rows = try first.value.withUnsafeBytes {
      try ValueTable(connection: connection).rows(first.index.id, $0)
    }
    guard rows.count > 1 else { return [] }
    let collection = try collection(first.collection)
    guard collection.shape.indexes.contains(where: { $0.id == first.index.id && $0.isUnique }) else {
      return []
    }
    let (known, isExact) = (Set(rows), first.isExact)
    var written: [(value: ContestedValue, row: Int64)] = []
    var seen: Set<Int64> = []
    for value in group {
      guard let row = try value.key.withUnsafeBytes({ try find($0, in: collection).row }),
        known.contains(row),
        seen.insert(row).inserted
      else { continue }
      written.append((value, row))
    }
    // A record that was not written keeps the value, otherwise the first that was.
    let table = RecordTable(connection: connection)
    var holders: [[UInt8]: Int64] = [:]
    for row in rows where !seen.contains(row) {
      holders[try isExact ? [] : table.wholeKey(row, first.index.path)] = row
    }
    var found: [(value: ContestedValue, error: SatchelError)] = []
    for (value, row) in written {
      let whole = try isExact ? [] : table.wholeKey(row, first.index.path)
      guard let holder = holders[whole] else {
        holders[whole] = row
        continue
      }
      let owner = try RecordTable(connection: connection).key(holder) ?? []
      let error = value.key.withUnsafeBytes {
        Self.uniqueViolation(value.index, by: String(decoding: owner, as: UTF8.self), $0, collection)
      }
      found.append((value, error))
    }
    return found
  }
}
