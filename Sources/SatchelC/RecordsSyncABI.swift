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
    let given = try OptionsReader(options)
    let mode: MirrorMode
    switch given.choice(\.mode) ?? SATCHEL_MIRROR_STORE_FIRST.rawValue {
    case SATCHEL_MIRROR_STORE_FIRST.rawValue: mode = .storeFirst
    case SATCHEL_MIRROR_FILE_FIRST.rawValue: mode = .fileFirst
    case let other: throw SatchelError(.invalid, "mode: \(other) is none")
    }
    let prefer: MirrorPreference?
    switch given.choice(\.prefer) ?? SATCHEL_PREFER_NONE.rawValue {
    case SATCHEL_PREFER_NONE.rawValue: prefer = nil
    case SATCHEL_PREFER_FILE.rawValue: prefer = .file
    case SATCHEL_PREFER_STORE.rawValue: prefer = .store
    case let other: throw SatchelError(.invalid, "prefer: \(other) is none")
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
    default: throw SatchelError(.invalid, "which: \(which.rawValue) is none")
    }
    changed?.pointee = Int64(count)
  }
}

// MARK: Agreement

@_cdecl("satchel_records_sync") @implementation
public func satchel_records_sync(
  _ records: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_record_sync_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let collection = try Handles.records.borrow(records)
    let store = try Handles.remotes.borrow(remote).store
    let given = try OptionsReader(options)
    let progress = HostProgress(given.value(\.progress) ?? nil, given.value(\.context) ?? nil)
    var wanted = try RecordSyncOptions(given)
    wanted.cancellation = progress.cancellation
    let report = try collection.sync(with: store, user: UserID(user.text("user")), options: wanted) {
      progress.report($0.json)
    }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_records_unlink") @implementation
public func satchel_records_unlink(_ records: OpaquePointer!) -> satchel_status {
  guarded { try Handles.records.borrow(records).unlink() }
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
  fileprivate init(_ given: OptionsReader<satchel_record_sync_options>) throws {
    self.init()
    strategy = try RecordSyncStrategy(given.choice(\.strategy) ?? SATCHEL_STRATEGY_NEWEST_WINS.rawValue)
    isDryRun = given.flag(\.dry_run)
    acceptsUnconditional = given.flag(\.accepts_unconditional)
    if let parallel = try given.parallel(\.parallel) { self.parallel = parallel }
  }
}

extension RecordSyncStrategy {
  fileprivate init(_ number: satchel_sync_strategy.RawValue) throws {
    switch satchel_sync_strategy(rawValue: number) {
    case SATCHEL_STRATEGY_NEWEST_WINS: self = .newestWins
    case SATCHEL_STRATEGY_REMOTE_WINS: self = .remoteWins
    case SATCHEL_STRATEGY_LOCAL_WINS: self = .localWins
    case SATCHEL_STRATEGY_MERGE: self = .merge
    case SATCHEL_STRATEGY_ASK: self = .ask
    default: throw SatchelError(.invalid, "options: strategy \(number) is none")
    }
  }
}
