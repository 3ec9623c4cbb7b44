import SatchelStorage

extension StoryLibrary {
  /// A story by its id: from memory when its file is as it was, else from its file.
  ///
  /// - Parameter checked: fail for a story that is not sound
  /// - Throws: `.notFound`; `.io` when its file cannot be read; `.invalid` for an id that is no name, a link that
  ///   leads out of the directory, a file that cannot be understood (with line and column), and a story that is
  ///   not sound (with its findings); `.closed`
  public func story(_ id: String, checked: Bool = false) throws -> Story {
    try checkOpen()
    try Self.checkName(id)
    let entry = try entry(id)
    if checked, case .unsound(let words) = verdict(entry, id) {
      throw SatchelError(.invalid, "story “\(id)” (\(entry.file)) is not sound: \(words)")
    }
    return entry.story
  }

  /// A segment of a story, by their ids.
  ///
  /// - Throws: `.notFound` also when the story has no such segment; else as `story`
  public func segment(_ id: String, of story: String) throws -> StorySegment {
    guard let segment = try self.story(story).segment(id) else {
      throw SatchelError(.notFound, "story “\(story)” has no segment “\(id.prefix(200))”")
    }
    return segment
  }

  /// Where a story starts.
  ///
  /// - Throws: `.notFound` also when the story has no segments; else as `story`
  public func start(of story: String) throws -> StorySegment {
    guard let start = try self.story(story).start else {
      throw SatchelError(.notFound, "story “\(story)” has no segments")
    }
    return start
  }

  // MARK: Memory

  /// How many bytes of stories stay in memory, about; the least recently used go first. 64 MiB at the start.
  public var cacheBudget: Int {
    get { cache.withLock { $0.budget } }
    set { cache.withLock { $0.budget = max(0, newValue) } }
  }

  /// How many bytes of stories are in memory, about.
  public var cachedBytes: Int { cache.withLock { $0.bytes } }

  /// Lets go of all stories in memory.
  ///
  /// - Throws: `.closed`
  public func clearCache() throws {
    try checkOpen()
    cache.withLock { $0.clear() }
  }

  // MARK: Finding and reading

  private func entry(_ id: String) throws -> StoryCache.Entry {
    let opened = try StoryDirectory(directory)
    if let entry = cache.withLock({ $0.entry(id) }) {
      if case .file(let stamp, _) = opened.look(at: entry.file), stamp == entry.stamp { return entry }
      cache.withLock { $0.remove(id) }
    }
    // Where the index says, or where the story's name does: neither needs a look at the whole directory.
    let known = try index.file(of: id)
    // A bad file hides no good one: why it could not be loaded is told only when there is no other.
    var failure: (any Error)?
    for name in known.map({ [$0] }) ?? ["\(id).json", "\(id).twee", "\(id).tw"] {
      do {
        if let found = try load(id, from: name, in: opened) { return found }
      } catch {
        failure = failure ?? error
      }
    }
    if known != nil, let failure { throw failure }
    try refresh()
    if let file = try index.file(of: id), let found = try load(id, from: file, in: opened) { return found }
    throw failure ?? SatchelError(.notFound, "\(directory): no story “\(id)”")
  }

  /// Reads a story from that file; nil when the file is not there, or holds another story.
  private func load(_ id: String, from file: String, in opened: StoryDirectory) throws -> StoryCache.Entry? {
    if opened.look(at: file) == .absent { return nil }
    do throws(StoryFailure) {
      let (story, stamp) = try Self.read(file, in: opened)
      guard let own = story.analysis.storyID(in: file), StoryName(own) == StoryName(id) else { return nil }
      let entry = StoryCache.Entry(story: story, file: file, stamp: stamp)
      if !isOver.load(ordering: .relaxed) { cache.withLock { $0.put(entry, for: id) } }
      return entry
    } catch {
      throw error.error(in: file)
    }
  }

  /// Reads a file of the directory.
  static func read(
    _ file: String, in opened: StoryDirectory
  ) throws(StoryFailure) -> (story: Story, stamp: StoryStamp) {
    let way: [String]
    switch opened.look(at: file) {
    case .absent: throw .unreadable(errno: ENOENT)
    case .refused(let failure): throw failure
    case .file(_, let found): way = found
    }
    let reader = StoryFileReader()
    let stamp = try reader.load(way, in: opened)
    let source = StoryDirectory.source(of: file) ?? .automatic
    do {
      return (try Story(reader.bytes, source: source), stamp)
    } catch {
      throw StoryFailure(error, reading: reader.bytes, source: source)
    }
  }

  // MARK: Checking

  private func verdict(_ entry: StoryCache.Entry, _ id: String) -> StoryCache.Verdict {
    if let verdict = entry.verdict { return verdict }
    let report = entry.story.check()
    let verdict: StoryCache.Verdict = report.isSound ? .sound : .unsound(Self.words(report))
    cache.withLock { $0.setVerdict(verdict, of: entry.story, id: id) }
    return verdict
  }

  private static let mostFindings = 20

  /// The findings of a check in one line, errors first.
  static func words(_ report: StoryReport) -> String {
    func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
    let errors = report.findings.filter { $0.severity == .error }
    let ordered = errors + report.findings.filter { $0.severity != .error }
    var words = ordered.prefix(mostFindings).map { finding in
      let place = "line \(finding.position.line), column \(finding.position.column)"
      let meant = finding.suggestion.map { " (did you mean “\($0)”?)" } ?? ""
      return "\(place): \(finding.code.rawValue): \(finding.message)\(meant)"
    }
    if ordered.count > mostFindings { words.append("and \(ordered.count - mostFindings) more") }
    return "\(count(report.errorCount, "error")), \(count(report.warningCount, "warning")): "
      + words.joined(separator: "; ")
  }
}
