import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Writes many records in one transaction, all or none.
  ///
  /// - Parameter documents: `{id: document, …}` or `[{"id", "document"}, …]` in UTF-8
  /// - Returns: the number of records written
  /// - Throws: as `put(_:_:ifRevision:)`
  @discardableResult
  public func putMany(_ documents: UnsafeRawBufferPointer) throws -> Int {
    let entry = { [name, version] () -> JSONValue in
      [
        "put_many": [
          "collection": .string(name), "version": .int(Int64(version)),
          "documents": .string(String(decoding: documents, as: UTF8.self)),
        ]
      ]
    }
    let tape = try naming("documents") { try JSONTape(documents) }
    let kind = tape[tape.root].kind
    guard kind == .array || kind == .object else {
      throw SatchelError(.invalid, "documents: must be an object or an array")
    }
    // Inside a batch, a savepoint makes the write atomic.
    if database.isInTransaction {
      return try store.transaction { _ in try write { try $0.putMany(tape, in: $1) } }
    }
    return try writingThroughOutbox(entry()) { try $0.putMany(tape, in: $1) } ?? 0
  }

  /// Writes many records given as JSON values, as `putMany(_:)` does; an id that occurs twice is written
  /// twice.
  @discardableResult
  public func putMany(_ documents: some Sequence<(String, JSONValue)>) throws -> Int {
    let elements = documents.map { JSONValue.object(["id": .string($0.0), "document": $0.1]) }
    let bytes = try naming(name) { try JSONValue.array(elements).serialized() }
    return try bytes.withUnsafeBytes { try putMany($0) }
  }
}

extension RecordWork {
  /// Writes the documents of a parsed JSON text.
  func putMany(_ tape: JSONTape, in collection: WorkingCollection) throws -> Int {
    let isList = tape[tape.root].kind == .array
    var count = 0
    for child in tape.children(of: tape.root) {
      let (id, document) = isList ? try Self.element(child, of: tape, count) : (child - 1, child)
      try put(id, document, of: tape, in: collection)
      count += 1
    }
    return count
  }

  private static func element(_ index: Int, of tape: JSONTape, _ number: Int) throws -> (Int, Int) {
    guard let id = tape.member("id", of: index), tape[id].kind == .string,
      let document = tape.member("document", of: index)
    else {
      throw SatchelError(.invalid, "documents: /\(number): must be {\"id\": string, \"document\": {…}}")
    }
    return (id, document)
  }

  private func put(_ id: Int, _ document: Int, of tape: JSONTape, in collection: WorkingCollection) throws {
    func write(_ key: UnsafeRawBufferPointer) throws {
      try RecordID.check(key, in: collection.name)
      guard tape[document].kind == .object else {
        throw collection.problem(key, nil, "a document must be an object", code: .invalid)
      }
      let body = UnsafeRawBufferPointer(rebasing: tape.bytes[tape.rawRange(document)])
      _ = try put(key, body, in: collection)
    }
    let token = tape[id]
    if token.isEscaped {
      var text = tape.text(id)
      return try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }
    try write(UnsafeRawBufferPointer(rebasing: tape.bytes[Int(token.start)..<Int(token.end)]))
  }
}
