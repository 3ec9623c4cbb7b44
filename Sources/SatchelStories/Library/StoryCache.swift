/// Stories in memory, the least recently used out when there are too many bytes of them.
struct StoryCache {
  struct Entry {
    var story: Story
    /// Its file, and what it was read from.
    var file: String
    var stamp: StoryStamp
    /// What a check said, once one was made: nil inside for a sound story.
    var verdict: Verdict?
    /// When it was wanted last.
    var used: UInt64 = 0
  }

  enum Verdict: Sendable {
    case sound
    /// All findings, in words.
    case unsound(String)
  }

  private(set) var bytes = 0
  var budget = 64 << 20 { didSet { shrink() } }
  private var entries: [StoryName: Entry] = [:]
  /// Who was used when, the oldest first; what was used again since stands further behind, too.
  private var uses: [(name: StoryName, used: UInt64)] = []
  private var oldest = 0
  private var time: UInt64 = 0

  /// A story, which thereby is the one used last.
  mutating func entry(_ id: String) -> Entry? {
    let name = StoryName(id)
    guard entries[name] != nil else { return nil }
    use(name)
    return entries[name]
  }

  mutating func put(_ entry: Entry, for id: String) {
    remove(id)
    guard entry.story.memoryBytes <= budget else { return }
    let name = StoryName(id)
    entries[name] = entry
    bytes += entry.story.memoryBytes
    use(name)
    shrink()
  }

  mutating func setVerdict(_ verdict: Verdict, of story: Story, id: String) {
    let name = StoryName(id)
    if entries[name]?.story === story { entries[name]?.verdict = verdict }
  }

  mutating func remove(_ id: String) {
    if let entry = entries.removeValue(forKey: StoryName(id)) { bytes -= entry.story.memoryBytes }
  }

  mutating func clear() {
    entries = [:]
    uses = []
    (bytes, oldest) = (0, 0)
  }

  private mutating func use(_ name: StoryName) {
    time += 1
    entries[name]?.used = time
    uses.append((name, time))
    // What is outdated in the list is cleared away when it is most of it.
    if uses.count - oldest > 4 * entries.count + 64 || oldest > uses.count / 2 + 64 {
      uses = uses[oldest...].filter { entries[$0.name]?.used == $0.used }
      oldest = 0
    }
  }

  private mutating func shrink() {
    while bytes > budget, oldest < uses.count {
      let (name, used) = uses[oldest]
      oldest += 1
      if entries[name]?.used == used { remove(name.text) }
    }
  }
}

extension Story {
  /// Bytes of memory it takes, about.
  var memoryBytes: Int {
    byteCount + 512 + analysis.table.segments.count * 96 + analysis.table.choices.count * 64
  }
}
