import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Writes a value that is encoded as a JSON object; see `put(_:_:ifRevision:)`.
  @discardableResult
  public func put<Document: Encodable>(
    _ id: String, _ document: Document, ifRevision expected: Int64? = nil
  ) throws -> RecordReceipt {
    let json: JSONValue
    do {
      json = try JSONValue(encoding: document)
    } catch let error as EncodingError {
      throw SatchelError(.invalid, "\(name)/\(id): \(JSONError(error))", underlying: error)
    }
    return try put(id, json, ifRevision: expected)
  }

  /// Writes the document of a record that was read before, if nobody has changed it since.
  ///
  /// - Throws: as `put(_:_:ifRevision:)`; `.conflict` when the record has another revision, or was deleted
  @discardableResult
  public func put<Document: Encodable>(_ record: TypedRecord<Document>) throws -> RecordReceipt {
    try put(record.id, record.document, ifRevision: record.revision)
  }

  /// Returns a record with its document decoded as a value; nil when there is no such record.
  ///
  /// - Throws: `.invalid` when the document cannot be decoded as that type
  public func get<Document: Decodable>(_ id: String, as type: Document.Type) throws -> TypedRecord<Document>?
  {
    try get(id).map { try typed($0, as: type) }
  }

  /// Returns the records that match a query, with their documents decoded as values.
  public func list<Document: Decodable>(
    _ query: RecordQuery = RecordQuery(), as type: Document.Type
  ) throws -> [TypedRecord<Document>] {
    var query = query
    query.wantsDocuments = true
    return try list(query).map { try typed($0, as: type) }
  }

  func typed<Document: Decodable>(
    _ record: Record, as type: Document.Type
  ) throws -> TypedRecord<Document> {
    do {
      return TypedRecord(
        id: record.id, revision: record.revision, created: record.created, modified: record.modified,
        syncStatus: record.syncStatus, document: try record.document.decode(as: type))
    } catch let error as DecodingError {
      throw SatchelError(.invalid, "\(name)/\(record.id): \(JSONError(error))", underlying: error)
    }
  }
}
