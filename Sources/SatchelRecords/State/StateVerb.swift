import SatchelJSON
import SatchelStorage

/// What the changes of state are called in the spill file.
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

  /// What is done, of its JSON; nil when that does not say.
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
        maximumAge: object["maximum_age"]?.intValue, isUnique: object["unique"]?.boolValue ?? false)
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
