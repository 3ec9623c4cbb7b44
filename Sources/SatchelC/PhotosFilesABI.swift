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
  _ photos: OpaquePointer!, _ shard: Int32, _ file: satchel_bytes, _ onConflict: satchel_conflict_policy,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.photos.borrow(photos)
    let report = try catalogue.importShard(
      index(of: shard), file.raw("file"),
      onConflict: ConflictPolicy(named: onConflict.rawValue) ?? .remoteWins)
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
  _ photos: OpaquePointer!, _ path: satchel_bytes, _ onConflict: satchel_conflict_policy,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.photos.borrow(photos)
    let report = try catalogue.importDirectory(
      path.text("path"), onConflict: ConflictPolicy(named: onConflict.rawValue) ?? .remoteWins)
    if let out { try give(report.json, to: out) }
  }
}

private func index(of shard: Int32) throws -> Shard.Index {
  guard let index = Shard.Index(Int(shard)) else {
    throw SatchelError(.invalid, "shard: \(shard) is not in 0 to 15")
  }
  return index
}

@_cdecl("satchel_photos_scan") @implementation
public func satchel_photos_scan(
  _ photos: OpaquePointer!, _ options: UnsafePointer<satchel_scan_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.photos.borrow(photos)
    let reader = try OptionsReader(options)
    let progress = HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil)
    let scanOptions = try ScanOptions(reader)
    let report = try HostWork.on(HostWork.Resource(ObjectIdentifier(catalogue.database))) {
      try catalogue.scan(options: scanOptions) { progress.report($0.json) }
    }
    if let out { try give(report.json, to: out) }
  }
}

extension ScanOptions {
  fileprivate init(_ reader: OptionsReader<satchel_scan_options>) throws {
    let zone = try reader.value(\.time_zone)?.text("time_zone") ?? ""
    let parallel = try reader.parallel(\.parallel)
    self.init(
      timeZone: zone.isEmpty ? .utc : try PhotoTimeZone(zone), deleteMissing: reader.flag(\.delete_missing),
      forceRehash: reader.flag(\.force_rehash), exclude: try reader.value(\.exclude)?.text("exclude") ?? "",
      allowMassDeletion: reader.flag(\.allow_mass_deletion),
      embeddedDatesOnly: reader.flag(\.embedded_dates_only))
    if let parallel { self.parallel = parallel }
  }
}
