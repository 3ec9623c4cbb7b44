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
    let tape = try Self.tape(documents)
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

/// The result of `putValid`.
public struct RecordPutReport: Equatable, Sendable, JSONConvertible {
  /// A record that was not written.
  public struct Rejected: Equatable, Sendable {
    /// The position of the record among the documents, from 0.
    public var position: Int
    /// Nil for an element without an id.
    public var id: String?
    /// `.invalid` or `.constraint`.
    public var code: SatchelError.Code
    /// Names the record, the JSON Pointer in its document, and the reason.
    public var message: String
  }

  /// The number of records written.
  public var written = 0
  /// By position.
  public var rejected: [Rejected] = []

  public var json: JSONValue {
    let rejected = rejected.map { rejected -> JSONValue in
      [
        "position": .int(Int64(rejected.position)), "id": rejected.id.map { .string($0) } ?? .null,
        "code": .int(Int64(rejected.code.rawValue)), "message": .string(rejected.message),
      ]
    }
    return ["written": .int(Int64(written)), "rejected": .array(rejected)]
  }
}

extension RecordCollection {
  /// Writes those of many records that are valid, in one transaction, and reports the others.
  ///
  /// A record that refers to a missing one, or to one that is not written for such a reason, is not written;
  /// in a batch, references are checked at its end. The write is never spooled.
  ///
  /// - Parameter documents: as for `putMany(_:)`
  /// - Throws: as `putMany(_:)`, but not for a record that is reported
  public func putValid(_ documents: UnsafeRawBufferPointer) throws -> RecordPutReport {
    let tape = try Self.tape(documents)
    let isInBatch = database.isInTransaction
    return try store.transaction { _ in
      do {
        return try putValid(tape, without: [:], checksReferences: !isInBatch)
      } catch let unresolved as UnresolvedRecords {
        return try putValid(tape, without: unresolved.rejected, checksReferences: false)
      }
    }
  }

  /// Writes many records given as JSON values, as `putValid(_:)` does.
  public func putValid(_ documents: some Sequence<(String, JSONValue)>) throws -> RecordPutReport {
    let elements = documents.map { JSONValue.object(["id": .string($0.0), "document": $0.1]) }
    let bytes = try naming(name) { try JSONValue.array(elements).serialized() }
    return try bytes.withUnsafeBytes { try putValid($0) }
  }

  /// - Parameter rejected: the records that are not written, by position
  /// - Throws: `UnresolvedRecords`, which rolls the writes back
  private func putValid(
    _ tape: JSONTape, without rejected: [Int: RecordPutReport.Rejected], checksReferences: Bool
  ) throws -> RecordPutReport {
    try store.transaction { _ in
      try write { work, collection in
        let start = work.unresolved.count
        var run = ValidPuts(rejected: rejected)
        try work.putValid(tape, in: collection, &run)
        let missing =
          checksReferences ? try work.unresolvedRecords(from: start, run.created, in: collection) : [:]
        guard missing.isEmpty else {
          for (position, key) in run.written {
            guard let error = missing[key] else { continue }
            run.reject(position, String(decoding: key, as: UTF8.self), error)
          }
          throw UnresolvedRecords(rejected: run.rejected)
        }
        return RecordPutReport(
          written: run.written.count, rejected: run.rejected.values.sorted { $0.position < $1.position })
      }
    }
  }

  fileprivate static func tape(_ documents: UnsafeRawBufferPointer) throws -> JSONTape {
    let tape = try naming("documents") { try JSONTape(documents) }
    let kind = tape[tape.root].kind
    guard kind == .array || kind == .object else {
      throw SatchelError(.invalid, "documents: must be an object or an array").at(pointer: "")
    }
    return tape
  }
}

/// The records among many that refer to missing ones, and those that were rejected before.
private struct UnresolvedRecords: Error {
  var rejected: [Int: RecordPutReport.Rejected]
}

/// The progress of `putValid`.
struct ValidPuts {
  /// By position.
  var rejected: [Int: RecordPutReport.Rejected]
  var written: [(position: Int, key: [UInt8])] = []
  /// The ids of the records that did not exist before.
  var created: Set<[UInt8]> = []

  mutating func reject(_ position: Int, _ id: String?, _ error: SatchelError) {
    rejected[position] = RecordPutReport.Rejected(
      position: position, id: id, code: error.code, message: error.message)
  }
}

extension RecordWork {
  /// Writes the valid ones of the documents that were not rejected before, and rejects the others.
  func putValid(_ tape: JSONTape, in collection: WorkingCollection, _ run: inout ValidPuts) throws {
    let isList = tape[tape.root].kind == .array
    var position = -1
    for child in tape.children(of: tape.root) {
      position += 1
      guard run.rejected[position] == nil else { continue }
      var id: String?
      do {
        let (name, document) = isList ? try Self.element(child, of: tape, position) : (child - 1, child)
        id = tape.text(name)
        let receipt = try put(name, document, of: tape, in: collection)
        let key = Array(tape.text(name).utf8)
        if receipt.isNew { run.created.insert(key) }
        run.written.append((position, key))
      } catch let error as SatchelError where error.isRejectedDocument {
        run.reject(position, id, error)
      }
    }
  }

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
        .at(pointer: "/\(number)")
    }
    return (id, document)
  }

  @discardableResult
  private func put(
    _ id: Int, _ document: Int, of tape: JSONTape, in collection: WorkingCollection
  ) throws -> RecordReceipt {
    func write(_ key: UnsafeRawBufferPointer) throws -> RecordReceipt {
      try RecordID.check(key, in: collection.name)
      guard tape[document].kind == .object else {
        throw collection.problem(key, nil, "a document must be an object", code: .invalid)
      }
      let body = UnsafeRawBufferPointer(rebasing: tape.bytes[tape.rawRange(document)])
      return try put(key, body, in: collection)
    }
    let token = tape[id]
    if token.isEscaped {
      var text = tape.text(id)
      return try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }
    return try write(UnsafeRawBufferPointer(rebasing: tape.bytes[Int(token.start)..<Int(token.end)]))
  }
}
