import CSatchel
import Satchel
import SatchelCore

@_cdecl("satchel_catalogue_refresh") @implementation
public func satchel_catalogue_refresh(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ sections: satchel_bytes, _ source: OpaquePointer!,
  _ options: UnsafePointer<satchel_refresh_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let (wanted, progress) = try RefreshOptions.read(options)
    let catalogue = try Handles.stores.borrow(store).catalogue
    let source = try Handles.sources.borrow(source).source
    let names = sections.data == nil ? nil : try sections.textArray("sections")
    let report = try catalogue.refresh(
      location.location(), sections: names, from: source, options: wanted,
      cancellation: progress.cancellationOrInterrupt)
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_catalogue_load_from") @implementation
public func satchel_catalogue_load_from(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ section: satchel_bytes, _ source: OpaquePointer!,
  _ options: UnsafePointer<satchel_read_options>!, _ refresh: UnsafePointer<satchel_refresh_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (wanted, progress) = try RefreshOptions.read(refresh)
    let catalogue = try Handles.stores.borrow(store).catalogue
    let source = try Handles.sources.borrow(source).source
    let reader = try OptionsReader(options)
    let found = try catalogue.load(
      section.text("section"), at: location.location(), from: source, options: wanted,
      inherit: reader.flag(\.inherit, default: true), nearby: reader.nearby,
      cancellation: progress.cancellationOrInterrupt)
    if let found { try give(found.json, to: out) }
  }
}

extension RefreshOptions {
  static func read(_ options: UnsafePointer<satchel_refresh_options>?) throws -> (Self, HostProgress) {
    let reader = try OptionsReader(options)
    var wanted = RefreshOptions()
    wanted.force = reader.flag(\.force)
    wanted.staleAfter = reader.number(\.stale_after, default: wanted.staleAfter)
    wanted.network = hostNetwork(
      reader.value(\.network) ?? nil,
      HostContext(reader.value(\.network_context) ?? nil, reader.value(\.release_network) ?? nil))
    return (wanted, HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil))
  }
}

/// The host's function that reports the network; nil where it gave none.
func hostNetwork(_ ask: satchel_network_callback?, _ host: HostContext) -> (@Sendable () -> Network)? {
  guard let ask else { return nil }
  // By the header's contract the host's function may be called on any thread.
  nonisolated(unsafe) let called = ask
  return {
    switch HostWork.calling("a function that reports the network", { called(host.address) }) {
    case SATCHEL_NETWORK_NONE: .none
    case SATCHEL_NETWORK_METERED: .metered
    default: .free
    }
  }
}

extension HostProgress {
  /// The cancellation by the host's callback, which gets an empty object, or by an interrupt of this thread.
  fileprivate var cancellationOrInterrupt: Cancellation {
    _ = report([:])
    let cancellation = cancellation
    return Cancellation { InterruptibleCall.mustStop || cancellation.isCancelled() }
  }
}
