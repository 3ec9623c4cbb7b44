import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Writes a value that is encoded as a JSON object; see `put(_:_:ifRevision:)`.
  @discardableResult
  public func put<Value: Encodable>(
    _ id: String, _ value: Value, ifRevision expected: Int64? = nil
  ) throws -> RecordReceipt {
    let document: JSONValue
    do {
      document = try JSONValue(encoding: value)
    } catch let error as EncodingError {
      throw SatchelError(.invalid, "\(name)/\(id): \(JSONError(error))", underlying: error)
    }
    return try put(id, document, ifRevision: expected)
  }

  /// Returns a record's document decoded as a value; nil when there is no such record.
  ///
  /// - Throws: `.invalid` when the document cannot be decoded as that type
  public func get<Value: Decodable>(_ id: String, as type: Value.Type) throws -> Value? {
    try get(id).map { try decoded($0, as: type) }
  }

  /// Returns the documents that match a query, decoded as values.
  public func list<Value: Decodable>(
    _ query: RecordQuery = RecordQuery(), as type: Value.Type
  ) throws -> [Value] {
    try list(query).map { try decoded($0, as: type) }
  }

  private func decoded<Value: Decodable>(_ record: Record, as type: Value.Type) throws -> Value {
    do {
      return try record.document.decode(as: type)
    } catch let error as DecodingError {
      throw SatchelError(.invalid, "\(name)/\(record.id): \(JSONError(error))", underlying: error)
    }
  }
}
