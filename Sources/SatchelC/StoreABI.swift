import CSatchel
import Satchel

@_cdecl("satchel_store_open") @implementation
public func satchel_store_open(
  _ path: UnsafePointer<CChar>!, _ options: UnsafePointer<satchel_open_options>!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  out?.pointee = nil
  return guarded {
    // Created first, so that `clock_release` is called on every path.
    let reader = try OptionsReader(options)
    let context = HostContext(
      reader.value(\.clock_context) ?? nil, reader.value(\.clock_release) ?? nil)
    guard let out else { throw SatchelError(.invalid, "out is NULL") }
    let path = try text(path, "path")
    var storeOptions = StoreOptions()
    storeOptions.isReadOnly = reader.flag(\.read_only)
    storeOptions.quarantine = reader.flag(\.quarantine)
    storeOptions.durability = reader.flag(\.relaxed_durability) ? .relaxed : .full
    let timeout = reader.number(\.busy_timeout_ms, default: 0)
    if timeout > 0 { storeOptions.busyTimeout = Int32(clamping: timeout) }
    storeOptions.queryTimeout = Int32(clamping: reader.number(\.query_timeout_ms, default: 0))
    if let clock = reader.value(\.clock) ?? nil {
      // By the header's contract the host's clock may be called on any thread.
      nonisolated(unsafe) let clock = clock
      storeOptions.clock = Clock {
        HostWork.callingClock({ clock(context.address) }, instead: { Clock.system.now() })
      }
    }
    out.pointee = Handles.stores.insert(try Store(path: path, options: storeOptions))
  }
}

@_cdecl("satchel_store_close") @implementation
public func satchel_store_close(_ store: OpaquePointer!) -> satchel_status {
  guarded {
    guard store != nil else { return }
    try Handles.stores.borrow(store).database.refuseClosingInCallback()
    guard let closing = Handles.stores.remove(store) else { throw Handles.stores.missing(store) }
    try closing.close()
  }
}

@_cdecl("satchel_store_info") @implementation
public func satchel_store_info(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.stores.borrow(store).info().json, to: $0) }
}

@_cdecl("satchel_store_statistics") @implementation
public func satchel_store_statistics(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.stores.borrow(store).statistics().json, to: $0) }
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
  guarded(returning: out, orElse: false) { try Handles.stores.borrow(store).isReadOnly }
}

@_cdecl("satchel_store_observe") @implementation
public func satchel_store_observe(
  _ store: OpaquePointer!, _ callback: satchel_change_callback!, _ context: UnsafeMutableRawPointer!,
  _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  let host = HostContext(context, release)
  return guarded(returning: out, orElse: nil) {
    guard let callback else { throw SatchelError(.invalid, "callback is NULL") }
    nonisolated(unsafe) let notify = callback
    let observation = try Handles.stores.borrow(store).observe { change in
      lend(change.json) { notify(host.address, $0) }
    }
    return Handles.observers.insert(ObserverHandle { observation.cancel() })
  }
}

@_cdecl("satchel_observer_free") @implementation
public func satchel_observer_free(_ observer: OpaquePointer!) {
  Handles.observers.remove(observer)?.cancel()
}

// MARK: Transactions

@_cdecl("satchel_store_begin") @implementation
public func satchel_store_begin(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).begin() }
}

@_cdecl("satchel_store_commit") @implementation
public func satchel_store_commit(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).commit() }
}

@_cdecl("satchel_store_rollback") @implementation
public func satchel_store_rollback(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).rollback() }
}

@_cdecl("satchel_store_flush") @implementation
public func satchel_store_flush(
  _ store: OpaquePointer!, _ spooled: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  spooled?.pointee = false
  return guarded {
    let isSaved = try Handles.stores.borrow(store).flush()
    spooled?.pointee = !isSaved
  }
}

@_cdecl("satchel_store_batch") @implementation
public func satchel_store_batch(
  _ store: OpaquePointer!, _ batch: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(returning: batch, named: "batch", orElse: 0) { try Handles.stores.borrow(store).carriedBatch ?? 0 }
}

@_cdecl("satchel_store_enter") @implementation
public func satchel_store_enter(_ store: OpaquePointer!, _ batch: Int64) -> satchel_status {
  guarded { try Handles.stores.borrow(store).enter(batch) }
}

@_cdecl("satchel_store_leave") @implementation
public func satchel_store_leave(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).leave() }
}

// MARK: Callbacks

extension Store {
  /// The subject of callbacks that run on behalf of this store.
  var work: HostWork.Resource { HostWork.Resource(ObjectIdentifier(database)) }
}

/// Calls `body` with a value as JSON; the bytes are valid for the duration of the call.
func lend(_ json: JSONValue, to body: (satchel_bytes) -> Void) {
  // Cannot fail: the library's own values contain no number that JSON cannot represent.
  guard let bytes = try? json.serialized() else { return }
  lend(bytes, to: body)
}

/// Passes bytes to the host, for the length of the call.
func lend<Answer>(_ bytes: [UInt8], to body: (satchel_bytes) -> Answer) -> Answer {
  bytes.withUnsafeBytes { body(satchel_bytes(data: $0.baseAddress, size: $0.count)) }
}
