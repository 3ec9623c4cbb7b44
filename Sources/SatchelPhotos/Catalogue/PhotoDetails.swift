import SatchelJSON

/// A photo with its local columns.
public struct PhotoDetails: Sendable, Equatable {
  public var photo: Photo
  /// Whether it has a star: its file is in the remote, or is to be. Synchronizing rows sets no star.
  public var isStarred: Bool
  /// Whether the remote did not have it at the last sync.
  public var isLocalOnly: Bool
  public var backup: BackupStatus
  /// The number of started uploads.
  public var attempts: Int64
  /// When the last upload was started, or ended: Unix milliseconds.
  public var lastAttempt: Int64?
  /// The reason why the last upload failed.
  public var error: String?
  /// The source of the date, if a scan of this device has found it; nil for a date that another device or a
  /// program has set.
  public var dateSource: PhotoDateSource?
  public var metadata: PhotoMetadata

  public var md5: MD5 { photo.md5 }

  init(_ photo: Photo, local: LocalRow?, isOnRemote: Bool) {
    self.photo = photo
    isStarred = local?.isStarred ?? false
    isLocalOnly = !isOnRemote
    backup = local?.backup ?? .notBackedUp
    attempts = local?.attempts ?? 0
    lastAttempt = local?.lastAttempt
    error = local?.error
    dateSource = local?.source(of: photo)
    metadata = local?.metadata ?? PhotoMetadata()
  }
}

extension PhotoDetails: JSONConvertible {
  /// The photo as a JSON object: its members, starred, local_only, backup_status, attempts, last_attempt,
  /// error, photodate_source, and those of its metadata.
  public var json: JSONValue {
    var object = photo.members
    object["starred"] = .bool(isStarred)
    object["local_only"] = .bool(isLocalOnly)
    object["backup_status"] = .string(backup.rawValue)
    object["attempts"] = .int(attempts)
    object["last_attempt"] = lastAttempt.map { .int($0) } ?? .null
    object["error"] = error.map { .string($0) } ?? .null
    object["photodate_source"] = dateSource.map { .string($0.rawValue) } ?? .null
    metadata.write(into: &object)
    return .object(object)
  }
}
