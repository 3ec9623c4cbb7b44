import SatchelCore
import SatchelJSON
import SatchelStorage

/// The names of operations in the outbox file.
enum StateVerb: String {
  case set, remove, push, insert, drop, clear
  case join, leave
  case score, forget
  case mark
  /// Any operation on sensitive content.
  case sealed

  init(_ operation: StateOperation) {
    self =
      switch (operation.target.kind, operation.action) {
      case (.member, .remove): .leave
      case (.member, _): .join
      case (.score, .remove): .forget
      case (.score, _): .score
      case (.list, .drop): .drop
      case (.list, .insert): .insert
      case (.list, .remove): .clear
      case (.list, _): .push
      case (.mark, _): .mark
      case (.locked, _): .sealed
      case (.value, .remove): .remove
      case (.value, _): .set
      }
  }

  /// The kind of the target; nil for JSON without one.
  func kind(_ object: JSONValue) -> StateTarget.Kind? {
    switch self {
    case .set, .remove: .value
    case .push, .insert, .drop, .clear: .list
    case .join, .leave: .member
    case .score, .forget: .score
    case .mark: object["kind"]?.stringValue.flatMap(Change.StateKey.Kind.init).map { .mark($0) }
    case .sealed: object["kind"]?.stringValue.flatMap(Change.StateKey.Kind.init).map { .locked($0) }
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
      guard let bounds = StateListBounds(object) else { return nil }
      return .push(try value.serialized(), identity: try ValueIdentity(value), bounds)
    case .insert:
      guard let value = object["value"], let bounds = StateListBounds(object),
        let time = object["at"]?.intValue, (0...StoreClock.latest).contains(time)
      else { return nil }
      return .insert(try value.serialized(), identity: try ValueIdentity(value), bounds, time: time)
    case .drop:
      return object["identity"]?.stringValue.flatMap { [UInt8](hexadecimal: $0) }
        .map { .drop(ValueIdentity(bytes: $0)) }
    case .sealed:
      return object["operation"]?.stringValue.flatMap { [UInt8](hexadecimal: $0) }.map { .locked($0) }
    case .score:
      guard let delta = object["delta"]?.doubleValue, let minimum = object["minimum"]?.doubleValue,
        let maximum = object["maximum"]?.doubleValue
      else { return nil }
      return .add(delta, minimum: minimum, maximum: maximum)
    case .mark:
      guard case .mark(let kind)? = kind(object), let name = object["name"]?.stringValue,
        let isSynced = object["synced"]?.boolValue
      else { return nil }
      let id = StateID(kind, try StateName(name, as: "name"))
      return try StateMark.requested(isSynced, of: id, bounds: StateBounds(object, of: kind)).map {
        .mark($0)
      }
    }
  }
}
