import CSatchel
import Satchel

@_cdecl("satchel_photos_backup_refresh") @implementation
public func satchel_photos_backup_refresh(
  _ photos: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_photo_backup_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    var options = PhotoBackupOptions()
    try options.read(reader, progress)
    return try Handles.photos.borrow(photos).refreshBackups(
      with: remote, user: user, queueMissing: reader.flag(\.queue_missing), reading: reader.flag(\.read),
      abortingUploads: reader.flag(\.abort_uploads), options: options
    ) { progress.report($0.json) }
  }
}

@_cdecl("satchel_photos_backup_run") @implementation
public func satchel_photos_backup_run(
  _ photos: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_photo_backup_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    var options = PhotoBackupOptions()
    try options.read(reader, progress)
    options.all = reader.flag(\.all)
    options.recreate = reader.flag(\.recreate)
    return try Handles.photos.borrow(photos).runBackup(with: remote, user: user, options: options) {
      progress.report($0.json)
    }
  }
}

@_cdecl("satchel_photos_backup_restore") @implementation
public func satchel_photos_backup_restore(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ path: satchel_bytes, _ remote: OpaquePointer!,
  _ user: satchel_bytes, _ options: UnsafePointer<satchel_photo_backup_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    var options = PhotoBackupOptions()
    try options.read(reader, progress)
    return try Handles.photos.borrow(photos).restoreBackup(
      of: md5.md5(), to: path.text("path"), from: remote, user: user, options: options
    ) { progress.report($0.json) }
  }
}

@_cdecl("satchel_photos_backup_restore_all") @implementation
public func satchel_photos_backup_restore_all(
  _ photos: OpaquePointer!, _ directory: satchel_bytes, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_photo_backup_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    var options = PhotoRestoreOptions()
    try options.backup.read(reader, progress)
    if directory.size > 0 { options.target = try directory.text("directory") }
    options.onlyMissing = !reader.flag(\.existing_too)
    options.withFolders = !reader.flag(\.without_folders)
    return try Handles.photos.borrow(photos).restoreAll(from: remote, user: user, options: options) {
      progress.report($0.json)
    }
  }
}

@_cdecl("satchel_photos_backup_delete") @implementation
public func satchel_photos_backup_delete(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_photo_backup_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    var options = PhotoBackupOptions()
    try options.read(reader, progress)
    return PhotoBackupDeletion(
      isDeleted: try Handles.photos.borrow(photos).deleteBackup(
        of: md5.md5(), from: remote, user: user, options: options))
  }
}

/// The answer to a deletion.
private struct PhotoBackupDeletion: JSONConvertible {
  var isDeleted: Bool
  var json: JSONValue { ["deleted": .bool(isDeleted)] }
}

extension satchel_photo_backup_options: HostSyncOptions {
  static var progressField: KeyPath<Self, satchel_progress_callback?> { \.progress }
  static var contextField: KeyPath<Self, UnsafeMutableRawPointer?> { \.context }
  static var parallelField: KeyPath<Self, Int32> { \.parallel }
}
