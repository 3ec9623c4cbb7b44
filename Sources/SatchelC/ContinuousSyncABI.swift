import CSatchel
import Satchel
import SatchelCore

@_cdecl("satchel_store_run_sync") @implementation
public func satchel_store_run_sync(
  _ store: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_store_sync_options>!,
  _ continuous: UnsafePointer<satchel_continuous_sync_options>!,
  _ callback: satchel_continuous_sync_callback!, _ context: UnsafeMutableRawPointer!,
  _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  let host = HostContext(context, release)
  return guarded(returning: out, orElse: nil) {
    let reader = try OptionsReader(continuous)
    let network = hostNetwork(
      reader.value(\.network) ?? nil,
      HostContext(reader.value(\.network_context) ?? nil, reader.value(\.release_network) ?? nil))
    let store = try Handles.stores.borrow(store)
    let remote = try Handles.remotes.borrow(remote).store
    let (single, progress) = try hostOptions(options)
    guard progress.isUnused else {
      throw SatchelError(.invalid, "progress: is for a single sync, and not for keeping a store in sync")
    }
    let every = reader.number(\.every, default: 60)
    let work = store.work
    let notify = callback
    let sync = try store.runSync(
      with: remote, user: UserID(user.text("user")), options: StoreSyncOptions(single, progress),
      every: every == 0 ? nil : every, network: network ?? { .free }
    ) { status in
      guard let notify else { return }
      lend(status.json) { status in
        HostWork.calling("the callback of a continuous sync", for: work) { notify(host.address, status) }
      }
    }
    return Handles.continuousSyncs.insert(sync)
  }
}

@_cdecl("satchel_continuous_sync_request") @implementation
public func satchel_continuous_sync_request(_ sync: OpaquePointer!) -> satchel_status {
  guarded { try Handles.continuousSyncs.borrow(sync).request() }
}

@_cdecl("satchel_continuous_sync_status") @implementation
public func satchel_continuous_sync_status(
  _ sync: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.continuousSyncs.borrow(sync).status.json, to: $0) }
}

@_cdecl("satchel_continuous_sync_free") @implementation
public func satchel_continuous_sync_free(_ sync: OpaquePointer!) {
  Handles.continuousSyncs.remove(sync)?.stop()
}
