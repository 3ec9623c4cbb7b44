import CSatchel
import Satchel

@_cdecl("satchel_photos_set_local") @implementation
public func satchel_photos_set_local(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ columns: satchel_bytes
) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).setLocal(md5.md5(), json: columns.json("columns")) }
}

@_cdecl("satchel_photos_star") @implementation
public func satchel_photos_star(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ starred: Bool
) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).star(md5.md5(), starred) }
}

@_cdecl("satchel_photos_backup_queue") @implementation
public func satchel_photos_backup_queue(_ photos: OpaquePointer!, _ md5: satchel_bytes) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).queueBackup(md5.md5()) }
}

@_cdecl("satchel_photos_backup_claim") @implementation
public func satchel_photos_backup_claim(
  _ photos: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.photos.borrow(photos).claimBackup()?.json ?? .null, to: $0) }
}

@_cdecl("satchel_photos_backup_done") @implementation
public func satchel_photos_backup_done(_ photos: OpaquePointer!, _ md5: satchel_bytes) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).finishBackup(md5.md5()) }
}

@_cdecl("satchel_photos_backup_failed") @implementation
public func satchel_photos_backup_failed(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ error: satchel_bytes
) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).failBackup(md5.md5(), reason: error.text("error")) }
}
