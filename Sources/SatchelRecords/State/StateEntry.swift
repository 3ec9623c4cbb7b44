import SatchelJSON
import SatchelStorage

/// Changes of one handle that are saved together, and their form in the spill file: `{"state": {"writer",
/// "operations": […]}}`.
struct StateEntry: Sendable {
  static let kind = "state"
  /// How long it is remembered which changes of a handle are saved, in milliseconds: a spill file may come
  /// late.
  private static let memory: Int64 = 366 * 24 * 3600 * 1000

  let writer: Int64
  /// In order.
  let operations: [StateOperation]

  /// Writes them, but for those that are there already: a commit may have failed only in appearance.
  func apply(in transaction: Transaction) throws {
    let tables = StateTables(connection: transaction.connection)
    let saved = try tables.saved(writer)
    var keys: [String] = []
    for operation in operations where operation.mark > saved {
      try tables.apply(operation)
      keys.append(operation.target.changeKey)
    }
    guard let through = operations.last?.mark, !keys.isEmpty else { return }
    try tables.noteSaved(writer, through: through, time: transaction.now)
    try tables.forgetSaved(before: transaction.now - Self.memory)
    transaction.note(subject: "records", keys: Self.distinct(keys), place: nil)
  }

  /// Each once, in the order of the first.
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

  /// - Parameter json: what stands under "state"
  init(json: JSONValue) throws {
    guard let writer = json["writer"]?.intValue, let operations = json["operations"]?.arrayValue else {
      throw SatchelError(.invalid, "state: is no entry")
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
    var object: JSONObject = ["name": name, "time": .int(operation.time), "number": .int(operation.mark)]
    if let key = operation.target.key { object["key"] = .string(key.text) }
    switch operation.action {
    case .set(let bytes, isSealed: true): object["sealed"] = .string(bytes.hexadecimal)
    case .set(let bytes, isSealed: false): object["value"] = try JSONValue(parsing: bytes)
    case .remove: break
    case .push(let bytes, _, let bounds):
      object["value"] = try JSONValue(parsing: bytes)
      if let limit = bounds.limit { object["limit"] = .int(Int64(limit)) }
      if let age = bounds.maximumAge { object["maximum_age"] = .int(age) }
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
    let failure = SatchelError(.invalid, "state: holds a change that is none")
    guard let member = json.objectValue?.first, let verb = StateVerb(rawValue: member.key),
      let name = member.value["name"]?.stringValue, let time = member.value["time"]?.intValue,
      let mark = member.value["number"]?.intValue
    else { throw failure }
    let object = member.value
    let key = try object["key"]?.stringValue.map { try StateName($0, as: "key") }
    guard (verb.kind == .member || verb.kind == .score) == (key != nil) else { throw failure }
    let target = StateTarget(kind: verb.kind, name: try StateName(name, as: "name"), key: key)
    guard let action = try verb.action(object) else { throw failure }
    return StateOperation(
      target: target, action: action, time: time, writer: writer, mark: mark, number: mark)
  }
}
