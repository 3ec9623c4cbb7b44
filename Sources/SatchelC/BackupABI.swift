import CSatchel
import Satchel

@_cdecl("satchel_store_backup") @implementation
public func satchel_store_backup(
  _ store: OpaquePointer!, _ path: UnsafePointer<CChar>!, _ assets: Bool,
  _ progress: satchel_progress_callback!, _ context: UnsafeMutableRawPointer!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let host = HostProgress(progress, context)
    let (store, path) = (try Handles.stores.borrow(store), try text(path, "path"))
    let report = try store.backup(to: path, assets: assets) { done, total in
      host.report(["pages_done": .int(Int64(done)), "pages_total": .int(Int64(total))])
    }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_store_backup_rotate") @implementation
public func satchel_store_backup_rotate(
  _ store: OpaquePointer!, _ directory: UnsafePointer<CChar>!, _ keep: Int32, _ assets: Bool,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let report = try Handles.stores.borrow(store).backup(
      into: text(directory, "directory"), keeping: Int(keep), assets: assets)
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_store_compact") @implementation
public func satchel_store_compact(
  _ store: OpaquePointer!, _ progress: satchel_progress_callback!, _ context: UnsafeMutableRawPointer!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let host = HostProgress(progress, context)
    let report = try Handles.stores.borrow(store).compact { done, total in
      host.report(["pages_done": .int(Int64(done)), "pages_total": .int(Int64(total))])
    }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_store_restore") @implementation
public func satchel_store_restore(
  _ backup: UnsafePointer<CChar>!, _ path: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let quarantine = try Store.restore(text(backup, "backup"), to: text(path, "path"))
    if let out { try give(["quarantined": quarantine.map { .string($0) } ?? .null], to: out) }
  }
}

@_cdecl("satchel_store_recover") @implementation
public func satchel_store_recover(
  _ damaged: UnsafePointer<CChar>!, _ path: UnsafePointer<CChar>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let report = try Store.recover(text(damaged, "damaged"), into: text(path, "path"))
    if let out { try give(report.json, to: out) }
  }
}
