/// How a directory of photos is scanned.
public struct ScanOptions: Sendable, Equatable {
  /// What EXIF dates that name no time zone are in: seconds east of UTC. 0 takes them as UTC, so that the same
  /// photo has the same date wherever it is scanned.
  public var timeZoneOffset: Int64
  /// Whether photos go from the catalogue when none of their files is left. At the next sync they go from the
  /// master too. Never where a directory could not be read.
  public var removesMissing: Bool
  /// Whether files are read again that look unchanged.
  public var readsEverything: Bool
  /// How many files are read at once, 1 to 16.
  public var parallel: Int

  /// - Parameter parallel: brought into the range
  public init(
    timeZoneOffset: Int64 = 0, removesMissing: Bool = false, readsEverything: Bool = false, parallel: Int = 2
  ) {
    // No zone is further away than a day; this keeps sums in range.
    self.timeZoneOffset = min(max(timeZoneOffset, -86_400), 86_400)
    self.removesMissing = removesMissing
    self.readsEverything = readsEverything
    self.parallel = min(max(parallel, 1), 16)
  }
}
