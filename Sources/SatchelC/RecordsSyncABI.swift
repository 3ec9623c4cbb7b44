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
    let format: MirrorFormat
    switch reader.choice(\.format) ?? SATCHEL_FORMAT_PLAIN.rawValue {
    case SATCHEL_FORMAT_PLAIN.rawValue:
      let member = try (reader.value(\.id_member) ?? satchel_bytes()).text("id_member")
      format = .plain(idMember: member.isEmpty ? nil : member)
    case SATCHEL_FORMAT_CHECKSUMMED.rawValue: format = .checksummed
    case let other: throw SatchelError(.invalid, "format: \(other) is not a satchel_mirror_format")
    }
    let report = try Handles.records.borrow(records).mirror(
      path.text("path"), prefer: prefer, format: format, mode: mode)
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
  guarded(storing: changed) {
    let collection = try Handles.records.borrow(records)
    let count: Int
    switch which {
    case SATCHEL_REBUILD_MIRROR: count = try collection.rebuildMirror()
    case SATCHEL_REBUILD_STORE: count = try collection.rebuildFromMirror()
    default: throw SatchelError(.invalid, "which: \(which.rawValue) is not a satchel_rebuild")
    }
    return Int64(count)
  }
}

// MARK: Clearing

@_cdecl("satchel_records_clear") @implementation
public func satchel_records_clear(
  _ records: OpaquePointer!, _ count: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: count) {
    try Int64(Handles.records.borrow(records).clear())
  }
}

@_cdecl("satchel_store_drop_collection") @implementation
public func satchel_store_drop_collection(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ discard_unsent: Bool
) -> satchel_status {
  guarded {
    try Handles.stores.borrow(store).dropCollection(name.text("name"), discardingUnsent: discard_unsent)
  }
}

// MARK: Conflicts

@_cdecl("satchel_records_conflicts") @implementation
public func satchel_records_conflicts(
  _ records: OpaquePointer!, _ after: Int64, _ limit: Int32, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  conflicts(limit, out) { try Handles.records.borrow(records).conflicts(after: after, limit: $0) }
}

@_cdecl("satchel_records_resolve") @implementation
public func satchel_records_resolve(
  _ records: OpaquePointer!, _ conflict: Int64, _ resolution: satchel_bytes
) -> satchel_status {
  guarded {
    let resolution = try ConflictResolution(json: resolution.json("resolution"))
    try Handles.records.borrow(records).resolve(conflict, resolution)
  }
}
