import SatchelCore
import SatchelStorage

/// The changes of a record's references.
struct ReferenceChanges {
  var removed: [(relation: CollectionRelation, target: [UInt8])] = []
  var added: [(relation: CollectionRelation, target: [UInt8])] = []
}

extension RecordWork {
  /// Determines the changes. Whether the targets exist may be known only at the end of the transaction.
  ///
  /// - Throws: `.constraint` for a value that is not a reference
  func referenceChanges(
    _ old: [UInt8]?, _ new: UnsafeRawBufferPointer?, key: UnsafeRawBufferPointer,
    in collection: CollectionState
  ) throws -> ReferenceChanges {
    var changes = ReferenceChanges()
    for relation in try collection.rules.relations {
      // Documents stored before the relation was declared were checked when it was.
      let before = try old?.withUnsafeBytes { try Self.targets(of: $0, relation, key, in: collection) } ?? []
      let after = try new.map { try Self.targets(of: $0, relation, key, in: collection) } ?? []
      guard before != after else { continue }
      let (left, right) = (Set(before), Set(after))
      changes.removed += left.subtracting(right).map { (relation, $0) }
      changes.added += after.filter { !left.contains($0) }.map { (relation, $0) }
    }
    return changes
  }

  /// Returns the ids that a document refers to by a relation.
  static func targets(
    of body: UnsafeRawBufferPointer, _ relation: CollectionRelation, _ key: UnsafeRawBufferPointer,
    in collection: CollectionState
  ) throws -> [[UInt8]] {
    let document = DocumentReader(body)
    let field = document.field(relation.path)
    func problem(_ pointer: String, _ reason: String) -> SatchelError {
      collection.problem(key, relation.path.pointer + pointer, reason: reason)
    }
    func id(_ field: FieldValue, _ pointer: String) throws -> [UInt8] {
      guard let id = field.withText({ Array($0) }) else {
        throw problem(pointer, "must be the id of a record, a string")
      }
      guard (1...RecordID.maxLength).contains(id.count) else {
        throw problem(pointer, "an id has 1 to \(RecordID.maxLength) bytes, not \(id.count)")
      }
      return id
    }
    switch field {
    case .missing, .null: return []
    case .array(let location) where relation.isMany:
      var targets: [[UInt8]] = []
      try document.elements(of: location) { try targets.append(id(document.field($0), "/\(targets.count)")) }
      return targets
    default:
      if relation.isMany { throw problem("", "must be an array of ids") }
      return [try id(field, "")]
    }
  }

  func apply(_ changes: ReferenceChanges, _ row: Int64, in collection: CollectionState) throws {
    let table = ReferenceTable(connection: connection)
    for (relation, target) in changes.removed { try table.delete(relation, target, source: row) }
    for (relation, target) in changes.added {
      try table.insert(relation, target, source: row)
      if try !exists(target, in: relation.target) {
        unresolved.append(Unresolved(relation: relation, source: row, target: target))
      }
    }
  }

  private func exists(_ target: [UInt8], in collection: Int64) throws -> Bool {
    let collection = try self.collection(collection)
    guard let row = try target.withUnsafeBytes({ try find($0, in: collection).row }) else { return false }
    return try !isExpired(row, in: collection)
  }

  /// Checks that targets that were missing when a reference was written exist now.
  func checkUnresolved() throws {
    let table = ReferenceTable(connection: connection)
    for reference in unresolved where try isMissing(reference, table) {
      throw try missing(reference).error
    }
    unresolved = []
  }

  private func isMissing(_ reference: Unresolved, _ table: ReferenceTable) throws -> Bool {
    try table.has(reference.relation, reference.target, source: reference.source)
      && !exists(reference.target, in: reference.relation.target)
  }

  /// Returns the record with a reference to a missing one, and the error.
  private func missing(_ reference: Unresolved) throws -> (key: [UInt8], error: SatchelError) {
    let source = try collection(reference.relation.source)
    let key = try RecordTable(connection: connection).key(reference.source) ?? []
    let name =
      try collection(reference.relation.target).name + "/" + String(decoding: reference.target, as: UTF8.self)
    let error = key.withUnsafeBytes {
      source.problem($0, reference.relation.path.pointer, reason: "there is no \(name)").at(
        .blocked(by: name))
    }
    return (key, error)
  }

  /// Returns the records of a collection that refer to missing records, or to such records that are new.
  ///
  /// - Parameters:
  ///   - start: the number of references that were unresolved before the records were written
  ///   - created: the ids of the records that did not exist before
  func unresolvedRecords(
    from start: Int, _ created: Set<[UInt8]>, in collection: CollectionState
  ) throws -> [[UInt8]: SatchelError] {
    let table = ReferenceTable(connection: connection)
    var found: [[UInt8]: SatchelError] = [:]
    var pending: [[UInt8]] = []
    func add(_ reference: Unresolved) throws {
      let (key, error) = try missing(reference)
      if found.updateValue(found[key] ?? error, forKey: key) == nil { pending.append(key) }
    }
    for reference in unresolved.dropFirst(start) where try isMissing(reference, table) { try add(reference) }
    while let key = pending.popLast() {
      guard created.contains(key) else { continue }
      for relation in try collection.rules.relations where relation.target == collection.id {
        for source in try table.sources(of: key, by: relation) {
          try add(Unresolved(relation: relation, source: source, target: key))
        }
      }
    }
    return found
  }
}

/// A unique value that another record had when it was written.
struct ContestedValue {
  var index: CollectionIndex
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
  func uniqueViolations(from start: Int, in collection: CollectionState) throws -> [[UInt8]: SatchelError] {
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
    var rows = try first.value.withUnsafeBytes {
      try ValueTable(connection: connection).rows(first.index.id, $0)
    }
    guard rows.count > 1 else { return [] }
    let collection = try collection(first.collection)
    rows = try rows.filter { try !isExpired($0, in: collection) }
    guard try collection.rules.indexes.contains(where: { $0.id == first.index.id && $0.isUnique }) else {
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
      holders[try isExact ? [] : table.wholeKey(row, first.index)] = row
    }
    var found: [(value: ContestedValue, error: SatchelError)] = []
    for (value, row) in written {
      let whole = try isExact ? [] : table.wholeKey(row, first.index)
      guard let holder = holders[whole] else {
        holders[whole] = row
        continue
      }
      let owner = try RecordTable(connection: connection).key(holder) ?? []
      let error = value.key.withUnsafeBytes {
        Self.uniqueViolation(value.index, by: String(decoding: owner, as: UTF8.self), $0, in: collection)
      }
      found.append((value, error))
    }
    return found
  }
}
