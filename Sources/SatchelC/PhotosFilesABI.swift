import CSatchel
import Satchel

@_cdecl("satchel_photos_export_shard") @implementation
public func satchel_photos_export_shard(
  _ photos: OpaquePointer!, _ shard: Int32, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    var file = HostBuffer()
    try Handles.photos.borrow(photos).exportShard(
      index(of: shard), reserving: { file.reserve($0) }, to: { try file.append($0) })
    try file.give(to: out)
  }
}

@_cdecl("satchel_photos_import_shard") @implementation
public func satchel_photos_import_shard(
  _ photos: OpaquePointer!, _ shard: Int32, _ file: satchel_bytes, _ policy: satchel_sync_policy,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.photos.borrow(photos)
    let report = try catalogue.importShard(
      index(of: shard), file.raw("file"), policy: SyncPolicy(policy.rawValue))
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_photos_export_directory") @implementation
public func satchel_photos_export_directory(
  _ photos: OpaquePointer!, _ path: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let report = try Handles.photos.borrow(photos).exportDirectory(path.text("path"))
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_photos_import_directory") @implementation
public func satchel_photos_import_directory(
  _ photos: OpaquePointer!, _ path: satchel_bytes, _ policy: satchel_sync_policy,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.photos.borrow(photos)
    let report = try catalogue.importDirectory(path.text("path"), policy: SyncPolicy(policy.rawValue))
    if let out { try give(report.json, to: out) }
  }
}

private func index(of shard: Int32) throws -> Shard.Index {
  guard let index = Shard.Index(Int(shard)) else {
    throw SatchelError(.invalid, "shard: \(shard) is none of 0 to 15")
  }
  return index
}

extension SyncPolicy {
  /// The policy that a number of the header stands for.
  init(_ number: satchel_sync_policy.RawValue) throws {
    switch satchel_sync_policy(rawValue: number) {
    case SATCHEL_SYNC_REMOTE_WINS: self = .remoteWins
    case SATCHEL_SYNC_MERGE_ROWS: self = .mergeRows
    default: throw SatchelError(.invalid, "policy: \(number) is unknown")
    }
  }
}
