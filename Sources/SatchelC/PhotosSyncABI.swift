import CSatchel
import Satchel

@_cdecl("satchel_photos_sync") @implementation
public func satchel_photos_sync(
  _ photos: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_sync_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.photos.borrow(photos)
    let store = try Handles.remotes.borrow(remote).store
    let reader = try OptionsReader(options)
    let progress = HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil)
    var syncOptions = try SyncOptions(reader)
    syncOptions.cancellation = progress.cancellation
    let report = try catalogue.sync(with: store, user: UserID(user.text("user")), options: syncOptions) {
      progress.report($0.json)
    }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_photos_verify") @implementation
public func satchel_photos_verify(
  _ photos: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_verify_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.photos.borrow(photos)
    let store = try Handles.remotes.borrow(remote).store
    let reader = try OptionsReader(options)
    let progress = HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil)
    var syncOptions = SyncOptions()
    syncOptions.allowUnsafeRemote = reader.flag(\.allow_unsafe_remote)
    if let parallel = try reader.parallel(\.parallel) { syncOptions.parallel = parallel }
    syncOptions.cancellation = progress.cancellation
    let report = try catalogue.verify(
      store, user: UserID(user.text("user")), repair: reader.flag(\.repair), options: syncOptions
    ) { progress.report($0.json) }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_photos_detach") @implementation
public func satchel_photos_detach(_ photos: OpaquePointer!) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).detach() }
}

@_cdecl("satchel_photos_conflicts") @implementation
public func satchel_photos_conflicts(
  _ photos: OpaquePointer!, _ after: Int64, _ limit: Int32, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let conflicts = try Handles.photos.borrow(photos).conflicts(after: after, limit: Int(limit))
    let next = conflicts.count == limit ? conflicts.last?.id : nil
    try give(
      [
        "conflicts": .array(conflicts.map(\.json)), "next": next.map { .int($0) } ?? .null,
      ], to: out)
  }
}

@_cdecl("satchel_photos_reapply") @implementation
public func satchel_photos_reapply(_ photos: OpaquePointer!, _ conflict: Int64) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).reapply(conflict) }
}

@_cdecl("satchel_photos_dismiss") @implementation
public func satchel_photos_dismiss(_ photos: OpaquePointer!, _ conflict: Int64) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).dismiss(conflict) }
}

extension SyncOptions {
  fileprivate init(_ reader: OptionsReader<satchel_sync_options>) throws {
    self.init()
    onConflict = try reader.conflictPolicy(\.on_conflict)
    isDryRun = reader.flag(\.dry_run)
    allowUnsafeRemote = reader.flag(\.allow_unsafe_remote)
    if let parallel = try reader.parallel(\.parallel) { self.parallel = parallel }
  }
}
