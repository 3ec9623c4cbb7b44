import SatchelCore
import SatchelJSON
import SatchelStorage

/// One change of state. It describes the action, not its result, so that the changes of several handles and
/// processes add up.
struct StateOperation: Sendable {
  enum Action: Equatable, Sendable {
    /// Sets a value, or adds a member that is not in the set yet.
    case set(JSONValue)
    /// Sets a sensitive value.
    case seal([UInt8])
    /// Removes a value, a member or a score, or empties a list.
    case remove
    /// Inserts an item in front of a list or, with a time, at its position.
    case push(JSONValue, identity: StateName, StateBounds, time: Int64?)
    /// Removes the items that are equal to a value from a list.
    case drop(StateName)
    /// Adds to a score.
    case add(Double, StateBounds)
    /// Sets whether a value, a list, a set or scores are synchronized.
    case mark(StateMark)
    /// A change of a sensitive list, set or scores whose key is not set, sealed.
    case locked([UInt8])

    /// Whether it supersedes earlier actions on the same target.
    var supersedesEarlier: Bool {
      switch self {
      case .set, .seal, .remove, .mark: true
      default: false
      }
    }

    /// Returns the value or member after the action; nil for none.
    func value(after value: JSONValue?) -> JSONValue? {
      switch self {
      case .set(let value): value
      case .remove: nil
      default: value
      }
    }

    /// Returns the score after the action; nil for none.
    func score(after score: Double?) -> Double? {
      switch self {
      // Added to what is read within the same bounds, so that no gain is lost below the minimum.
      case .add(let delta, let bounds): bounds.bounded(bounds.bounded(score) + delta)
      case .remove: nil
      default: score
      }
    }
  }

  let target: StateTarget
  let action: Action
  /// Unix milliseconds.
  var time: Int64
  /// The handle that made the change, and the sequence number that the store records for that handle when it
  /// has saved the change.
  let writer: Int64
  let sequence: Int64
  /// Its position among the changes of this handle, from 1; 0 or less for changes that an earlier handle left
  /// in the outbox file.
  var number: Int64 = 0

  var id: StateID { target.id }

  /// Whether nothing of what the store has is left: a value is set or removed, or a list is emptied.
  var replacesContent: Bool { id.kind == .value || isClearing }

  var isClearing: Bool { id.kind == .list && action == .remove }

  /// The change, made at `now` if a clock that was ahead says when.
  func credible(at now: Int64) -> StateOperation {
    var credible = self
    credible.time = StoreClock.credible(time, at: now)
    return credible
  }
}

/// The target of a change of state. Changes of different targets are independent.
struct StateTarget: Hashable, Sendable {
  let id: StateID
  /// For a set, the identity of the member; for scores, the key; nil for all of it, also where a sealed change does not
  /// say which.
  var key: StateName?
  /// Whether it is the mark.
  var isMark = false
}

// MARK: - In the outbox file

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
    let unsaved = operations.filter { $0.sequence > saved }
    guard let through = unsaved.last?.sequence else { return [] }
    var work = StateWork(context, transaction)
    for operation in unsaved {
      do {
        try work.apply(operation.credible(at: transaction.now))
      } catch let error as SatchelError where error.code == .damaged {
        let entry = try StateEntry(writer: writer, operations: [operation]).json(context)
        try context.outbox.reject(entry, because: error.message, in: transaction)
      }
    }
    let written = try work.finish()
    try sequence.note(writer, through: through, at: transaction.now)
    return written
  }

  /// Returns the form in the outbox file.
  ///
  /// - Throws: `.unauthorized` for a change of sensitive content when the key is not set
  func json(_ context: StateContext) throws -> JSONValue {
    let operations = try self.operations.map { operation in
      guard operation.id.kind != .value, try context.isSensitive(operation.id) else { return operation.json }
      guard let key = context.keyring.current else {
        throw SatchelError.keyNotSet(operation.id.location).at(operation.id.details)
      }
      return try operation.sealed(by: key)
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
    self.init(
      writer: writer, operations: try operations.map { try StateOperation($0, writer: writer, keys: keys) })
  }

  init(writer: Int64, operations: [StateOperation]) {
    self.writer = writer
    self.operations = operations
  }
}

extension StateOperation {
  /// `{"id", "key", "time", "number"}` and a member that is named after the action.
  var json: JSONValue {
    var object: JSONObject = ["id": .string(id.text), "time": .int(time), "number": .int(sequence)]
    if let key = target.key { object["key"] = .string(key.text) }
    switch action {
    case .set(let value): object["set"] = value
    case .seal(let bytes): object["seal"] = .base64(bytes)
    case .remove: object["remove"] = true
    case .push(let value, _, let bounds, let time):
      var item: JSONObject = ["value": value]
      if let time { item["at"] = .int(time) }
      bounds.write(into: &item)
      object["push"] = .object(item)
    case .drop(let identity): object["drop"] = .string(identity.text)
    case .add(let delta, let bounds):
      var addition: JSONObject = ["delta": .double(delta)]
      bounds.write(into: &addition)
      object["add"] = .object(addition)
    case .mark(let mark):
      var members: JSONObject = ["synced": .bool(mark.isSynced)]
      mark.bounds?.write(into: &members)
      object["mark"] = .object(members)
    case .locked(let bytes): object["locked"] = .base64(bytes)
    }
    return .object(object)
  }

