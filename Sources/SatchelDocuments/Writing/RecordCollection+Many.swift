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
    try putManyWarning(documents).count
  }

  /// Writes many records as `putMany(_:)` does, and returns the warnings too, with pointers in `documents`.
  package func putManyWarning(
    _ documents: UnsafeRawBufferPointer
  ) throws -> (count: Int, warnings: [DocumentWarning]) {
    let outcome = try write(.putMany(documents, Self.tape(documents)))
    return (outcome?.count ?? 0, outcome?.receipt.warnings ?? [])
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
  /// The strings of more than 1 MiB, which should be assets, with pointers in the documents that were given.
  public var warnings: [DocumentWarning] = []

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
    var checksReferences = !database.isInTransaction
    return try store.transaction { _ in
      var rejected: [Int: RecordPutReport.Rejected] = [:]
      var rounds = 0
      while true {
        do {
          rounds += 1
          return try putValid(
            tape, without: rejected, checksReferences: checksReferences,
            atOnce: rounds > Self.maxExchangeRounds)
        } catch let found as RejectedRecords {
          // The cause is not among the records: the end of the transaction decides.
          if found.rejected.count == rejected.count { (checksReferences, rounds) = (false, Int.max - 1) }
          rejected = found.rejected
        }
      }
    }
  }

  /// The number of rounds in which records of `putValid` may exchange unique values with others that are rejected in
  /// turn; later ones are rejected when another record has their value already.
  private static let maxExchangeRounds = 8

  /// Writes many records given as JSON values, as `putValid(_:)` does.
  public func putValid(_ documents: some Sequence<(String, JSONValue)>) throws -> RecordPutReport {
    let elements = documents.map { JSONValue.object(["id": .string($0.0), "document": $0.1]) }
    let bytes = try naming(name) { try JSONValue.array(elements).serialized() }
    return try bytes.withUnsafeBytes { try putValid($0) }
  }

  /// - Parameters:
  ///   - rejected: the records that are not written, by position
  ///   - atOnce: see `RecordWork.checksUniqueAtOnce`
  /// - Throws: `RejectedRecords`, which rolls the writes back
  private func putValid(
    _ tape: JSONTape, without rejected: [Int: RecordPutReport.Rejected], checksReferences: Bool, atOnce: Bool
  ) throws -> RecordPutReport {
    try transaction { work, collection in
      let (start, contested) = (work.unresolved.count, work.contested.count)
      work.checksUniqueAtOnce = atOnce
      defer { work.checksUniqueAtOnce = false }
      var run = ValidPuts(rejected: rejected)
      try work.putValid(tape, keeping: known, in: collection, &run)
      let missing =
        checksReferences ? try work.unresolvedRecords(from: start, run.created, in: collection) : [:]
      var taken = try work.uniqueViolations(from: contested, in: collection)
      guard missing.isEmpty, taken.isEmpty else {
        // Of an id that was given twice, the last one has the value.
        for (position, key) in run.written.reversed() {
          guard let error = missing[key] ?? taken.removeValue(forKey: key) else { continue }
          run.reject(position, String(decoding: key, as: UTF8.self), error: error)
        }
        throw RejectedRecords(rejected: run.rejected)
      }
      return RecordPutReport(
        written: run.written.count, rejected: run.rejected.values.ordered { $0.position < $1.position },
        warnings: LargeStrings.warnings(in: tape, at: tape.root))
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
private struct RejectedRecords: Error {
  var rejected: [Int: RecordPutReport.Rejected]
}

/// The progress of `putValid`.
struct ValidPuts {
  /// By position.
  var rejected: [Int: RecordPutReport.Rejected]
  var written: [(position: Int, key: [UInt8])] = []
  /// The ids of the records that did not exist before.
  var created: Set<[UInt8]> = []

  mutating func reject(_ position: Int, _ id: String?, error: SatchelError) {
    rejected[position] = RecordPutReport.Rejected(
      position: position, id: id, code: error.code, message: error.message)
  }
}

extension RecordWork {
  /// Writes the valid ones of the documents that were not rejected before, and rejects the others.
  func putValid(
    _ tape: JSONTape, keeping known: KnownMembers?, in collection: CollectionState, _ run: inout ValidPuts
  ) throws {
    let isList = tape[tape.root].kind == .array
    var position = -1
    for child in tape.children(of: tape.root) {
      position += 1
      guard run.rejected[position] == nil else { continue }
      var id: String?
      do {
        let element =
          try isList
          ? Element(child, of: tape, position, known: known) : Element(id: child - 1, document: child)
        id = tape.text(element.id)
        let receipt = try put(element, of: tape, keeping: known, in: collection)
        let key = Array(tape.text(element.id).utf8)
        if receipt.isNew { run.created.insert(key) }
        run.written.append((position, key))
      } catch let error as SatchelError where error.isRejectedDocument {
        run.reject(position, id, error: error)
      }
    }
  }

  /// Writes the documents of a parsed JSON text.
  func putMany(
    _ tape: JSONTape, keeping known: KnownMembers?, in collection: CollectionState
  ) throws -> Int {
    let isList = tape[tape.root].kind == .array
    var count = 0
    for child in tape.children(of: tape.root) {
      let element =
        try isList ? Element(child, of: tape, count, known: known) : Element(id: child - 1, document: child)
      try put(element, of: tape, keeping: known, in: collection)
      count += 1
    }
    return count
  }

  /// One of many documents: positions in the tape.
  private struct Element {
    var id: Int
    var document: Int
    /// The number of the document's type; nil for a document that is written as a whole.
    var type: Int? = 0

    init(id: Int, document: Int) { (self.id, self.document) = (id, document) }

    init(_ index: Int, of tape: JSONTape, _ number: Int, known: KnownMembers?) throws {
      guard let id = tape.member("id", of: index), tape[id].kind == .string,
        let document = tape.member("document", of: index)
      else {
        throw SatchelError(.invalid, "documents: /\(number): must be {\"id\": string, \"document\": {…}}")
          .at(pointer: "/\(number)")
      }
      self.init(id: id, document: document)
      guard let known, let member = tape.member("type", of: index) else { return }
      switch try tape.value(member) {
      case .null: type = nil
      case .int(let given) where (0..<Int64(known.count)).contains(given): type = Int(given)
      default:
        throw SatchelError(.invalid, "documents: /\(number)/type: must be the number of a type, or null")
          .at(pointer: "/\(number)/type")
      }
    }
  }

  @discardableResult
  private func put(
    _ element: Element, of tape: JSONTape, keeping known: KnownMembers?, in collection: CollectionState
  ) throws -> RecordReceipt {
    let (id, document) = (element.id, element.document)
    func write(_ key: UnsafeRawBufferPointer) throws -> RecordReceipt {
      try RecordID.check(key, in: collection.name)
      guard tape[document].kind == .object else {
        throw collection.problem(key, nil, reason: "a document must be an object", code: .invalid)
      }
      let body = UnsafeRawBufferPointer(rebasing: tape.bytes[tape.rawRange(document)])
      guard let type = element.type else { return try put(key, body, in: collection) }
      return try put(key, body, keeping: known, type: type, in: collection)
    }
    let token = tape[id]
    if token.isEscaped {
      var text = tape.text(id)
      return try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }
    return try write(UnsafeRawBufferPointer(rebasing: tape.bytes[Int(token.start)..<Int(token.end)]))
  }
}
