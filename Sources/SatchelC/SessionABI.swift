import CSatchel
import Satchel

@_cdecl("satchel_session_new") @implementation
public func satchel_session_new(
  _ store: OpaquePointer!, _ options: UnsafePointer<satchel_session_options>!,
  _ callback: satchel_session_callback!, _ context: UnsafeMutableRawPointer!,
  _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  let host = HostContext(context, release)
  return guarded(returning: out, orElse: nil) {
    let reader = try OptionsReader(options)
    let refresh = try RefreshOptions.read(reader.value(\.refresh) ?? nil).0
    let store = try Handles.stores.borrow(store)
    let nearby = reader.value(\.nearby) ?? Catalogue.defaultNearby
    let handle: OpaquePointer? = reader.value(\.source) ?? nil
    let source = handle == nil ? nil : try Handles.sources.borrow(handle).source
    try Session.check(nearby: nearby)
    let work = store.work
    let notify = callback
    let session = Session(store.catalogue, nearby: nearby, source: source, refresh: refresh) { event in
      guard let notify else { return }
      lend(event.json) { event in
        HostWork.calling("a session's callback", for: work) { notify(host.address, event) }
      }
    }
    session.isTextual = true
    return Handles.sessions.insert(session)
  }
}

@_cdecl("satchel_session_show") @implementation
public func satchel_session_show(_ session: OpaquePointer!, _ location: satchel_bytes) -> satchel_status {
  guarded { try Handles.sessions.borrow(session).show(location.location()) }
}

@_cdecl("satchel_session_handle") @implementation
public func satchel_session_handle(
  _ session: OpaquePointer!, _ section: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let receipt = try Handles.sessions.borrow(session).handle(section.raw("section"))
    if let out { try give(receipt.json, to: out) }
  }
}

@_cdecl("satchel_session_load") @implementation
public func satchel_session_load(_ session: OpaquePointer!, _ section: satchel_bytes) -> satchel_status {
  guarded { try Handles.sessions.borrow(session).load(section.text("section")) }
}

@_cdecl("satchel_session_refresh") @implementation
public func satchel_session_refresh(_ session: OpaquePointer!) -> satchel_status {
  guarded { try Handles.sessions.borrow(session).refresh() }
}

@_cdecl("satchel_session_fail") @implementation
public func satchel_session_fail(
  _ session: OpaquePointer!, _ section: satchel_bytes, _ reason: satchel_bytes
) -> satchel_status {
  guarded {
    try Handles.sessions.borrow(session).fail(section.text("section"), reason: reason.text("reason"))
  }
}

@_cdecl("satchel_session_set_order") @implementation
public func satchel_session_set_order(_ session: OpaquePointer!, _ names: satchel_bytes) -> satchel_status {
  guarded {
    let session = try Handles.sessions.borrow(session)
    try session.setOrder(names.textArray("names"))
  }
}

@_cdecl("satchel_session_state") @implementation
public func satchel_session_state(
  _ session: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.sessions.borrow(session).text(), to: $0) }
}

@_cdecl("satchel_session_free") @implementation
public func satchel_session_free(_ session: OpaquePointer!) {
  Handles.sessions.remove(session)?.end()
}
