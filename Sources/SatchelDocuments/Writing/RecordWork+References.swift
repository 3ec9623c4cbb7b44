import SatchelCore
import SatchelStorage

/// The changes of a record's references.
struct ReferenceChanges {
  var removed: [(relation: CollectionShape.Relation, target: [UInt8])] = []
  var added: [(relation: CollectionShape.Relation, target: [UInt8])] = []
}

extension RecordWork {
  /// Determines the changes. Whether the targets exist may be known only at the end of the transaction.
  ///
  /// - Throws: `.constraint` for a value that is not a reference
  func referenceChanges(
    _ old: [UInt8]?, _ new: UnsafeRawBufferPointer?, _ key: UnsafeRawBufferPointer,
    _ collection: WorkingCollection
  ) throws -> ReferenceChanges {
    var changes = ReferenceChanges()
    for relation in collection.shape.relations {
      // Documents stored before the relation was declared were checked when it was.
      let before = try old?.withUnsafeBytes { try Self.targets(of: $0, relation, key, collection) } ?? []
      let after = try new.map { try Self.targets(of: $0, relation, key, collection) } ?? []
      guard before != after else { continue }
      let (left, right) = (Set(before), Set(after))
      changes.removed += left.subtracting(right).map { (relation, $0) }
      changes.added += after.filter { !left.contains($0) }.map { (relation, $0) }
    }
    return changes
  }

  /// Returns the ids that a document refers to by a relation.
  static func targets(
    of body: UnsafeRawBufferPointer, _ relation: CollectionShape.Relation, _ key: UnsafeRawBufferPointer,
    _ collection: WorkingCollection
  ) throws -> [[UInt8]] {
    let document = DocumentReader(body)
    let field = document.field(relation.path)
    func problem(_ pointer: String, _ reason: String) -> SatchelError {
      collection.problem(key, relation.path.pointer + pointer, reason)
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

  func apply(_ changes: ReferenceChanges, _ row: Int64, _ collection: WorkingCollection) throws {
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
    return try target.withUnsafeBytes { try find($0, in: collection).row } != nil
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
      source.problem($0, reference.relation.path.pointer, "there is no \(name)").at(.blocked(by: name))
    }
    return (key, error)
  }

  /// Returns the records of a collection that refer to missing records, or to such records that are new.
  ///
  /// - Parameters:
  ///   - start: the number of references that were unresolved before the records were written
  ///   - created: the ids of the records that did not exist before
  func unresolvedRecords(
    from start: Int, _ created: Set<[UInt8]>, in collection: WorkingCollection
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
      for relation in collection.shape.relations where relation.target == collection.id {
        for source in try table.sources(of: key, by: relation) {
          try add(Unresolved(relation: relation, source: source, target: key))
        }
      }
    }
    return found
  }
}
