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
    isLocalOnly = !isOnRemote
    guard let local else {
      (isStarred, backup, attempts, metadata) = (false, .notBackedUp, 0, PhotoMetadata())
      return
    }
    isStarred = local.isStarred
    backup = local.backup
    attempts = local.attempts
    lastAttempt = local.lastAttempt
    error = local.error
    dateSource = local.source(of: photo)
    metadata = local.metadata
  }
}

extension PhotoDetails: JSONConvertible {
  /// The photo as a JSON object: its members, starred, local_only, backup_status, attempts, last_attempt,
  /// error, photodate_source, and those of its metadata.
  public var json: JSONValue {
    var members = JSONMemberList()
    add(to: &members)
    return members.json
  }

  /// Passes the same as text to `body`.
  package func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    var writer = JSONMemberWriter()
    write(to: &writer)
    return try writer.withText(body)
  }

  func write(to writer: inout JSONMemberWriter) {
    writer.beginObject()
    add(to: &writer)
    writer.endObject()
  }

  private func add(to members: inout some (JSONMemberSink & ~Copyable)) {
    photo.add(to: &members)
    members.add("starred", isStarred)
    members.add("local_only", isLocalOnly)
    members.add("backup_status", backup.rawValue)
    members.add("attempts", attempts)
    members.add("last_attempt", lastAttempt)
    members.add("error", error)
    members.add("photodate_source", dateSource?.rawValue)
    metadata.add(to: &members)
  }
}
