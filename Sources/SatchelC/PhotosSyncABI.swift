import CSatchel
import Satchel

@_cdecl("satchel_photos_sync") @implementation
public func satchel_photos_sync(
  _ photos: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_sync_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    var options = SyncOptions()
    options.onConflict = try reader.conflictPolicy(\.on_conflict)
    options.isDryRun = reader.flag(\.dry_run)
    options.allowUnsafeRemote = reader.flag(\.allow_unsafe_remote)
    options.first = try FirstSync(named: reader.choice(\.first))
    options.recreate = reader.flag(\.recreate)
    try options.read(reader, progress)
    return try Handles.photos.borrow(photos).sync(with: remote, user: user, options: options) {
      progress.report($0.json)
    }
  }
}

@_cdecl("satchel_photos_verify") @implementation
public func satchel_photos_verify(
  _ photos: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_verify_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    var options = SyncOptions()
    options.allowUnsafeRemote = reader.flag(\.allow_unsafe_remote)
    try options.read(reader, progress)
    return try Handles.photos.borrow(photos).verify(
      remote, user: user, repair: reader.flag(\.repair), options: options
    ) { progress.report($0.json) }
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
  conflicts(limit, out) { try Handles.photos.borrow(photos).conflicts(after: after, limit: $0) }
}

@_cdecl("satchel_photos_resolve") @implementation
public func satchel_photos_resolve(
  _ photos: OpaquePointer!, _ conflict: Int64, _ resolution: satchel_bytes
) -> satchel_status {
  guarded {
    let resolution = try ConflictResolution(json: resolution.json("resolution"))
    try Handles.photos.borrow(photos).resolve(conflict, resolution)
  }
}

extension satchel_sync_options: HostSyncOptions {
  static var progressField: KeyPath<Self, satchel_progress_callback?> { \.progress }
  static var contextField: KeyPath<Self, UnsafeMutableRawPointer?> { \.context }
  static var parallelField: KeyPath<Self, Int32> { \.parallel }
}

extension satchel_verify_options: HostSyncOptions {
  static var progressField: KeyPath<Self, satchel_progress_callback?> { \.progress }
  static var contextField: KeyPath<Self, UnsafeMutableRawPointer?> { \.context }
  static var parallelField: KeyPath<Self, Int32> { \.parallel }
}
