import CSatchel
import Satchel

// MARK: Transactions

@_cdecl("satchel_store_begin") @implementation
public func satchel_store_begin(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).begin() }
}

@_cdecl("satchel_store_commit") @implementation
public func satchel_store_commit(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).commit() }
}

@_cdecl("satchel_store_rollback") @implementation
public func satchel_store_rollback(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).rollback() }
}

@_cdecl("satchel_store_batch") @implementation
public func satchel_store_batch(
  _ store: OpaquePointer!, _ batch: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  batch?.pointee = 0
  return guarded {
    guard let batch else { throw SatchelError(.invalid, "batch is NULL") }
    batch.pointee = try Handles.stores.borrow(store).carriedBatch ?? 0
  }
}

@_cdecl("satchel_store_enter") @implementation
public func satchel_store_enter(_ store: OpaquePointer!, _ batch: Int64) -> satchel_status {
  guarded { try Handles.stores.borrow(store).enter(batch) }
}

@_cdecl("satchel_store_leave") @implementation
public func satchel_store_leave(_ store: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stores.borrow(store).leave() }
}

// MARK: Backups

@_cdecl("satchel_store_backup") @implementation
public func satchel_store_backup(
  _ store: OpaquePointer!, _ path: UnsafePointer<CChar>!, _ progress: satchel_progress_callback!,
  _ context: UnsafeMutableRawPointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let host = HostProgress(progress, context)
    let (store, path) = (try Handles.stores.borrow(store), try text(path, "path"))
    let report = try HostWork.on(store.work) {
      try store.backup(to: path) { done, total in
        host.report(["pages_done": .int(Int64(done)), "pages_total": .int(Int64(total))])
      }
    }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_store_backup_rotate") @implementation
public func satchel_store_backup_rotate(
  _ store: OpaquePointer!, _ directory: UnsafePointer<CChar>!, _ keep: Int32,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let report = try Handles.stores.borrow(store).backup(
      into: text(directory, "directory"), keeping: Int(keep))
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_restore") @implementation
public func satchel_restore(
  _ backup: UnsafePointer<CChar>!, _ path: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let setAside = try Satchel.restore(text(backup, "backup"), to: text(path, "path"))
    if let out { try give(["set_aside": setAside.map { .string($0) } ?? .null], to: out) }
  }
}

@_cdecl("satchel_recover") @implementation
public func satchel_recover(
  _ damaged: UnsafePointer<CChar>!, _ path: UnsafePointer<CChar>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let report = try Satchel.recover(text(damaged, "damaged"), into: text(path, "path"))
    if let out { try give(report.json, to: out) }
  }
}

/// A path as the host gives it.
func text(_ path: UnsafePointer<CChar>?, _ name: StaticString) throws -> String {
  guard let path else { throw SatchelError(.invalid, "\(name) is NULL") }
  guard let text = String(validatingCString: path) else {
    throw SatchelError(.invalid, "\(name): invalid UTF-8")
  }
  return text
}
