import CSatchel
import Satchel

// MARK: Mirrors

@_cdecl("satchel_records_mirror") @implementation
public func satchel_records_mirror(
  _ records: OpaquePointer!, _ path: satchel_bytes, _ options: UnsafePointer<satchel_mirror_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let reader = try OptionsReader(options)
    let mode: MirrorMode
    switch reader.choice(\.mode) ?? SATCHEL_MIRROR_STORE_FIRST.rawValue {
    case SATCHEL_MIRROR_STORE_FIRST.rawValue: mode = .storeFirst
    case SATCHEL_MIRROR_FILE_FIRST.rawValue: mode = .fileFirst
    case let other: throw SatchelError(.invalid, "mode: \(other) is not a satchel_mirror_mode")
    }
    let prefer: MirrorPreference?
    switch reader.choice(\.prefer) ?? SATCHEL_PREFER_NONE.rawValue {
    case SATCHEL_PREFER_NONE.rawValue: prefer = nil
    case SATCHEL_PREFER_FILE.rawValue: prefer = .file
    case SATCHEL_PREFER_STORE.rawValue: prefer = .store
    case let other: throw SatchelError(.invalid, "prefer: \(other) is not a satchel_mirror_prefer")
    }
    let report = try Handles.records.borrow(records).mirror(path.text("path"), prefer: prefer, mode: mode)
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_records_verify_mirror") @implementation
public func satchel_records_verify_mirror(
  _ records: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    try give(.array(Handles.records.borrow(records).verifyMirror().map(\.json)), to: out)
  }
}

@_cdecl("satchel_records_rebuild") @implementation
public func satchel_records_rebuild(
  _ records: OpaquePointer!, _ which: satchel_rebuild, _ changed: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  changed?.pointee = 0
  return guarded {
    let collection = try Handles.records.borrow(records)
    let count: Int
    switch which {
    case SATCHEL_REBUILD_MIRROR: count = try collection.rebuildMirror()
    case SATCHEL_REBUILD_STORE: count = try collection.rebuildFromMirror()
    default: throw SatchelError(.invalid, "which: \(which.rawValue) is not a satchel_rebuild")
    }
    changed?.pointee = Int64(count)
  }
}

// MARK: Sync

@_cdecl("satchel_records_sync") @implementation
public func satchel_records_sync(
  _ records: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_record_sync_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let collection = try Handles.records.borrow(records)
    let store = try Handles.remotes.borrow(remote).store
    let reader = try OptionsReader(options)
    let progress = HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil)
    var syncOptions = try RecordSyncOptions(reader)
    syncOptions.cancellation = progress.cancellation
    let report = try collection.sync(with: store, user: UserID(user.text("user")), options: syncOptions) {
      progress.report($0.json)
    }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_records_detach") @implementation
public func satchel_records_detach(_ records: OpaquePointer!) -> satchel_status {
  guarded { try Handles.records.borrow(records).detach() }
}

@_cdecl("satchel_records_conflicts") @implementation
public func satchel_records_conflicts(
  _ records: OpaquePointer!, _ after: Int64, _ limit: Int32, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let conflicts = try Handles.records.borrow(records).conflicts(after: after, limit: Int(limit))
    let next = conflicts.count == limit ? conflicts.last?.id : nil
    try give(
      [
        "conflicts": .array(conflicts.map(\.json)), "next": next.map { .int($0) } ?? .null,
      ], to: out)
  }
}

@_cdecl("satchel_records_resolve") @implementation
public func satchel_records_resolve(
  _ records: OpaquePointer!, _ conflict: Int64, _ resolution: satchel_bytes
) -> satchel_status {
  guarded {
    let resolution = try RecordResolution(json: resolution.json("resolution"))
    try Handles.records.borrow(records).resolve(conflict, resolution)
  }
}

extension RecordSyncOptions {
  fileprivate init(_ reader: OptionsReader<satchel_record_sync_options>) throws {
    self.init()
    onConflict = try reader.conflictPolicy(\.on_conflict, default: .newestWins)
    isDryRun = reader.flag(\.dry_run)
    allowUnsafeRemote = reader.flag(\.allow_unsafe_remote)
    if let parallel = try reader.parallel(\.parallel) { self.parallel = parallel }
  }
}
