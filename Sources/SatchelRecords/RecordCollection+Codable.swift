import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Writes a value that is encoded as a JSON object; see `put(_:_:ifRevision:)`.
  ///
  /// Members of the stored document that `Document` does not have are kept, as `put(_:)` of a record that was read
  /// keeps them: a newer version of the app may have written them. Where `Document` cannot be decoded from the stored
  /// document, all members that the encoded value does not have are kept.
  @discardableResult
  @_disfavoredOverload
  public func put<Document: Codable>(
    _ id: String, _ document: Document, ifRevision expected: Int64? = nil
  ) throws -> RecordReceipt {
    try put(id, document, ifRevision: expected, replace: false)
  }

  /// Writes a value that is encoded as a JSON object.
  ///
  /// - Parameter replace: whether the value is the whole document, and no member of the stored one is kept
  @discardableResult
  public func put<Document: Codable>(
    _ id: String, _ document: Document, ifRevision expected: Int64? = nil, replace: Bool
  ) throws -> RecordReceipt {
    let value = try encoded(document, id)
    guard !replace else { return try put(id, value, ifRevision: expected) }
    func kept(_ stored: [UInt8]?) throws -> [UInt8] {
      guard let stored else { return try naming("\(name)/\(id)") { try value.serialized() } }
      let old = try naming("\(name)/\(id)") { try JSONValue(parsing: stored) }
      let before = (try? encoded(decoded(old, id, as: Document.self), id)) ?? [:]
      return try naming("\(name)/\(id)") {
        try DocumentChange.applied(to: old, before: before, after: value).serialized()
      }
    }
    return try put(id, ifRevision: expected, making: kept)
  }

  /// Writes a dictionary as the whole document: it has every member that its type has.
  @discardableResult
  @_disfavoredOverload
  public func put<Value: Codable>(
    _ id: String, _ document: [String: Value], ifRevision expected: Int64? = nil
  ) throws -> RecordReceipt {
    try put(id, encoded(document, id), ifRevision: expected)
  }

  /// Writes a value of a type that cannot be decoded, as the whole document.
  @discardableResult
  @_disfavoredOverload
  public func put<Document: Encodable>(
    _ id: String, _ document: Document, ifRevision expected: Int64? = nil
  ) throws -> RecordReceipt {
    try put(id, encoded(document, id), ifRevision: expected)
  }

  /// Writes a value that is encoded as a JSON object later, as the whole document; see `putDeferred(_:_:)`.
  public func putDeferred<Document: Encodable>(_ id: String, _ document: Document) throws {
    try putDeferred(id, encoded(document, id))
  }

  private func encoded<Document: Encodable>(_ document: Document, _ id: String) throws -> JSONValue {
    do {
      return try JSONValue(encoding: document)
    } catch let error as EncodingError {
      throw SatchelError(.invalid, "\(name)/\(id): \(JSONError(error))", underlying: error)
    }
  }

  /// Writes the document of a record that was read before, if it has not been changed since.
  ///
  /// The app's changes are applied to the document that was read: members that `Document` does not have are
  /// kept, also those of nested objects and of the elements of arrays, and so is the representation of values
  /// that were not changed. A member that was set to nil is removed. The elements of an array are matched
  /// with equal ones first, then with those whose first encoded member has the same value; others are new.
  ///
  /// - Throws: as `put(_:_:ifRevision:)`; `.conflict` when the record has another revision, or was deleted
  @discardableResult
  public func put<Document: Codable>(_ record: TypedRecord<Document>) throws -> RecordReceipt {
    let stored = try naming("\(name)/\(record.id)") { try JSONValue(parsing: record.stored) }
    let before = try encoded(decoded(stored, record.id, as: Document.self), record.id)
    let document = DocumentChange.applied(
      to: stored, before: before, after: try encoded(record.document, record.id))
    return try put(record.id, document, ifRevision: record.revision)
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

  /// Returns a record, such as one that a search found, with its document decoded as a value.
  ///
  /// - Throws: `.invalid` when the document cannot be decoded as that type
  public func typed<Document: Decodable>(
    _ record: Record, as type: Document.Type
  ) throws -> TypedRecord<Document> {
    TypedRecord(
      id: record.id, revision: record.revision, created: record.created, modified: record.modified,
      syncStatus: record.syncStatus, document: try decoded(record.document, record.id, as: type),
      stored: record.body, included: record.included)
  }

  private func decoded<Document: Decodable>(
    _ document: JSONValue, _ id: String, as type: Document.Type
  ) throws -> Document {
    do {
      return try document.decode(as: type)
    } catch let error as DecodingError {
      throw SatchelError(.invalid, "\(name)/\(id): \(JSONError(error))", underlying: error)
    }
  }
}
