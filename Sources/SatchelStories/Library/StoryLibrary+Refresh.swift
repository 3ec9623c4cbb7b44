import SatchelCore
import SatchelStorage

extension StoryLibrary {
  /// Updates the index from the directory: reads and checks only files that are new or changed.
  ///
  /// A file is unchanged when its size and times are the same; otherwise its content is compared. All changes
  /// are written in one transaction. Observers of the store are notified of a change of "stories" with the
  /// ids of the affected stories, or `["*"]` for more than 1,000. A read-only store is not written, and its
  /// observers are not notified.
  ///
  /// - Throws: `.notFound` when the directory does not exist, `.io` when it cannot be read, `.busy`, `.full`,
  ///   `.closed`. A file that cannot be read is not an error: `problems` lists it
  @discardableResult
  public func refresh() throws -> StoryRefresh {
    try checkOpen()
    var (refresh, stories) = try refreshing.withLock {
      let opened = try openDirectory()
      let scan = DirectoryRefresh(opened, known: try index.known(), isCancelled: isClosedCheck)
      var outcome = try scan.outcome()
      try resolveCopies(&outcome, in: opened)
      let written = try index.write(outcome)
      hasRefreshed.store(true, ordering: .relaxed)
      return written
    }
    refresh.problems = try index.problems()
    refresh.moved = try moves(of: stories)
    return refresh
  }

  /// Refreshes the library, and returns its stories and problems.
  ///
  /// - Parameter checked: whether to report stories that are not sound as problems, with all their findings
  /// - Throws: as `refresh()`
  public func loadAll(checked: Bool = false) throws -> StoryListing {
    var stories: [StorySummary] = []
    let problems = try loadAll(checked: checked) { stories.append($0) }
    return StoryListing(stories: stories, problems: problems)
  }

  /// Does the same, and passes each story to `write`, as JSON text.
  ///
  /// - Returns: the problems
  package func loadAll(
    checked: Bool, write: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> [StoryProblem] {
    try loadAll(checked: checked) { try $0.withText(write) }
  }

  private func loadAll(
    checked: Bool, _ visit: (StorySummary) throws -> Void
  ) throws -> [StoryProblem] {
    var problems = try refresh().problems
    let unsound = checked ? try self.unsound() : []
    let files = Set(unsound.map { StoryName($0.file) })
    let purchases = try purchases()
    try index.each { if !files.contains(StoryName($0.file)) { try visit($0.purchased(purchases)) } }
    if checked { problems = (problems + unsound).ordered { StoryName.precedes($0.file, $1.file) } }
    return problems
  }

  /// Refreshes the library unless it was already refreshed.
  func refreshOnce() throws {
    try checkOpen()
    if !hasRefreshed.load(ordering: .relaxed) { try refresh() }
  }

  private var isClosedCheck: @Sendable () -> Bool {
    { [weak self] in self?.isClosed.load(ordering: .relaxed) ?? true }
  }

  /// Replaces copies of indexed files by their records, without parsing them.
  private func resolveCopies(_ outcome: inout DirectoryRefresh.Outcome, in opened: StoryDirectory) throws {
    let records = try index.records(of: outcome.copies)
    for (copy, record) in zip(outcome.copies, records) {
      if let record {
        outcome.records.append(record)
      } else if case .file(_, let components) = opened.status(of: copy.name) {
        // Another process removed the row meanwhile.
        outcome.records.append(Self.record(copy.name, components, in: opened))
        outcome.parsed += 1
      }
    }
    outcome.copies = []
  }

  private static func record(_ name: String, _ components: [String], in opened: StoryDirectory) -> StoryRecord
  {
    do throws(StoryFailure) {
      let reader = StoryFileReader()
      let metadata = try reader.load(components, in: opened)
      let source = opened.source(of: name) ?? .json
      let content = StoryRecord.Content(reader.bytes, of: name, source: source)
      return StoryRecord(name: name, metadata: metadata, hash: reader.hash, content: content)
    } catch {
      return StoryRecord(name: name, metadata: .none, hash: nil, content: .problem(error))
    }
  }

  /// Returns the stories that are not sound. The index has only the number of errors, so their files are checked
  /// again.
  private func unsound() throws -> [StoryProblem] {
    var doubted: [StorySummary] = []
    try index.each { if $0.errors > 0 || $0.namedFiles > 0 { doubted.append($0) } }
    let opened = try openDirectory()
    return try doubted.compactMap { summary in
      if isClosed.load(ordering: .relaxed) { throw DirectoryRefresh.cancelled }
      return problem(of: summary, in: opened)
    }
  }

  /// Returns the findings of a story; nil when it is sound.
  private func problem(of summary: StorySummary, in opened: StoryDirectory) -> StoryProblem? {
    do throws(StoryFailure) {
      let report = try Self.read(summary.file, in: opened).story.check()
      if report.isSound, summary.errors == 0 { return nil }
      let findings = report.findings
      let first = findings.first { $0.severity == .error } ?? findings.first
      var failure = first.map { StoryFailure($0) } ?? .unreadable("the file changed while it was read")
      failure.message = Self.words(report)
      var problem = StoryProblem(file: summary.file, failure, story: summary.id)
      problem.findings = findings
      return problem
    } catch {
      return StoryProblem(file: summary.file, error, story: summary.id)
    }
  }
}
