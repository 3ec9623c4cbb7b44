import CSatchel
import Satchel

@_cdecl("satchel_store_open") @implementation
public func satchel_store_open(
  _ path: UnsafePointer<CChar>!, _ options: UnsafePointer<satchel_open_options>!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  out?.pointee = nil
  return guarded {
    // First of all, so that the host's clock is released however this ends.
    let given = try OptionsReader(options)
    let context = HostContext(
      given.value(\.clock_context) ?? nil, given.value(\.clock_release) ?? nil)
    guard let out else { throw SatchelError(.invalid, "out is NULL") }
    let path = try text(path, "path")
    var wanted = StoreOptions()
    wanted.isReadOnly = given.flag(\.read_only)
    wanted.setsAside = given.flag(\.set_aside)
    wanted.durability = given.flag(\.relaxed_durability) ? .relaxed : .full
    let timeout = given.number(\.busy_timeout_ms, default: 0)
    if timeout > 0 { wanted.busyTimeout = Int32(clamping: timeout) }
    if let clock = given.value(\.clock) ?? nil {
      // The pointer is a function of the host's, safe to call anywhere by the header's word.
      nonisolated(unsafe) let clock = clock
      wanted.clock = Clock {
        HostWork.callingClock({ clock(context.address) }, instead: { Clock.system.now() })
      }
    }
    out.pointee = Handles.stores.give(try Satchel(path: path, options: wanted))
  }
}

@_cdecl("satchel_store_close") @implementation
public func satchel_store_close(_ store: OpaquePointer!) -> satchel_status {
  guarded {
    guard store != nil else { return }
    try Handles.stores.borrow(store).database.refuseClosingInCallback()
    guard let satchel = Handles.stores.take(store) else { throw Handles.stores.missing(store) }
    try satchel.close()
  }
}

@_cdecl("satchel_store_info") @implementation
public func satchel_store_info(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.stores.borrow(store).info(), to: $0) }
}

@_cdecl("satchel_store_check") @implementation
public func satchel_store_check(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) {
    try give(.array(Handles.stores.borrow(store).check().map(\.json)), to: $0)
  }
}

@_cdecl("satchel_store_is_read_only") @implementation
public func satchel_store_is_read_only(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  guarded {
    guard let out else { throw SatchelError(.invalid, "out is NULL") }
    out.pointee = false
    out.pointee = try Handles.stores.borrow(store).isReadOnly
  }
}

@_cdecl("satchel_store_observe") @implementation
public func satchel_store_observe(
  _ store: OpaquePointer!, _ callback: satchel_change_callback!, _ context: UnsafeMutableRawPointer!,
  _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  out?.pointee = nil
  let host = HostContext(context, release)
  return guarded {
    guard let out else { throw SatchelError(.invalid, "out is NULL") }
    guard let callback else { throw SatchelError(.invalid, "callback is NULL") }
    nonisolated(unsafe) let hear = callback
    let store = try Handles.stores.borrow(store)
    let work = store.work
    let observation = try store.observe { change in
      lend(change.json) { change in
        HostWork.on(work) { HostWork.calling("an observer") { hear(host.address, change) } }
      }
    }
    out.pointee = Handles.observers.give(ObserverHandle(observation))
  }
}

@_cdecl("satchel_observer_free") @implementation
public func satchel_observer_free(_ observer: OpaquePointer!) {
  Handles.observers.take(observer)?.observation.cancel()
}

extension Satchel {
  /// What work for the store is for.
  var work: HostWork.Subject { HostWork.Subject(ObjectIdentifier(database)) }
}

/// Lends a value to a callback, for the length of the call.
func lend(_ json: JSONValue, to body: (satchel_bytes) -> Void) {
  // Made by the library from valid text: it cannot hold a number that JSON has no form for.
  guard let bytes = try? json.serialized() else { return }
  bytes.withUnsafeBytes { body(satchel_bytes(data: $0.baseAddress, size: $0.count)) }
}
