import SatchelCore
import SatchelJSON
import SatchelStorage

/// The changes of one handle that are saved together, and their format in the outbox file: `{"state":
/// {"writer", "operations": […]}}`.
struct StateEntry: Sendable {
  static let kind = "state"
  /// How long the store remembers which changes of a handle are saved, in milliseconds: an outbox file may be
  /// drained late.
  private static let retention: Int64 = 366 * 24 * 3600 * 1000

  let writer: Int64
  /// In the order in which they were made.
  let operations: [StateOperation]

  /// Applies the operations that the store does not have yet: a commit may have reported a failure although
  /// it succeeded.
  func apply(in transaction: Transaction) throws {
    let tables = StateTables(connection: transaction.connection)
    let saved = try tables.saved(writer)
    var keys: [String] = []
    for operation in operations where operation.sequence > saved {
      try tables.apply(operation)
      keys.append(operation.target.changeKey.text)
    }
    guard let through = operations.last?.sequence, !keys.isEmpty else { return }
    try tables.noteSaved(writer, through: through, time: transaction.now)
    try tables.forgetSaved(before: transaction.now - Self.retention)
    transaction.note(subject: .state, keys: Self.distinct(keys))
  }

  /// Returns each key once, in the order of its first occurrence.
  private static func distinct(_ keys: [String]) -> [String] {
    var seen: Set<StateName> = []
    return keys.filter { seen.insert(StateName(sound: $0)).inserted }
  }

  // MARK: As JSON

  var json: JSONValue {
    get throws {
      let body: JSONValue = [
        "writer": .int(writer), "operations": .array(try operations.map(Self.json)),
      ]
      return [Self.kind: body]
    }
  }

  /// - Parameter json: the value of the member "state"
  init(json: JSONValue) throws {
    guard let writer = json["writer"]?.intValue, let operations = json["operations"]?.arrayValue else {
      throw SatchelError(.invalid, "state: an entry must have \"writer\" and \"operations\"")
    }
    self.writer = writer
    self.operations = try operations.map { try Self.operation($0, writer: writer) }
  }

  init(writer: Int64, operations: [StateOperation]) {
    self.writer = writer
    self.operations = operations
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
      if let limit = bounds.limit { object["limit"] = .int(Int64(limit)) }
      if let age = bounds.maxAge { object["maximum_age"] = .int(age) }
      object["unique"] = .bool(bounds.isUnique)
    case .drop(let identity): object["identity"] = .string(identity.hexadecimal)
    case .add(let delta, let minimum, let maximum):
      object["delta"] = .double(delta)
      object["minimum"] = .double(minimum)
      object["maximum"] = .double(maximum)
    }
    return [StateVerb(operation).rawValue: .object(object)]
  }

  private static func operation(_ json: JSONValue, writer: Int64) throws -> StateOperation {
    let failure = SatchelError(.invalid, "state: an operation is invalid")
    guard let member = json.objectValue?.first, let verb = StateVerb(rawValue: member.key),
      let name = member.value["name"]?.stringValue, let time = member.value["time"]?.intValue,
      let sequence = member.value["number"]?.intValue
    else { throw failure }
    let object = member.value
    let key = try object["key"]?.stringValue.map { try StateName($0, as: "key") }
    guard (verb.kind == .member || verb.kind == .score) == (key != nil) else { throw failure }
    let target = StateTarget(kind: verb.kind, name: try StateName(name, as: "name"), key: key)
    guard let action = try verb.action(object) else { throw failure }
    return StateOperation(
      target: target, action: action, time: time, writer: writer, sequence: sequence, number: sequence)
  }
}

/// The names of operations in the outbox file.
enum StateVerb: String {
  case set, remove, push, drop, clear
  case join, leave
  case score, forget

  init(_ operation: StateOperation) {
    self =
      switch (operation.target.kind, operation.action) {
      case (.member, .remove): .leave
      case (.member, _): .join
      case (.score, .remove): .forget
      case (.score, _): .score
      case (.list, .drop): .drop
      case (.list, .remove): .clear
      case (.list, _): .push
      case (.value, .remove): .remove
      case (.value, _): .set
      }
  }

  var kind: StateTarget.Kind {
    switch self {
    case .set, .remove: .value
    case .push, .drop, .clear: .list
    case .join, .leave: .member
    case .score, .forget: .score
    }
  }

  /// Reads the action from JSON; nil when it is incomplete.
  func action(_ object: JSONValue) throws -> StateOperation.Action? {
    switch self {
    case .remove, .clear, .leave, .forget: return .remove
    case .set, .join:
      if let sealed = object["sealed"]?.stringValue {
        return [UInt8](hexadecimal: sealed).map { .set($0, isSealed: true) }
      }
      return try object["value"].map { .set(try $0.serialized(), isSealed: false) }
    case .push:
      guard let value = object["value"] else { return nil }
      let bounds = StateListBounds(
        limit: object["limit"]?.intValue.flatMap { Int(exactly: $0) },
        maxAge: object["maximum_age"]?.intValue, isUnique: object["unique"]?.boolValue ?? false)
      return .push(try value.serialized(), identity: try ValueIdentity(value), bounds)
    case .drop:
      return object["identity"]?.stringValue.flatMap { [UInt8](hexadecimal: $0) }
        .map { .drop(ValueIdentity(bytes: $0)) }
    case .score:
      guard let delta = object["delta"]?.doubleValue, let minimum = object["minimum"]?.doubleValue,
        let maximum = object["maximum"]?.doubleValue
      else { return nil }
      return .add(delta, minimum: minimum, maximum: maximum)
    }
  }
}
