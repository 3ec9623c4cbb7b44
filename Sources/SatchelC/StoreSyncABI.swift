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
    let (options, progress) = try StoreSyncOptions.read(options)
    let report = try store.sync(with: objects, user: UserID(user.text("user")), options: options) {
      progress.report($0.json)
    }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_store_rekey") @implementation
public func satchel_store_rekey(
  _ store: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_store_sync_options>!, _ key: satchel_bytes,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let store = try Handles.stores.borrow(store)
    let objects = try Handles.remotes.borrow(remote).store
    let (options, _) = try StoreSyncOptions.read(options)
    let key = key.size == 0 ? nil : Array(try key.raw("key"))
    let report = try store.rekey(objects, user: UserID(user.text("user")), options: options, to: key)
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_store_detach") @implementation
public func satchel_store_detach(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).detach() }
}

extension StoreSyncOptions {
  fileprivate static func read(
    _ options: UnsafePointer<satchel_store_sync_options>?
  ) throws -> (StoreSyncOptions, HostProgress) {
    let reader = try OptionsReader(options)
    let progress = HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil)
    var result = StoreSyncOptions()
    result.isDryRun = reader.flag(\.dry_run)
    result.acceptLoss = reader.flag(\.accept_loss)
    result.verify = reader.flag(\.verify)
    result.purge = reader.flag(\.purge)
    if let parallel = try reader.parallel(\.parallel) { result.parallel = parallel }
    if let key = reader.value(\.key), key.size > 0 { result.key = Array(try key.raw("key")) }
    result.cancellation = progress.cancellation
    return (result, progress)
  }
}
