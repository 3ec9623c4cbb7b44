import CSatchel
import Satchel

@_cdecl("satchel_store_sync") @implementation
public func satchel_store_sync(
  _ store: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_store_sync_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let store = try Handles.stores.borrow(store)
    let objects = try Handles.remotes.borrow(remote).store
    let reader = try OptionsReader(options)
    let progress = HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil)
    var syncOptions = StoreSyncOptions()
    syncOptions.isDryRun = reader.flag(\.dry_run)
    syncOptions.acceptLoss = reader.flag(\.accept_loss)
    if let parallel = try reader.parallel(\.parallel) { syncOptions.parallel = parallel }
    syncOptions.cancellation = progress.cancellation
    let report = try store.sync(with: objects, user: UserID(user.text("user")), options: syncOptions) {
      progress.report($0.json)
    }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_store_detach") @implementation
public func satchel_store_detach(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).detach() }
}
