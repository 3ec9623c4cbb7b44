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
  func apply(in transaction: Transaction, of database: Database) throws {
    let tables = StateTables(connection: transaction.connection)
    let saved = try tables.saved(writer)
    let unsaved = operations.filter { $0.sequence > saved }
    guard let through = unsaved.last?.sequence else { return }
    var changed = StateIDs()
    var tracking = StateTracking()
    for operation in unsaved {
      let id = operation.target.id
      guard case .mark(let mark) = operation.action else {
        try tables.apply(operation)
        changed.insert(id)
        continue
      }
      let previous = try tables.mark(id)
      if previous == mark { continue }
      try tables.apply(operation)
      tracking.add(mark, of: id, after: previous)
    }
    try tables.noteSaved(writer, through: through, time: transaction.now)
    try tables.forgetSaved(before: transaction.now - Self.retention)
    if !changed.ordered.isEmpty {
      transaction.note(subject: .state, keys: changed.ordered.map(\.text))
    }
    tracking.changed.insert(changed)
    try tracking.note(in: transaction, of: database)
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
    guard let kind = verb.kind(object), (kind == .member || kind == .score) == (key != nil) else {
      throw failure
    }
    let target = StateTarget(kind: kind, name: try StateName(name, as: "name"), key: key)
    guard let action = try verb.action(object) else { throw failure }
    return StateOperation(
      target: target, action: action, time: time, writer: writer, sequence: sequence, number: sequence)
  }
}