  /// Returns that form with the action and its target sealed; unchanged for a mark, which has no content.
  func sealed(by key: EncryptionKey) throws -> JSONValue {
    switch action {
    case .locked, .mark: return json
    default:
      let bytes = SealedValue.seal(try json.serialized(), by: key, at: location)
      return StateOperation(
        target: StateTarget(id: id), action: .locked(bytes), time: time, writer: writer, sequence: sequence
      ).json
    }
  }

  private var location: String { "\(id.location): a spooled change" }

  /// Reads an operation. A sealed one that cannot be opened stays locked.
  ///
  /// - Throws: `.invalid`
  init(_ json: JSONValue, writer: Int64, keys: Keyring.Keys) throws {
    guard let id = json["id"]?.stringValue.flatMap(StateID.init), let time = json["time"]?.intValue,
      let sequence = json["number"]?.intValue, let action = try Action(json, of: id)
    else { throw SatchelError(.invalid, "state: an operation is invalid") }
    var target = StateTarget(id: id)
    switch (action, id.kind) {
    case (.mark, _): target.isMark = true
    case (.locked, _): break
    case (_, .set), (_, .scores): target.key = try StateName(json["key"]?.stringValue ?? "", as: "key")
    default: break
    }
    let operation = StateOperation(
      target: target, action: action, time: time, writer: writer, sequence: sequence, number: sequence)
    self = try operation.opened(by: keys) ?? operation
  }

  /// Returns the operation that is sealed in a locked one; nil when its key is not known, and for another
  /// operation.
  ///
  /// - Throws: `.invalid` for content that is not an operation on the same list, set or scores
  func opened(by keys: Keyring.Keys) throws -> StateOperation? {
    guard case .locked(let sealed) = action, let name = SealedValue.keyName(of: sealed), keys[name] != nil
    else { return nil }
    let text: [UInt8]
    do {
      text = try SealedValue.open(sealed, by: keys, at: location)
    } catch let error as SatchelError {
      // A retry would fail each time.
      throw SatchelError(.invalid, error.message, underlying: error)
    }
    let opened = try naming(location) {
      try StateOperation(JSONValue(parsing: text), writer: writer, keys: [:])
    }
    guard opened.id == id, opened.sequence == sequence else {
      throw SatchelError(.invalid, "\(location): belongs to another list, set or scores")
    }
    return opened
  }
}

extension StateOperation.Action {
  /// Reads the member that is named after the action; nil for an incomplete one, and for one of another kind of state.
  fileprivate init?(_ json: JSONValue, of id: StateID) throws {
    switch id.kind {
    case .value, .set:
      if let value = json["set"] { self = .set(value); return }
      if id.kind == .value, let sealed = json["seal"]?.base64Value { self = .seal(sealed); return }
    case .list:
      if let item = json["push"], let value = item["value"] {
        guard let bounds = StateBounds(item, of: .list) else { return nil }
        let time = item["at"]?.intValue
        guard item["at"] == nil || time.map({ (0...StoreClock.latest).contains($0) }) == true else {
          return nil
        }
        self = .push(value, identity: try StateName(identityOf: value), bounds, time: time)
        return
      }
      if let identity = json["drop"]?.stringValue, identity.utf8.count == 64 {
        self = .drop(StateName(sound: identity))
        return
      }
    case .scores:
      if let addition = json["add"], let delta = addition["delta"]?.doubleValue, delta.isFinite {
        guard let bounds = StateBounds(addition, of: .scores) else { return nil }
        self = .add(delta, bounds)
        return
      }
    }
    if let mark = json["mark"] {
      guard let isSynced = mark["synced"]?.boolValue else { return nil }
      let bounds = StateBounds(mark, of: id.kind)
      guard let mark = try StateMark.requested(isSynced, of: id, bounds: bounds) else { return nil }
      self = .mark(mark)
    } else if let bytes = json["locked"]?.base64Value {
      self = .locked(bytes)
    } else if json["remove"] == true {
      self = .remove
    } else {
      return nil
    }
  }
}

extension JSONValue {
  static func base64(_ bytes: [UInt8]) -> JSONValue {
    var text: [UInt8] = []
    Base64.append(bytes, to: &text)
    return .string(String(decoding: text, as: UTF8.self))
  }

  /// The bytes of a string in Base64; nil for anything else.
  var base64Value: [UInt8]? {
    guard case .string(var text) = self else { return nil }
    return text.withUTF8 { Base64.decoded(UnsafeRawBufferPointer($0)) }
  }
}
