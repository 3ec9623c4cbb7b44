import SatchelCore
import SatchelJSON
import SatchelStorage
import Synchronization

/// The model of one screen: the sections of a location, each in the state placeholder, loading, loaded or
/// failed.
///
/// It is live: a commit of any handle or process that changes what the screen shows brings an event, and the new content.
/// Content that is shown is never replaced by a placeholder. A session does not depend on a user interface. Safe to use
/// from any number of threads. Events are delivered one at a time, in the order of what they report, on the thread that
/// caused them or on one that waits to deliver a later one; on the session's own thread when content was loaded or has
/// changed.
// Unchecked: `lock` guards `screen` and `subscription`; the rest is immutable or synchronized.
public final class Session: @unchecked Sendable {
  let catalogue: Catalogue
  let nearby: Double
  private let onEvent: @Sendable (SessionEvent) -> Void
  let source: (any ContentSource)?
  let refreshOptions: RefreshOptions
  let worker = Worker()
  /// Waits for the source, for which content that is stored must not wait.
  let fetcher = Worker()
  let asking = Lazy<JobThread.Job>()
  /// Never held while the store is read or the host is called.
  let lock = ConditionLock()
  let screen = SessionScreen()
  /// The commits that the session's thread has not looked at yet.
  let news = Locked(SessionNews())
  var subscription: ChangeFeed.Subscription?
  /// Whether the host asks for content as text only. Otherwise it is parsed on the thread that has read it, not on the
  /// host's. Set before the first call.
  package var isTextual = false
  /// Held while an event is delivered, so that events do not overlap.
  private let deliveryLock = ConditionLock()
  /// The thread that delivers an event; 0 for none.
  private let deliveringThread = Atomic<UInt>(0)

