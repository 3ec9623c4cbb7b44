import CSatchel
import Satchel

@_cdecl("satchel_regions_create") @implementation
public func satchel_regions_create(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ definition: satchel_bytes
) -> satchel_status {
  guarded {
    let regions = try Handles.stores.borrow(store).catalogue.regions
    try regions.create(name.text("name"), definition.regionDefinition())
  }
}

@_cdecl("satchel_regions_define") @implementation
public func satchel_regions_define(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ definition: satchel_bytes
) -> satchel_status {
  guarded { try region(name, store).define(definition.regionDefinition()) }
}

@_cdecl("satchel_regions_list") @implementation
public func satchel_regions_list(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let regions = try Handles.stores.borrow(store).catalogue.regions.list()
    try give(.array(regions.map(\.json)), to: out)
  }
}

@_cdecl("satchel_regions_get") @implementation
public func satchel_regions_get(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in try give(region(name, store).summary().json, to: out) }
}

@_cdecl("satchel_regions_delete") @implementation
public func satchel_regions_delete(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let deletion = try region(name, store).delete()
    if let out { try give(deletion.json, to: out) }
  }
}

@_cdecl("satchel_regions_download") @implementation
public func satchel_regions_download(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ source: OpaquePointer!,
  _ options: UnsafePointer<satchel_region_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    // Handles are examined before names.
    _ = try Handles.stores.borrow(store)
    let source = try Handles.sources.borrow(source).source
    let region = try region(name, store)
    let reader = try OptionsReader(options)
    let host = HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil)
    var choices = RegionDownloadOptions()
    let parallel = reader.number(\.parallel, default: 0)
    if parallel != 0 { choices.parallel = Int(parallel) }
    let maxBytes = reader.number(\.max_bytes, default: 0)
    if maxBytes != 0 { choices.maxBytes = maxBytes }
    let report: @Sendable (RegionProgress) -> Bool = { host.report($0.json) }
    let result =
      try reader.flag(\.update)
      ? region.update(from: source, options: choices, progress: report, cancellation: host.cancellation)
      : region.download(from: source, options: choices, progress: report, cancellation: host.cancellation)
    if let out { try give(result.json, to: out) }
  }
}

@_cdecl("satchel_regions_export") @implementation
public func satchel_regions_export(
  _ store: OpaquePointer!, _ name: satchel_bytes, _ path: UnsafePointer<CChar>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let report = try region(name, store).export(to: text(path, "path"))
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_regions_import") @implementation
public func satchel_regions_import(
  _ store: OpaquePointer!, _ path: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let region = try Handles.stores.borrow(store).catalogue.regions.importRegion(text(path, "path"))
    if let out { try give(region.summary().json, to: out) }
  }
}

private func region(_ name: satchel_bytes, _ store: OpaquePointer?) throws -> Region {
  try Handles.stores.borrow(store).catalogue.regions.existing(name.text("name"))
}

extension satchel_bytes {
  fileprivate func regionDefinition() throws -> RegionDefinition {
    let bytes = try raw("definition")
    return try naming("definition") { try RegionDefinition(json: JSONValue(parsing: bytes)) }
  }
}
