import CSatchel
import Satchel

// MARK: Lists

@_cdecl("satchel_state_list_push") @implementation
public func satchel_state_list_push(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ value: satchel_bytes,
  _ options: UnsafePointer<satchel_state_list_options>!
) -> satchel_status {
  guarded { try list(store, name, options).push(value.stateValue()) }
}

@_cdecl("satchel_state_list_insert") @implementation
public func satchel_state_list_insert(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ value: satchel_bytes, _ time: Int64,
  _ options: UnsafePointer<satchel_state_list_options>!
) -> satchel_status {
  guarded { try list(store, name, options).insert(value.stateValue(), at: time) }
}

@_cdecl("satchel_state_list_items") @implementation
public func satchel_state_list_items(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ options: UnsafePointer<satchel_state_list_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let items = try list(store, name, options).items()
    try give(.array(items.map { ["value": $0.value, "time": .int($0.time)] }), to: out)
  }
}

@_cdecl("satchel_state_list_remove") @implementation
public func satchel_state_list_remove(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ value: satchel_bytes
) -> satchel_status {
  guarded { try list(store, name, nil).remove(value.stateValue()) }
}

@_cdecl("satchel_state_list_clear") @implementation
public func satchel_state_list_clear(_ store: OpaquePointer!, _ name: satchel_bytes) -> satchel_status {
  guarded { try list(store, name, nil).clear() }
}

private func list(
  _ store: OpaquePointer?, _ name: satchel_bytes, _ options: UnsafePointer<satchel_state_list_options>?
) throws -> StateList {
  let reader = try OptionsReader(options)
  let limit = reader.number(\.limit, default: 0)
  let age = reader.number(\.max_age_ms, default: 0)
  return try Handles.stores.borrow(store).state.list(
    name.text("name"), limit: limit == 0 ? nil : Int(limit),
    maxAge: age == 0 ? nil : Int64(clamping: age), isUnique: reader.flag(\.unique))
}

// MARK: Sets

@_cdecl("satchel_state_member_add") @implementation
public func satchel_state_member_add(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ value: satchel_bytes,
  _ added: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  added?.pointee = false
  return guarded {
    let set = try Handles.stores.borrow(store).state.set(named: name.text("name"))
    let isNew = try set.add(value.stateValue())
    added?.pointee = isNew
  }
}

@_cdecl("satchel_state_member_remove") @implementation
public func satchel_state_member_remove(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ value: satchel_bytes,
  _ removed: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  removed?.pointee = false
  return guarded {
    let set = try Handles.stores.borrow(store).state.set(named: name.text("name"))
    let wasThere = try set.remove(value.stateValue())
    removed?.pointee = wasThere
  }
}

@_cdecl("satchel_state_member_has") @implementation
public func satchel_state_member_has(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ value: satchel_bytes, _ has: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  guarded(returning: has, named: "has", orElse: false) {
    let set = try Handles.stores.borrow(store).state.set(named: name.text("name"))
    return try set.contains(value.stateValue())
  }
}

@_cdecl("satchel_state_members") @implementation
public func satchel_state_members(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let set = try Handles.stores.borrow(store).state.set(named: name.text("name"))
    try give(.array(set.values()), to: out)
  }
}

// MARK: Scores

@_cdecl("satchel_state_score_add") @implementation
public func satchel_state_score_add(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ key: satchel_bytes, _ delta: Double,
  _ options: UnsafePointer<satchel_state_score_options>!, _ value: UnsafeMutablePointer<Double>!
) -> satchel_status {
  guarded(storing: value) {
    try scores(store, name, options).add(key.text("key"), delta)
  }
}

@_cdecl("satchel_state_score") @implementation
public func satchel_state_score(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ key: satchel_bytes,
  _ options: UnsafePointer<satchel_state_score_options>!, _ value: UnsafeMutablePointer<Double>!
) -> satchel_status {
  guarded(returning: value, named: "value", orElse: 0) {
    try scores(store, name, options).value(key.text("key"))
  }
}

@_cdecl("satchel_state_scores") @implementation
public func satchel_state_scores(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ options: UnsafePointer<satchel_state_score_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let scores = try scores(store, name, options).all()
    try give(.object(JSONObject(scores.map { ($0.key, .double($0.value)) })), to: out)
  }
}

@_cdecl("satchel_state_score_remove") @implementation
public func satchel_state_score_remove(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ key: satchel_bytes
) -> satchel_status {
  guarded { try scores(store, name, nil).remove(key.text("key")) }
}

private func scores(
  _ store: OpaquePointer?, _ name: satchel_bytes, _ options: UnsafePointer<satchel_state_score_options>?
) throws -> StateScores {
  let reader = try OptionsReader(options)
  let (minimum, maximum) = (reader.value(\.minimum) ?? -1, reader.value(\.maximum) ?? 1)
  guard minimum <= maximum else {
    throw SatchelError(.invalid, "options: the minimum \(minimum) is above the maximum \(maximum)")
  }
  return try Handles.stores.borrow(store).state.scores(name.text("name"), bounds: minimum...maximum)
}

// MARK: Sync

@_cdecl("satchel_state_set_synced") @implementation
public func satchel_state_set_synced(
  _ store: OpaquePointer!, _ kind: satchel_state_kind, _ name: satchel_bytes, _ bounds: satchel_bytes,
  _ synced: Bool
) -> satchel_status {
  guarded {
    let state = try Handles.stores.borrow(store).state
    let name = try name.text("name")
    let bounds = try BoundsOptions(bounds)
    switch kind {
    case SATCHEL_STATE_VALUE: try state.setSynced(name, synced)
    case SATCHEL_STATE_LIST:
      _ = try state.list(
        name, limit: bounds.limit, maxAge: bounds.maxAge, isUnique: bounds.isUnique, synced: synced)
    case SATCHEL_STATE_SET: _ = try state.set(named: name, synced: synced)
    case SATCHEL_STATE_SCORES: _ = try state.scores(name, bounds: bounds.scores(), synced: synced)
    default: throw SatchelError(.invalid, "kind: \(kind.rawValue) is not a satchel_state_kind")
    }
  }
}

/// The bounds of a list or of scores, as JSON.
private struct BoundsOptions {
  private(set) var limit: Int?
  private(set) var maxAge: Int64?
  private(set) var isUnique = false
  private var minimum = -1.0
  private var maximum = 1.0

  init(_ bytes: satchel_bytes) throws {
    if bytes.size == 0 { return }
    guard case .object(let members) = try bytes.jsonIfAny("bounds") else {
      throw SatchelError(.invalid, "bounds: must be an object")
    }
    for (key, value) in members where !value.isNull {
      switch (key, value) {
      case ("limit", .int(let number)): limit = Int(clamping: number)
      case ("max_age", .int(let number)): maxAge = number
      case ("unique", .bool(let flag)): isUnique = flag
      case ("minimum", _) where value.doubleValue != nil: minimum = value.doubleValue ?? 0
      case ("maximum", _) where value.doubleValue != nil: maximum = value.doubleValue ?? 0
      default:
        throw SatchelError(
          .invalid,
          "bounds: /\(JSONPointer.escaped(key)): unknown; the members are limit, max_age, unique, minimum and maximum"
        )
      }
    }
  }

  func scores() throws -> ClosedRange<Double> {
    guard minimum <= maximum else {
      throw SatchelError(.invalid, "bounds: /minimum is greater than /maximum")
    }
    return minimum...maximum
  }
}