  /// Creates a session that shows no location yet.
  ///
  /// - Parameters:
  ///   - nearby: see `Catalogue.sections`
  ///   - source: keeps what is shown fresh: what is stored is shown at once, and what is expired, missing or old is asked
  ///     for, also again after a failure, and when it becomes so while it is shown; nil for a host that fetches content itself
  ///   - refresh: the options for asking the source
  ///   - onEvent: called for each event
  public init(
    _ catalogue: Catalogue, nearby: Double = Catalogue.defaultNearby, source: (any ContentSource)? = nil,
    refresh: RefreshOptions = RefreshOptions(),
    onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in }
  ) {
    self.catalogue = catalogue
    self.nearby = nearby
    (self.source, refreshOptions) = (source, refresh)
    self.onEvent = onEvent
  }

  /// Throws for what is not a distance, as the first call of `show` would.
  package static func check(nearby: Double) throws { _ = try Inheritance(nearby: nearby) }

  deinit { end() }

  /// Ends the session: no event is delivered afterwards. Waits for an event that is being delivered on
  /// another thread. Called from an event, it does not wait for content that is being loaded, because the
  /// event of that load would wait for the caller's event.
  public func end() {
    let ended = lock.withLock {
      screen.end()
      defer { subscription = nil }
      return subscription
    }
    ended?.cancel()
    asking.known?.withdraw()
    let isOutside = deliveringThread.load(ordering: .relaxed) != ThreadIdentity.current
    fetcher.stop(waits: isOutside)
    worker.stop(waits: isOutside)
    deliveryLock.withLock {}
  }

  // MARK: Commands of the host

  /// Shows a location: its stored sections as placeholders, then an event with the entities to fetch. The
  /// location becomes the active location. When it is shown already, what is loaded stays, and what has changed
  /// meanwhile, such as an expiry, follows.
  ///
  /// - Throws: `SatchelError`; when only the active location could not be stored, the location is shown
  public func show(_ location: Location) throws {
    try checkOpen()
    // The thread starts while the headers are read: content is on the screen earlier.
    try? worker.add {}
    try follow()
    let storedOrder = try lock.withLock({ screen.order }) ?? catalogue.sectionOrder()
    let count = news.withLock { $0.count }
    var (cached, isAgain, generation): (Catalogue.Cached?, Bool, Int) = (nil, false, 0)
    try update(location) { read in
      cached = read.cached
      isAgain = screen.show(location, read.headers ?? [], storedOrder: storedOrder)
      generation = screen.generation
    }
    // A commit after the headers were read may have been looked at for the previous location.
    if news.withLock({ isAgain || $0.count != count ? $0.addAll() : false }) { requestRefresh() }
    deliver()
    giveWayToContent()
    let plan = try catalogue.plan(for: location, nearby: nearby)
    lock.withLock {
      if generation == screen.generation { screen.report(.refresh(cached: cached, plan: plan)) }
    }
    deliver()
    if !catalogue.database.options.isReadOnly, try catalogue.activeLocation() != location {
      try catalogue.setActiveLocation(location)
    }
    fetch(nil, at: location, generation: generation)
  }

  /// Lets the content come first that the host has asked for in an event: reading the plan at the same time would delay it.
  /// The wait has a limit, because content may wait for an event that waits for the caller.
  private func giveWayToContent() {
    guard deliveringThread.load(ordering: .relaxed) != ThreadIdentity.current else { return }
    let isLoading = lock.withLock {
      screen.sections.contains { if case .loading = $0.state { true } else { false } }
    }
    if isLoading { worker.waitUntilIdle(milliseconds: 5) }
  }

  /// Stores a section for the session's location, and shows it with its content. Inside a batch it is shown after the
  /// commit.
  @discardableResult
  public func handle(_ section: UnsafeRawBufferPointer) throws -> Receipt {
    let (location, generation) = try current()
    let before = lock.withLock { screen.reported }
    let receipt = try catalogue.persist(section, at: location)
    let name = receipt.section
    if catalogue.database.isInTransaction {
      try load(name)
      return receipt
    }
    do {
      try update(location, wanting: { $0.section == name }) { read in
        guard generation == screen.generation else { return }
        screen.merge(read.headers ?? [])
        if let content = read.contents.first {
          screen.take(content, of: name, unlessReportedAfter: before)
        } else if let failure = read.failures.first {
          screen.set(name, to: .failed(reason: failure.reason))
        }
      }
    } catch {
      // It is stored.
      lock.withLock {
        if generation == screen.generation { screen.set(name, to: .failed(reason: "\(error)")) }
      }
    }
    deliver()
    return receipt
  }

  /// Loads a section's content on the session's own thread; an event reports the result. Content that is loaded already
  /// stays on the screen meanwhile.
  public func load(_ section: String) throws {
    let (location, generation) = try current()
    set(section, to: .loading, generation: generation)
    do {
      try worker.add { [weak self] in self?.read(section, at: location, generation: generation) }
    } catch {
      set(section, to: .failed(reason: "\(error)"), generation: generation)
      throw error
    }
    fetch(section, at: location, generation: generation)
  }

  /// Reports that the host could not fetch a section. Content that is already loaded stays on the screen; the section has
  /// the reason as its `error`.
  public func fail(_ section: String, reason: String) throws {
    let (_, generation) = try current()
    set(section, to: .failed(reason: reason), generation: generation)
  }

  /// Sets the order of the sections; sections that are not listed follow in the order of delivery. The store
  /// keeps the order for later sessions, unless it is read-only.
  public func setOrder(_ names: [String]) throws {
    try checkOpen()
    if !catalogue.database.options.isReadOnly { try catalogue.setSectionOrder(names) }
    lock.withLock {
      screen.setOrder(names)
      screen.report(.sections)
    }
    deliver()
  }

  /// The location and the sections that the screen shows.
  public var state: (location: Location?, sections: [SessionSection]) {
    lock.withLock { (screen.location, screen.sections) }
  }

  /// Whether the source is asked for all of the location, and why it did not answer last; nil when it did.
  public var refreshing: (isRefreshing: Bool, error: String?) {
    lock.withLock { (screen.isFetching, screen.error) }
  }

  /// The JSON object that the C interface returns.
  package func text() throws -> [UInt8] {
    let (location, sections, isRefreshing, error) = lock.withLock {
      (screen.location, screen.sections, screen.isFetching, screen.error)
    }
    var text = Array(#"{"location":"#.utf8)
    try (location?.json ?? .null).write(into: &text)
    text.append(contentsOf: #","level":"#.utf8)
    let level = sections.compactMap(\.header?.level).max()
    try (level.map { .string($0.name) } ?? JSONValue.null).write(into: &text)
    text.append(
      contentsOf: (isRefreshing ? #","refreshing":true,"error":"# : #","refreshing":false,"error":"#).utf8)
    try (error.map { .string($0) } ?? JSONValue.null).write(into: &text)
    text.append(contentsOf: #","sections":["#.utf8)
    for (position, section) in sections.enumerated() {
      if position > 0 { text.append(UInt8(ascii: ",")) }
      try section.write(into: &text)
    }
    text.append(contentsOf: "]}".utf8)
    return text
  }

  // MARK: State

  func checkOpen() throws {
    if lock.withLock({ screen.isEnded }) { throw SatchelError(.closed, "the session has ended") }
  }

  func current() throws -> (Location, Int) {
    try checkOpen()
    return try lock.withLock {
      guard let location = screen.location else {
        throw SatchelError(.invalid, "the session shows no location yet")
      }
      return (location, screen.generation)
    }
  }

  func set(_ name: String, to state: SectionState, generation: Int) {
    lock.withLock {
      if generation == screen.generation { screen.set(name, to: state) }
    }
    deliver()
  }

  /// Delivers the events that were reported before, in their order. Returns when they are delivered, by this thread or
  /// another one.
  func deliver() {
    let last = lock.withLock { screen.reported }
    deliveryLock.withLock {
      let outer = deliveringThread.exchange(ThreadIdentity.current, ordering: .relaxed)
      defer { deliveringThread.store(outer, ordering: .relaxed) }
      while let event = lock.withLock({ screen.next(through: last) }) { onEvent(event) }
    }
  }
}
