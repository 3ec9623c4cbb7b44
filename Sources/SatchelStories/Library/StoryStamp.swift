import SatchelStorage

/// What the file system says of a file, to tell without reading whether it changed.
struct StoryStamp: Equatable, Sendable {
  var size: Int64
  /// When its content was written, as its owner may set it; Unix nanoseconds.
  var modified: Int64
  /// When its content or its attributes were written, which nobody can set.
  var changed: Int64

  /// Of what is no readable file; equal to no file's.
  static let none = StoryStamp(size: -1, modified: 0, changed: 0)

  init(size: Int64, modified: Int64, changed: Int64) {
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  init(_ status: stat) {
    self.init(
      size: Int64(status.st_size), modified: status.contentTime.nanoseconds,
      changed: status.changeTime.nanoseconds)
  }

  /// File systems keep time in steps: a file that is read within one of being written may be written again with
  /// the same stamp. So that nobody relies on it, such a stamp is made equal to none.
  func settled(readAt now: Int64) -> StoryStamp {
    let age = now.subtractingReportingOverflow(changed)
    guard !age.overflow, abs(age.partialValue) < Self.step else { return self }
    return StoryStamp(size: size, modified: modified, changed: .min)
  }

  private static let step: Int64 = 100_000_000

  /// The time by which file systems stamp files.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.nanoseconds
  }
}
