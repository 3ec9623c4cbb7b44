/// The sizes of a WAL and of its database, in bytes.
struct WALSize {
  var wal: Int64
  var database: Int64

  /// A WAL of this size is not reported: commits that follow each other reach it before it is checkpointed.
  static let usual = Int64(WALCheckpointer.maxFrames) * 4096

  /// Whether the WAL has more than the usual size, and four times that of the database.
  var isTooLong: Bool { wal > Self.usual && wal / 4 > database }
}
