import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Changes members of a record's document by a JSON Merge Patch (RFC 7396), in one transaction.
  ///
  /// - Parameters:
  ///   - patch: an object; null removes a member
  ///   - expected: the revision that the record must have; nil for any
  /// - Throws: `SatchelError` `.notFound` when the record does not exist, `.invalid` for a patch that is not an
  ///   object; otherwise as `put(_:_:ifRevision:)`
  @discardableResult
  public func update(_ id: String, _ patch: JSONValue, ifRevision expected: Int64? = nil) throws
    -> RecordReceipt
  {
    var id = id
    return try id.withUTF8 { try update(UnsafeRawBufferPointer($0), patch, ifRevision: expected) }
  }

  package func update(_ key: UnsafeRawBufferPointer, _ patch: JSONValue, ifRevision expected: Int64?) throws
    -> RecordReceipt
  {
    try RecordID.check(key, in: name)
    return try write(.update(key, patch: patch), ifRevision: expected)?.receipt ?? .spooled
  }

  /// Writes a record whose document depends on the one that is stored, in one transaction.
  ///
  /// - Parameter document: makes it of the stored document, nil for none. When the store cannot be written, it is made of
  ///   what can be read of it.
  /// - Throws: as `put(_:_:ifRevision:)`
  package func put(
    _ id: String, ifRevision expected: Int64?, making document: (_ stored: [UInt8]?) throws -> [UInt8]
  ) throws -> RecordReceipt {
    var key = id
    return try key.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      try RecordID.check(key, in: name)
      let warnings = try document(nil).withUnsafeBytes { try checkDocument($0, key) }
      return try withoutActuallyEscaping(document) {
        var receipt = try write(.make(key, $0), ifRevision: expected)?.receipt ?? .spooled
        receipt.warnings = warnings
        return receipt
      }
    }
  }

  /// Deletes records, and applies the `onDelete` actions of the relations that refer to them, in one transaction.
  ///
  /// - Parameter ids: of the records, which may refer to each other; missing ones are ignored
  /// - Returns: the number of records that existed; 0 when the deletion was spooled
  /// - Throws: `SatchelError` `.constraint` when another record restricts a deletion; nothing is changed then
  @discardableResult
  public func deleteMany(_ ids: some Sequence<String>) throws -> Int {
    let keys = ids.map { Array($0.utf8) }
    for key in keys { try key.withUnsafeBytes { try RecordID.check($0, in: name) } }
    return try write(.deleteMany(keys))?.count ?? 0
  }

  /// Returns the records with these ids, by id; missing ones are left out.
  public func get(_ ids: some Sequence<String>) throws -> [String: Record] {
    let filter = RecordFilter.field("@id", .oneOf(ids.map { .string($0) }))
    return try Dictionary(
      list(RecordQuery(filter)).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension RecordWork {
  func update(
    _ key: UnsafeRawBufferPointer, _ patch: JSONValue, in collection: CollectionState,
    ifRevision expected: Int64?
  ) throws -> RecordReceipt {
    guard case .object = patch else {
      throw collection.problem(
        key, nil, reason: "a patch must be an object, not \(patch.kind)", code: .invalid)
    }
    guard let row = try findUnexpired(key, in: collection).row,
      let body = try document(row, key, in: collection)
    else { throw collection.problem(key, nil, reason: "there is no such record to update", code: .notFound) }
    let id = collection.location(key)
    let document: JSONValue
    do {
      document = try JSONValue(parsing: body)
    } catch {
      throw SatchelError(.damaged, "\(id): its document is damaged: \(error)", underlying: error)
    }
    let updated = try naming(id) { try document.mergePatched(by: patch).serialized() }
    return try updated.withUnsafeBytes {
      var receipt = try put(key, $0, in: collection, ifRevision: expected)
      receipt.warnings = LargeStrings.warnings(in: $0)
      return receipt
    }
  }

  func deleteMany(_ keys: [[UInt8]], from collection: CollectionState) throws -> Int {
    var records: [Deletion.Item] = []
    var rows: Set<Int64> = []
    for key in keys {
      guard let row = try key.withUnsafeBytes({ try findUnexpired($0, in: collection).row }),
        rows.insert(row).inserted
      else { continue }
      records.append(Deletion.Item(row: row, key: key, collection: collection))
    }
    var deletion = Deletion(self)
    try deletion.run(records) { _, _, _ in }
    return records.count
  }
}
