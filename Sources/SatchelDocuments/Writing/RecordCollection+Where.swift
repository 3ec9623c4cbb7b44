import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Changes members of the documents that match a filter by a JSON Merge Patch, in one transaction. The write is never
  /// spooled.
  ///
  /// - Parameters:
  ///   - filter: nil for all records
  ///   - patch: an object; null removes a member
  /// - Returns: the number of records that match
  /// - Throws: as `update(_:_:ifRevision:)`; nothing is changed then
  @discardableResult
  public func update(where filter: RecordFilter?, _ patch: JSONValue) throws -> Int {
    try changeMatching(filter) { work, keys, collection in
      for key in keys {
        _ = try key.withUnsafeBytes { try work.update($0, patch, in: collection, ifRevision: nil) }
      }
    }
  }

  /// Deletes the records that match a filter, and applies the `onDelete` actions of the relations that refer to them, in
  /// one transaction. The deletion is never spooled.
  ///
  /// - Parameter filter: nil for all records, which `clear` deletes faster
  /// - Returns: the number of records that match
  /// - Throws: as `deleteMany(_:)`; nothing is changed then
  @discardableResult
  public func delete(where filter: RecordFilter?) throws -> Int {
    try changeMatching(filter) { work, keys, collection in _ = try work.deleteMany(keys, from: collection) }
  }

  private func changeMatching(
    _ filter: RecordFilter?, _ change: (RecordWork, [[UInt8]], CollectionState) throws -> Void
  ) throws -> Int {
    let query = try CompiledQuery(RecordQuery(filter))
    try store.writeDeferred()
    return try transaction { work, collection in
      try work.flush()
      var keys: [[UInt8]] = []
      try QueryRun(self, work.connection, row: collection).run(query) { candidate, _ in
        keys.append(Array(candidate.key))
      }
      try change(work, keys, collection)
      return keys.count
    }
  }

  /// Writes the record that has the same value at a unique path, or a new one, in one transaction. The write is never
  /// spooled.
  ///
  /// - Parameters:
  ///   - path: of a unique index
  ///   - document: a JSON object in UTF-8 with a value at the path; replaces the stored document
  ///   - id: of a new record; nil for a random UUID
  /// - Returns: the id of the record, and the receipt
  /// - Throws: `SatchelError` `.invalid` for a path without a unique index, and for a document without a value there;
  ///   `.conflict` when there is another record with the id; otherwise as `put(_:_:ifRevision:)`
  @discardableResult
  public func upsert(
    _ path: String, _ document: UnsafeRawBufferPointer, newID id: String? = nil
  ) throws -> (id: String, receipt: RecordReceipt) {
    let field = try FieldPath(path)
    var id = id ?? Self.randomID()
    let warnings = try id.withUTF8 { key in
      try RecordID.check(UnsafeRawBufferPointer(key), in: name)
      return try checkDocument(document, UnsafeRawBufferPointer(key))
    }
    try store.writeDeferred()
    return try transaction { work, collection in
      guard
        let index = try collection.rules.indexes.first(where: {
          $0.path == field && $0.isUnique && $0.definition.isPlain
        })
      else {
        throw SatchelError(
          .invalid, "\(name): \"\(path)\" has no unique index, by which a record could be found")
      }
      var key = Array(id.utf8)
      var isNew = true
      if let known = try work.row(with: document, index, in: collection),
        let owner = try RecordTable(connection: work.connection).key(known)
      {
        (key, isNew) = (owner, false)
      }
      return try key.withUnsafeBytes { key in
        var receipt = try work.put(
          key, document, keeping: known, in: collection, ifRevision: isNew ? 0 : nil)
        receipt.warnings = warnings
        return (String(decoding: key, as: UTF8.self), receipt)
      }
    }
  }

  /// Returns a random UUID (version 4).
  private static func randomID() -> String {
    var bytes: [UInt8] = []
    for _ in 0..<2 { withUnsafeBytes(of: UInt64.random(in: 0 ... .max)) { bytes.append(contentsOf: $0) } }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for (position, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(position) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension RecordWork {
  /// Returns the row of the record that has the same value in a unique index as a document.
  ///
  /// - Throws: `.invalid` for a document without a value there
  fileprivate func row(
    with document: UnsafeRawBufferPointer, _ index: CollectionIndex, in collection: CollectionState
  ) throws -> Int64? {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    let record = IndexedRecord(key: nothing, created: 0, modified: 0, document: document)
    guard let value = try? uniqueKey(index, record, in: collection) else {
      throw SatchelError(
        .invalid,
        "\(collection.name): \(index.pointer): the document needs a number, a string or a Boolean here")
    }
    return try rows(with: value, index: index).first { try !isExpired($0, in: collection) }
  }
}
