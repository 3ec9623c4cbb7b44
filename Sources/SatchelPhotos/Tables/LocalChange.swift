import SatchelStorage

/// What this side made of a photo since the last agreement.
struct LocalChange {
  var md5: MD5
  /// 0 for one that came with a file.
  var sequence: Int64
  var photodate: Int64
  /// The line as it is here; nil when the photo was deleted.
  var local: [UInt8]?
  /// The line that was agreed; nil when there was none.
  var base: [UInt8]?

  func withLocal<Result>(_ body: (UnsafeRawBufferPointer?) throws -> Result) rethrows -> Result {
    guard let local else { return try body(nil) }
    return try local.withUnsafeBytes { try body($0) }
  }
}

extension ShardEdit {
  /// Everything that changed since the last agreement, in the order of md5. Memory: two lines a change.
  ///
  /// - Parameter after: only what was changed after this sequence; what came with files is as old as the import
  func localChanges(after sequence: Int64 = -1) throws -> [LocalChange] {
    try LocalChanges.all(connection, catalogue: catalogue, record: record, after: sequence)
  }
}
