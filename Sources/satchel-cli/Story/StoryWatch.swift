import Satchel

/// The files of a repeated lint, to detect added, changed and removed ones.
///
/// Compares sizes and times at intervals: that works on every file system and system, over the network too.
struct StoryWatch {
  private struct Version: Equatable {
    var size: Int64
    var seconds: Int
    var nanoseconds: Int
    var inode: UInt64
  }

  private let paths: [String]
  private let exclude: [String]
  private var versions: [FilePath: Version] = [:]

  /// The minimum interval between two comparisons, in microseconds.
  private static let interval: UInt32 = 100_000

  init(_ paths: [String], exclude: [String]) {
    (self.paths, self.exclude) = (paths, exclude)
    versions = Self.versions(paths, exclude)
  }

  /// Waits until a file has changed, and then until no file changes between two comparisons.
  ///
  /// - Returns: false when the tool was interrupted
  mutating func next() -> Bool {
    var hasChanged = false
    while !Interruption.isRequested {
      let start = ContinuousClock.now
      let found = Self.versions(paths, exclude)
      let isStable = found == versions
      versions = found
      if hasChanged, isStable { return true }
      hasChanged = hasChanged || !isStable
      // Comparing many files takes at most a tenth of the time.
      let spent = ContinuousClock.now - start
      let pause = UInt32(clamping: spent.components.attoseconds / 100_000_000_000)
      usleep(spent.components.seconds > 0 ? 5_000_000 : max(Self.interval, pause))
    }
    return false
  }

  private static func versions(_ paths: [String], _ exclude: [String]) -> [FilePath: Version] {
    var versions: [FilePath: Version] = [:]
    for path in StoryFiles.watched(paths, exclude: exclude) {
      var status = stat()
      guard path.withCString({ stat($0, &status) }) == 0 else { continue }
      let time = status.contentTime
      versions[path] = Version(
        size: Int64(status.st_size), seconds: time.tv_sec, nanoseconds: time.tv_nsec,
        inode: UInt64(status.st_ino))
    }
    return versions
  }
}
