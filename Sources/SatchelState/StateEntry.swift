import SatchelCore
import SatchelJSON
import SatchelStorage

/// The changes of one handle that are saved together, and their format in the outbox file: `{"state":
/// {"writer", "operations": […]}}`.
struct StateEntry: Sendable {
  static let kind = "state"

  let writer: Int64
  /// In the order in which they were made.
  let operations: [StateOperation]

  /// Applies the operations that the store does not have yet: a commit may have reported a failure although
  /// it succeeded. Operations on sensitive content wait in the store while its key is not set; those on content that is
  /// damaged are rejected.
  ///
  /// - Returns: the documents that were written, for the time after the commit
  @discardableResult
  func apply(in transaction: Transaction, _ context: StateContext) throws -> [StateCache.Entry] {
    let sequence = OutboxSequence(transaction.connection)
    let saved = try sequence.saved(writer)
    let unsaved = operations.filter { $0.sequence > saved }.map { $0.credible(at: transaction.now) }
    guard let through = unsaved.last?.sequence else { return [] }
    var work = StateWork(context, transaction)
    for operation in unsaved {
      do {
        try work.apply(any: operation)
      } catch let error as SatchelError where error.code == .damaged {
        let entry = StateEntry(writer: writer, operations: [operation])
        try context.outbox.reject(
          try entry.json(context), because: error.message, in: transaction)
      }
    }
    let written = try work.finish()
    try sequence.note(writer, through: through, at: transaction.now)
    return written
  }

  // MARK: As JSON

  /// Returns the form in the outbox file.
  ///
  /// - Throws: `.unauthorized` for a change of sensitive content when the key is not set
  func json(_ context: StateContext) throws -> JSONValue {
    let operations = try self.operations.map { operation in
      let id = operation.target.id
      guard id.kind != .value, try context.isSensitive(id) else { return try Self.json(operation) }
      guard let key = context.keyring.current else {
        throw SatchelError.keyNotSet(id.location).at(id.details)
      }
      return try Self.sealed(operation, by: key)
    }
    return [Self.kind: ["writer": .int(writer), "operations": .array(operations)]]
  }

  /// - Parameters:
  ///   - json: the value of the member "state"
  ///   - keys: open sealed operations, which otherwise stay locked
  init(json: JSONValue, keys: Keyring.Keys) throws {
    guard let writer = json["writer"]?.intValue, let operations = json["operations"]?.arrayValue else {
      throw SatchelError(.invalid, "state: an entry must have \"writer\" and \"operations\"")
    }
    self.writer = writer
    self.operations = try operations.map { try Self.operation($0, writer: writer, keys: keys) }
  }

  init(writer: Int64, operations: [StateOperation]) {
    self.writer = writer
    self.operations = operations
  }

  /// Returns an operation sealed; unchanged without a key, and for a mark, which has no content.
  static func sealed(_ operation: StateOperation, by key: EncryptionKey?) throws -> JSONValue {
    let id = operation.target.id
    let bytes: [UInt8]
    switch (operation.action, key) {
    case (.locked(let locked), _): bytes = locked
    case (.mark, _), (_, nil): return try json(operation)
    case (_, let key?):
      bytes = SealedValue.seal(
        try json(operation).serialized(), by: key, at: "\(id.location): a spooled change")
    }
    return [
      StateVerb.sealed.rawValue: [
        "kind": .string(id.kind.rawValue), "name": .string(id.name.text), "time": .int(operation.time),
        "number": .int(operation.sequence), "operation": .string(bytes.hexadecimal),
      ]
    ]
  }

  private static func json(_ operation: StateOperation) throws -> JSONValue {
    let name = JSONValue.string(operation.target.name.text)
    var object: JSONObject = ["name": name, "time": .int(operation.time), "number": .int(operation.sequence)]
    if let key = operation.target.key { object["key"] = .string(key.text) }
    switch operation.action {
    case .set(let bytes, isSealed: true): object["sealed"] = .string(bytes.hexadecimal)
    case .set(let bytes, isSealed: false): object["value"] = try JSONValue(parsing: bytes)
    case .remove: break
    case .push(let bytes, _, let bounds):
      object["value"] = try JSONValue(parsing: bytes)
      bounds.write(into: &object)
    case .insert(let bytes, _, let bounds, let time):
      object["value"] = try JSONValue(parsing: bytes)
      object["at"] = .int(time)
      bounds.write(into: &object)
    case .drop(let identity): object["identity"] = .string(identity.hexadecimal)
    case .add(let delta, let minimum, let maximum):
      object["delta"] = .double(delta)
      object["minimum"] = .double(minimum)
      object["maximum"] = .double(maximum)
    case .mark(let mark):
      object["kind"] = .string(operation.target.id.kind.rawValue)
      object["synced"] = .bool(mark.isSynced)
      mark.bounds?.write(into: &object)
    case .locked: return try sealed(operation, by: nil)
    }
    return [StateVerb(operation).rawValue: .object(object)]
  }

  /// Reads an operation. A sealed one that cannot be opened stays locked.
  static func operation(_ json: JSONValue, writer: Int64, keys: Keyring.Keys) throws -> StateOperation {
    let failure = SatchelError(.invalid, "state: an operation is invalid")
    guard let member = json.objectValue?.first, let verb = StateVerb(rawValue: member.key),
      let name = member.value["name"]?.stringValue, let time = member.value["time"]?.intValue,
      let sequence = member.value["number"]?.intValue
    else { throw failure }
    let object = member.value
    let key = try object["key"]?.stringValue.map { try StateName($0, as: "key") }
    guard let kind = verb.kind(object), (kind == .member || kind == .score) == (key != nil) else {
      throw failure
    }
    let target = StateTarget(kind: kind, name: try StateName(name, as: "name"), key: key)
    guard let action = try verb.action(object) else { throw failure }
    let operation = StateOperation(
      target: target, action: action, time: time, writer: writer, sequence: sequence, number: sequence)
    return try operation.opened(by: keys) ?? operation
  }
}

extension StateOperation {
  /// Returns the operation that is sealed in a locked one; nil when its key is not known, and for another
  /// operation.
  ///
  /// - Throws: `.invalid` for content that is not an operation on the same list, set or scores
  func opened(by keys: Keyring.Keys) throws -> StateOperation? {
    guard case .locked(let sealed) = action, let name = SealedValue.keyName(of: sealed), keys[name] != nil
    else {
      return nil
    }
    let location = "\(target.location): a spooled change"
    let text: [UInt8]
    do {
      text = try SealedValue.open(sealed, by: keys, at: location)
    } catch let error as SatchelError {
      // A retry would fail each time.
      throw SatchelError(.invalid, error.message, underlying: error)
    }
    let opened = try naming(location) {
      try StateEntry.operation(JSONValue(parsing: text), writer: writer, keys: [:])
    }
    guard opened.target.id == target.id, opened.sequence == sequence else {
      throw SatchelError(.invalid, "\(location): belongs to another list, set or scores")
    }
    return opened
  }
}
