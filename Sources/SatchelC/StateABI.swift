import CSatchel
import Satchel

@_cdecl("satchel_state_configure") @implementation
public func satchel_state_configure(
  _ store: OpaquePointer!, _ options: UnsafePointer<satchel_state_options>!
) -> satchel_status {
  guarded {
    let reader = try OptionsReader(options)
    let stateOptions = StateOptions(
      saveDelay: Int(reader.number(\.save_delay_ms, default: 0)),
      maxPending: Int(reader.number(\.max_pending, default: 0)),
      maxDelay: Int(reader.number(\.max_delay_ms, default: 0)))
    try Handles.stores.borrow(store).state.configure(stateOptions)
  }
}

@_cdecl("satchel_state_declare") @implementation
public func satchel_state_declare(
  _ store: OpaquePointer!, _ declaration: satchel_bytes, _ migrate: satchel_record_migration!,
  _ context: UnsafeMutableRawPointer!
) -> satchel_status {
  guarded {
    let host = migrate.map { HostMigration($0, context) }
    let declared = try StateDeclaration(json: declaration.json("declaration"), callback: host?.body)
    let store = try Handles.stores.borrow(store)
    try HostWork.on(store.work) { try store.state.declare(declared) }
  }
}

@_cdecl("satchel_state_set_key") @implementation
public func satchel_state_set_key(_ store: OpaquePointer!, _ key: satchel_bytes) -> satchel_status {
  guarded { try Handles.stores.borrow(store).state.setKey(Array(key.raw("key"))) }
}

@_cdecl("satchel_state_rotate_key") @implementation
public func satchel_state_rotate_key(_ store: OpaquePointer!, _ key: satchel_bytes) -> satchel_status {
  guarded { try Handles.stores.borrow(store).state.rotateKey(to: Array(key.raw("key"))) }
}

@_cdecl("satchel_state_set_sensitive") @implementation
public func satchel_state_set_sensitive(
  _ store: OpaquePointer!, _ kind: satchel_state_kind, _ name: satchel_bytes, _ sensitive: Bool
) -> satchel_status {
  guarded {
    let state = try Handles.stores.borrow(store).state
    try state.setSensitive(kind.kind(), name.text("name"), isSensitive: sensitive)
  }
}

@_cdecl("satchel_state_clear") @implementation
public func satchel_state_clear(
  _ store: OpaquePointer!, _ kind: satchel_state_kind, _ name: satchel_bytes
) -> satchel_status {
  guarded { try Handles.stores.borrow(store).state.clear(kind.kind(), name.text("name")) }
}

extension satchel_state_kind {
  fileprivate func kind() throws -> Change.StateKey.Kind {
    switch self {
    case SATCHEL_STATE_VALUE: .value
    case SATCHEL_STATE_LIST: .list
    case SATCHEL_STATE_SET: .set
    case SATCHEL_STATE_SCORES: .scores
    default: throw SatchelError(.invalid, "kind: \(rawValue) is not a satchel_state_kind")
    }
  }
}

@_cdecl("satchel_state_set") @implementation
public func satchel_state_set(
  _ store: OpaquePointer!, _ key: satchel_bytes, _ value: satchel_bytes, _ sensitive: Bool
) -> satchel_status {
  guarded {
    let state = try Handles.stores.borrow(store).state
    ThreadWarnings.clear()
    ThreadWarnings.set(try state.set(key.text("key"), value.stateValue(), sensitive: sensitive))
  }
}

@_cdecl("satchel_state_get") @implementation
public func satchel_state_get(
  _ store: OpaquePointer!, _ key: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let value = try Handles.stores.borrow(store).state.get(key.text("key"))
    if let value { try give(value, to: out) }
  }
}

@_cdecl("satchel_state_remove") @implementation
public func satchel_state_remove(_ store: OpaquePointer!, _ key: satchel_bytes) -> satchel_status {
  guarded { try Handles.stores.borrow(store).state.remove(key.text("key")) }
}

@_cdecl("satchel_state_keys") @implementation
public func satchel_state_keys(
  _ store: OpaquePointer!, _ prefix: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let keys = try Handles.stores.borrow(store).state.keys(prefix: prefix.text("prefix"))
    try give(.array(keys.map { .string($0) }), to: out)
  }
}

@_cdecl("satchel_state_flush") @implementation
public func satchel_state_flush(
  _ store: OpaquePointer!, _ spooled: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  spooled?.pointee = false
  return guarded {
    let isSaved = try Handles.stores.borrow(store).state.flush()
    spooled?.pointee = !isSaved
  }
}

extension satchel_bytes {
  /// Returns the bytes parsed as a JSON value; null must be written as "null".
  func stateValue() throws -> JSONValue {
    let bytes = try raw("value")
    return try naming("value") { try JSONValue(parsing: bytes) }
  }
}
