/// What is known of a photo here only.
struct LocalRow {
  var isStarred: Bool?
  var backup = BackupStatus.notBackedUp
  /// Its place in the queue, while it is in there.
  var queued: Int64?
  var owner: String?
  var attempts: Int64 = 0
  var lastAttempt: Int64?
  var error: String?
  var metadata = PhotoMetadata()
}
