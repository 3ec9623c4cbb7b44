/// A cache of stories that evicts the least recently used ones when it exceeds its budget.
struct StoryCache {
  struct Entry {
    var story: Story
    /// The name of its file, and the file's metadata when it was read.
    var file: String
    var metadata: FileMetadata
    /// The result of the check; nil until it was made.
    var checkResult: CheckResult?
    /// The logical time of the last access.
    var lastAccess: UInt64 = 0
  }

  enum CheckResult: Sendable {
    case sound
    /// The findings, as text.
    case unsound(String)
  }

  /// The maximum size of all stories in memory, in bytes.
  static let defaultBudget = 64 << 20

  private(set) var bytes = 0
  var budget = Self.defaultBudget { didSet { shrink() } }
  private var entries: [StoryName: Entry] = [:]
  /// The accesses, the oldest first; a story that was accessed again has a later entry, too.
  private var accesses: [(name: StoryName, lastAccess: UInt64)] = []
  private var oldestIndex = 0
  private var time: UInt64 = 0

  /// Returns a story, and records the access.
  mutating func entry(_ id: String) -> Entry? {
    let name = StoryName(id)
    guard entries[name] != nil else { return nil }
    recordAccess(name)
    return entries[name]
  }

  mutating func put(_ entry: Entry, for id: String) {
    remove(id)
    guard entry.story.memoryBytes <= budget else { return }
    let name = StoryName(id)
    entries[name] = entry
    bytes += entry.story.memoryBytes
    recordAccess(name)
    shrink()
  }

  mutating func setCheckResult(_ checkResult: CheckResult, of story: Story, id: String) {
    let name = StoryName(id)
    if entries[name]?.story === story { entries[name]?.checkResult = checkResult }
  }

  mutating func remove(_ id: String) {
    if let entry = entries.removeValue(forKey: StoryName(id)) { bytes -= entry.story.memoryBytes }
  }

  mutating func clear() {
    entries = [:]
    accesses = []
    (bytes, oldestIndex) = (0, 0)
  }

  private mutating func recordAccess(_ name: StoryName) {
    time += 1
    entries[name]?.lastAccess = time
    accesses.append((name, time))
    // Removes outdated accesses when they are the majority.
    if accesses.count - oldestIndex > 4 * entries.count + 64 || oldestIndex > accesses.count / 2 + 64 {
      accesses = accesses[oldestIndex...].filter { entries[$0.name]?.lastAccess == $0.lastAccess }
      oldestIndex = 0
    }
  }

  private mutating func shrink() {
    while bytes > budget, oldestIndex < accesses.count {
      let (name, lastAccess) = accesses[oldestIndex]
      oldestIndex += 1
      if entries[name]?.lastAccess == lastAccess { remove(name.text) }
    }
  }
}

extension Story {
  /// The approximate memory size in bytes.
  var memoryBytes: Int {
    byteCount + 512 + analysis.table.segments.count * 96 + analysis.table.choices.count * 64
      + analysis.table.namedFiles.count * 32
  }
}
