import CSatchel
import Satchel

@_cdecl("satchel_interrupt_new") @implementation
public func satchel_interrupt_new(
  _ options: UnsafePointer<satchel_interrupt_options>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  out?.pointee = nil
  return guarded {
    // Created first, so that `release` is called on every path.
    let reader = try OptionsReader(options)
    let context = HostContext(reader.value(\.context) ?? nil, reader.value(\.release) ?? nil)
    guard let out else { throw SatchelError(.invalid, "out is NULL") }
    let timeout: Interrupt.Timeout
    switch reader.number(\.timeout_ms, default: 0) {
    case -1: timeout = .never
    case 0: timeout = .ofStore
    case let limit where limit > 0: timeout = .milliseconds(limit)
    case let other: throw SatchelError(.invalid, "options: timeout_ms: \(other) is less than -1")
    }
    guard let check = reader.value(\.check) ?? nil else {
      out.pointee = Handles.interrupts.insert(Interrupt(timeout: timeout))
      return
    }
    // Only called on threads that the host attaches it to.
    nonisolated(unsafe) let hostCheck = check
    out.pointee = Handles.interrupts.insert(
      Interrupt(timeout: timeout) { hostCheck(context.address) })
  }
}

@_cdecl("satchel_interrupt_attach") @implementation
public func satchel_interrupt_attach(_ interrupt: OpaquePointer!) -> satchel_status {
  guarded {
    Interrupt.attach(try interrupt.map { try Handles.interrupts.borrow($0) })
  }
}

@_cdecl("satchel_interrupt_cancel") @implementation
public func satchel_interrupt_cancel(_ interrupt: OpaquePointer!) -> satchel_status {
  guarded { try Handles.interrupts.borrow(interrupt).cancel() }
}

@_cdecl("satchel_interrupt_free") @implementation
public func satchel_interrupt_free(_ interrupt: OpaquePointer!) {
  _ = Handles.interrupts.remove(interrupt)
}
