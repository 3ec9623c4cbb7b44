import SatchelCore
import SatchelRemote

/// How a session keeps what it shows fresh.
extension Session {
  /// Asks the source again for what the screen shows, as when somebody pulls the list down: also for what is fresh, and
  /// for what failed before its time. Returns at once; the screen is refreshing from now on, until the answer or
  /// the error is shown. Without a source it does nothing.
  public func refresh() throws {
    let (location, generation) = try current()
    guard asksSource else { return }
    begin(nil, generation)
    fetch(nil, at: location, generation: generation, isPulled: true)
  }

  /// A store that is opened read-only cannot keep answers.
  var asksSource: Bool { source != nil && !catalogue.database.options.isReadOnly }

  /// Asks the source on a thread of its own, where that is due. What it answers is stored, and shown as every commit is.
  ///
  /// - Parameter isPulled: whether it is the request of `refresh`, which has begun already
  func fetch(_ section: String?, at location: Location, generation: Int, isPulled: Bool = false) {
    guard asksSource else { return }
    do {
      try fetcher.add { [weak self] in
        self?.ask(section, at: location, generation: generation, isPulled: isPulled)
      }
    } catch {
      end(section, generation, .failed("\(error)"), hasBegun: isPulled)
    }
  }

  private func ask(_ section: String?, at location: Location, generation: Int, isPulled: Bool) {
    // Another location is shown meanwhile, and its requests come first.
    guard let source, lock.withLock({ generation == screen.generation && !screen.isEnded }) else { return }
    var options = refreshOptions
    options.force = options.force || isPulled
    let cancellation = Cancellation { [weak self] in
      self.map { session in session.lock.withLock { session.screen.isEnded } } ?? true
    }
    let hasBegun = Locked(isPulled)
    let watched = WatchedSource(source: source) { [weak self] in
      let isFirst = hasBegun.withLock { begun in
        defer { begun = true }
        return !begun
      }
      if isFirst { self?.begin(section, generation) }
    }
    let outcome: FetchOutcome
    do {
      let report = try catalogue.refresh(
        location, sections: section.map { [$0] }, from: watched, options: options, cancellation: cancellation)
      let now = catalogue.database.clock.now()
      askAgain(at: report.failed.first?.retryAt ?? now + Self.interval)
      outcome = FetchOutcome(report)
    } catch {
      outcome = .failed((error as? SatchelError)?.message ?? "\(error)")
    }
    finish(section, generation, outcome, hasBegun: hasBegun.withLock { $0 })
  }

  private func begin(_ section: String?, _ generation: Int) {
    lock.withLock {
      if generation == screen.generation { screen.beginFetching(section) }
    }
    deliver()
  }

  /// Shows the outcome after what was stored, on the session's thread, on which commits are looked at.
  private func finish(_ section: String?, _ generation: Int, _ outcome: FetchOutcome, hasBegun: Bool) {
    do {
      try worker.add { [weak self] in
        guard let self else { return }
        _ = news.withLock { $0.addAll() }
        showCommits()
        end(section, generation, outcome, hasBegun: hasBegun)
      }
    } catch {
      end(section, generation, .failed("\(error)"), hasBegun: hasBegun)
    }
  }

  private func end(_ section: String?, _ generation: Int, _ outcome: FetchOutcome, hasBegun: Bool) {
    lock.withLock {
      if generation == screen.generation { screen.endFetching(section, outcome, hasBegun: hasBegun) }
    }
    deliver()
  }

  // MARK: Asking again

  /// The time from an answer to a look whether what is shown has become old or has expired, in milliseconds. The source
  /// is asked only for what has.
  private static var interval: Int64 { 60_000 }

  /// Asks again at a time, or before it, while the session shows a location.
  private func askAgain(at time: Int64) {
    let delay = max(time - catalogue.database.clock.now(), 0)
    // Without the job, the next `show` asks.
    try? asking.value {
      catalogue.database.scheduler.prompt.job { [weak self] in
        self?.askAgain()
        return nil
      }
    }.request(at: Clock.monotonic.now() + delay)
  }

  func askAgain() {
    let (location, generation, sections, error) = lock.withLock {
      (screen.location, screen.generation, screen.sections, screen.error)
    }
    guard let location else { return }
    fetch(nil, at: location, generation: generation)
    // The answer for all of the location serves its sections, too.
    if error != nil { return }
    for section in sections where section.error != nil {
      fetch(section.name, at: location, generation: generation)
    }
  }
}

/// The result of asking a source.
enum FetchOutcome {
  case answered
  case failed(String)
  /// It was not asked, because of an earlier failure, which may be shown, or of the network.
  case postponed(String)

  init(_ report: RefreshReport) {
    if let failure = report.failed.first {
      self = .failed(failure.message)
    } else if let reason = report.reasonOfNothing {
      self = .postponed(reason)
    } else {
      self = .answered
    }
  }
}

/// A source that says when it is asked.
private struct WatchedSource: ContentSource {
  let source: any ContentSource
  let begin: @Sendable () -> Void

  func content(_ request: ContentRequest) throws -> ContentAnswer {
    begin()
    return try source.content(request)
  }
}

extension SessionScreen {
  /// - Parameter name: nil for all sections
  func beginFetching(_ name: String?) {
    if name == nil {
      fetches += 1
      if fetches == 1 { report(.sections) }
    }
    change(name) { $0.isFetching = true }
  }

  /// - Parameters:
  ///   - name: nil for all sections
  ///   - hasBegun: whether the source was asked
  func endFetching(_ name: String?, _ outcome: FetchOutcome, hasBegun: Bool) {
    if name == nil {
      let before = (isFetching, error)
      if hasBegun { fetches -= 1 }
      outcome.apply(to: &error)
      if before != (isFetching, error) { report(.sections) }
    }
    let isStill = isFetching
    change(name) { section in
      section.isFetching = isStill
      outcome.apply(to: &section.error)
      // Nothing was stored when it was asked for, and the source has nothing either.
      if name != nil, section.loaded == nil, section.header == nil {
        let reason = outcome.reason ?? "neither the store nor the source has the section"
        (section.state, section.error) = (.failed(reason: reason), reason)
      }
    }
  }
}

extension FetchOutcome {
  fileprivate var reason: String? {
    switch self {
    case .answered: nil
    case .failed(let reason), .postponed(let reason): reason
    }
  }

  /// A failure that is shown stays until the source answers.
  fileprivate func apply(to error: inout String?) {
    switch self {
    case .answered: error = nil
    case .failed(let reason): error = reason
    case .postponed: break
    }
  }
}
