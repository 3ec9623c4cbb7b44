/// A photo with all that is known of it.
public struct PhotoDetails: Sendable, Equatable {
  public var photo: Photo
  /// Whether it has a star: set here, else because the master holds it.
  public var isStarred: Bool
  /// Whether the master did not hold it at the last agreement.
  public var isLocalOnly: Bool
  public var backup: BackupStatus
  /// How often an upload was begun.
  public var attempts: Int64
  /// When the last upload was begun, or ended: Unix milliseconds.
  public var lastAttempt: Int64?
  /// Why the last upload failed.
  public var error: String?
  public var metadata: PhotoMetadata

  public var md5: MD5 { photo.md5 }

  init(_ photo: Photo, local: LocalRow?, isAgreed: Bool) {
    self.photo = photo
    isStarred = local?.isStarred ?? isAgreed
    isLocalOnly = !isAgreed
    backup = local?.backup ?? .notBackedUp
    attempts = local?.attempts ?? 0
    lastAttempt = local?.lastAttempt
    error = local?.error
    metadata = local?.metadata ?? PhotoMetadata()
  }
}
