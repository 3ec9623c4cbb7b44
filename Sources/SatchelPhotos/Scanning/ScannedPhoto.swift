/// A file that was read.
struct ScannedPhoto: Sendable, Equatable {
  var md5: MD5
  var size: Int64
  /// Unix nanoseconds, as they were while it was read.
  var modified: Int64
  /// Unix seconds.
  var modifiedSeconds: Int64
  var facts: ImageFacts

  /// The row of a catalogue.
  ///
  /// - Parameter name: the file's name, without its directory
  func photo(named name: String) -> Photo {
    Photo(
      md5: md5, filename: name, size: size, photodate: facts.date ?? modifiedSeconds,
      modified: modifiedSeconds,
      width: facts.width, height: facts.height)
  }
}
