/// A file as an earlier scan knew it: a row of `photo_file`.
struct KnownFile: Sendable, Equatable {
  /// Relative to the catalogue's directory, as on disk.
  var path: [UInt8]
  var md5: MD5
  var size: Int64
  /// Unix nanoseconds.
  var modified: Int64
  /// Whether the file is gone, or has other bytes by now.
  var isMissing: Bool
}
