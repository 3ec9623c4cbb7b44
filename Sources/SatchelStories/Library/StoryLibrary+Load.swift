import SatchelCore
import SatchelStorage

extension StoryLibrary {
  /// Returns the story with an id: from the cache when its file is unchanged, else from its file.
  ///
  /// - Parameters:
  ///   - id: the id of the story
  ///   - language: of the file; nil for the first file, by name, that has the story
  ///   - checked: whether to throw for a story that is not sound
  /// - Throws: `.notFound`; `.io` when the file cannot be read; `.invalid` for an invalid id, a link to a
  ///   file outside the directory, a file that cannot be parsed (with line and column), and a story that is
  ///   not sound (with its findings); `.closed`
  public func story(_ id: String, language: String? = nil, checked: Bool = false) throws -> Story {
    try checkOpen()
    try Self.checkName(id)
    return try locating(Self.details(id)) {
      let entry = try entry(id, language)
      if checked, case .unsound(let words) = checkResult(entry, Self.key(id, language)) {
        throw SatchelError(.invalid, "story “\(id)” (\(entry.file)) is not sound: \(words)")
      }
      return entry.story
    }
  }

  /// Returns a segment of a story, by their ids.
  ///
  /// - Throws: `.notFound`, also when the story has no such segment; else as `story`
  public func segment(_ id: String, of story: String, language: String? = nil) throws -> StorySegment {
    guard let segment = try self.story(story, language: language).segment(id) else {
      throw Self.noSegment(id, of: story)
    }
    return segment
  }

  /// Returns the first segment of a story.
  ///
  /// - Throws: `.notFound`, also when the story has no segments; else as `story`
  public func start(of story: String) throws -> StorySegment {
    guard let start = try self.story(story).start else {
      throw SatchelError(.notFound, "story “\(story)” has no segments").at(Self.details(story))
    }
    return start
  }

  static func details(_ story: String) -> SatchelError.Details {
    SatchelError.Details(subject: Change.Subject.stories.rawValue, id: story)
  }

  static func noSegment(_ id: String, of story: String) -> SatchelError {
    SatchelError(.notFound, "story “\(story)” has no segment “\(id.prefix(200))”")
      .at(details(story)).at(otherID: id)
  }

  // MARK: Memory

  /// The approximate maximum size of the cache in bytes. The least recently used stories are evicted first.
  /// The default is 64 MiB.
  public var cacheBudget: Int {
    get { cache.withLock { $0.budget } }
    set { cache.withLock { $0.budget = max(0, newValue) } }
  }

  /// The approximate size of the cached stories in bytes.
  public var cachedBytes: Int { cache.withLock { $0.bytes } }

  /// Removes all stories from the cache.
  ///
  /// - Throws: `.closed`
  public func clearCache() throws {
    try checkOpen()
    cache.withLock { $0.clear() }
  }

  // MARK: Finding and reading

  private func entry(_ id: String, _ language: String?) throws -> StoryCache.Entry {
    let opened = try openDirectory()
    let key = Self.key(id, language)
    if let entry = cache.withLock({ $0.entry(key) }) {
      if case .file(let metadata, _) = opened.status(of: entry.file), metadata == entry.metadata {
        return entry
      }
      cache.withLock { $0.remove(key) }
    }
    // Tries the file of the index, or the files named after the story, before it reads the whole directory.
    let known = try index.file(of: id, language: language)?.name
    // A bad file does not hide a good one: its error is thrown only when there is no other file.
    var failure: (any Error)?
    for name in known.map({ [$0] }) ?? sources.flatMap(\.extensions).map({ id + $0 }) {
      do {
        if let found = try load(id, language, from: name, in: opened) { return found }
      } catch {
        failure = failure ?? error
      }
    }
    if known != nil, let failure { throw failure }
    try refresh()
    if let file = try index.file(of: id, language: language)?.name,
      let found = try load(id, language, from: file, in: opened)
    {
      return found
    }
    let place = language.map { " in the language “\($0.prefix(60))”" } ?? ""
    throw failure ?? SatchelError(.notFound, "\(directory): no story “\(id)”\(place)")
  }

  /// The key of a story in the cache; an id has no control characters.
  private static func key(_ id: String, _ language: String?) -> String {
    language.map { "\(id)\n\($0)" } ?? id
  }

  /// Reads a story from a file; nil when the file does not exist or has another story.
  private func load(
    _ id: String, _ language: String?, from file: String, in opened: StoryDirectory
  ) throws -> StoryCache.Entry? {
    if opened.status(of: file) == .absent { return nil }
    do throws(StoryFailure) {
      let (story, metadata) = try Self.read(file, in: opened)
      guard let own = story.analysis.storyID(in: file), StoryName(own) == StoryName(id) else { return nil }
      if let language, story.header.language.map({ StoryName($0) }) != StoryName(language) { return nil }
      let entry = StoryCache.Entry(story: story, file: file, metadata: metadata)
      if !isClosed.load(ordering: .relaxed) { cache.withLock { $0.put(entry, for: Self.key(id, language)) } }
      return entry
    } catch {
      throw error.error(in: file)
    }
  }

  /// Reads a file of the directory.
  static func read(
    _ file: String, in opened: StoryDirectory
  ) throws(StoryFailure) -> (story: Story, metadata: FileMetadata) {
    let components: [String]
    switch opened.status(of: file) {
    case .absent: throw .unreadable(errno: ENOENT)
    case .refused(let failure): throw failure
    case .file(_, let found): components = found
    }
    let reader = StoryFileReader()
    let metadata = try reader.load(components, in: opened)
    do {
      let source = opened.source(of: file) ?? .json
      return (try Story(reader.bytes, source: source, folder: opened.folder(of: file)), metadata)
    } catch {
      throw StoryFailure(parsing: error)
    }
  }

  // MARK: Checking

  private func checkResult(_ entry: StoryCache.Entry, _ id: String) -> StoryCache.CheckResult {
    // Files that it names come and go without its own.
    let namesFiles = entry.story.namesFiles
    if let checkResult = entry.checkResult, !namesFiles { return checkResult }
    let report = entry.story.check()
    let checkResult: StoryCache.CheckResult = report.isSound ? .sound : .unsound(Self.words(report))
    if !namesFiles { cache.withLock { $0.setCheckResult(checkResult, of: entry.story, id: id) } }
    return checkResult
  }

  private static let maxFindings = 20

  /// Returns the findings of a check in one line, errors first.
  static func words(_ report: StoryReport) -> String {
    func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
    let errors = report.findings.filter { $0.severity == .error }
    let ordered = errors + report.findings.filter { $0.severity != .error }
    var words = ordered.prefix(maxFindings).map { finding in
      let location = "line \(finding.position.line), column \(finding.position.column)"
      let hint = finding.suggestion.map { " (did you mean “\($0)”?)" } ?? ""
      return "\(location): \(finding.code.rawValue): \(finding.message)\(hint)"
    }
    if ordered.count > maxFindings { words.append("and \(ordered.count - maxFindings) more") }
    return "\(count(report.errorCount, "error")), \(count(report.warningCount, "warning")): "
      + words.joined(separator: "; ")
  }
}
