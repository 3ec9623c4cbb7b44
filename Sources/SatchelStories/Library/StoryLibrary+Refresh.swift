import SatchelStorage

extension StoryLibrary {
  /// Looks at the directory again: files that are new or changed are read and checked, the others are not.
  ///
  /// A file counts as unchanged when its size and times are; else its content decides. All that changed is
  /// written in one transaction, and told to observers of the store as a change of "stories" with the ids of the
  /// stories concerned, or `["*"]` beyond 1,000. A store opened to read only is not written, and tells nothing.
  ///
  /// - Throws: `.notFound` when the directory is gone, `.io` when it cannot be read, `.busy`, `.full`, `.closed`;
  ///   a file that cannot be read is no error, but named in `problems`
  @discardableResult
  public func refresh() throws -> StoryRefresh { try refreshed().refresh }

  /// Looks at the directory again, and lists what is in it.
  ///
  /// - Parameter checked: leave stories out that are not sound: problems tell all findings of them
  /// - Throws: as `refresh()`
  public func loadAll(checked: Bool = false) throws -> StoryListing {
    let snapshot = try refreshed().snapshot
    let listing = StoryListing(
      stories: try applyingPurchases(snapshot.stories), problems: snapshot.problems)
    return checked ? try leavingOutUnsound(listing) : listing
  }

  private func refreshed() throws -> (refresh: StoryRefresh, snapshot: StorySnapshot) {
    try checkOpen()
    return try refreshing.withLock {
      let opened = try StoryDirectory(directory)
      let intake = StoryIntake(opened, known: try index.known()) { [isOver = isOverNow] in isOver() }
      var outcome = try intake.outcome()
      try resolveCopies(&outcome, in: opened)
      var refresh = try index.write(outcome)
      let snapshot = try index.snapshot()
      refresh.problems = snapshot.problems
      hasRefreshed.store(true, ordering: .relaxed)
      return (refresh, snapshot)
    }
  }

  /// Looks at the directory if this library never did.
  func refreshOnce() throws {
    try checkOpen()
    if !hasRefreshed.load(ordering: .relaxed) { try refresh() }
  }

  private var isOverNow: @Sendable () -> Bool {
    { [weak self] in self?.isOver.load(ordering: .relaxed) ?? true }
  }

  /// Files with a content that is known under another name need no parsing.
  private func resolveCopies(_ outcome: inout StoryIntake.Outcome, in opened: StoryDirectory) throws {
    let records = try index.records(of: outcome.copies)
    for (copy, record) in zip(outcome.copies, records) {
      if let record {
        outcome.records.append(record)
      } else if case .file(_, let way) = opened.look(at: copy.name) {
        // Another process removed the row meanwhile.
        outcome.records.append(Self.record(copy.name, way, in: opened))
        outcome.parsed += 1
      }
    }
    outcome.copies = []
  }

  private static func record(_ name: String, _ way: [String], in opened: StoryDirectory) -> StoryRecord {
    do throws(StoryFailure) {
      let reader = StoryFileReader()
      let stamp = try reader.load(way, in: opened)
      let source = StoryDirectory.source(of: name) ?? .automatic
      let content = StoryRecord.Content(reader.bytes, of: name, source: source)
      return StoryRecord(name: name, stamp: stamp, hash: reader.hash, content: content)
    } catch {
      return StoryRecord(name: name, stamp: .none, hash: nil, content: .problem(error))
    }
  }

  /// The index knows how many errors a story has; which they are, its file says.
  private func leavingOutUnsound(_ listing: StoryListing) throws -> StoryListing {
    var sound: [StorySummary] = []
    var problems = listing.problems
    let opened = try StoryDirectory(directory)
    for summary in listing.stories {
      guard summary.errors > 0 else {
        sound.append(summary)
        continue
      }
      if isOver.load(ordering: .relaxed) { throw StoryIntake.cancelled }
      problems.append(problem(of: summary, in: opened))
    }
    problems.sort { StoryName.precedes($0.file, $1.file) }
    return StoryListing(stories: sound, problems: problems)
  }

  private func problem(of summary: StorySummary, in opened: StoryDirectory) -> StoryProblem {
    do throws(StoryFailure) {
      let report = try Self.read(summary.file, in: opened).story.check()
      let findings = report.findings
      let first = findings.first { $0.severity == .error } ?? findings.first
      var failure = first.map { StoryFailure($0) } ?? .unreadable("changed while it was read")
      failure.message = Self.words(report)
      var problem = StoryProblem(file: summary.file, failure, story: summary.id)
      problem.findings = findings
      return problem
    } catch {
      return StoryProblem(file: summary.file, error, story: summary.id)
    }
  }
}
