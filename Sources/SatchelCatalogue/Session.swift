import SatchelJSON
import SatchelStorage
import Synchronization

/// What one screen shows: the sections of a location, each placeholder → loading → loaded | failed.
///
/// Usable without any user interface. Safe to use from any number of threads; events are told one at a time, on
/// the thread that caused them, or on a thread of the session's when content was loaded.
// Unchecked: all state is behind the monitor.
public final class Session: @unchecked Sendable {
  private let catalogue: Catalogue
  private let hear: @Sendable (SessionEvent) -> Void
  private let worker = Worker()
  private let monitor = Monitor()
  /// Held while the host hears an event, so that it never hears two at once.
  private let telling = Monitor()
  /// The thread on which the host hears one, 0 for none.
  private let teller = Atomic<UInt>(0)

  private var location: Location?
  private var sections: [SessionSection] = []
  private var order: [String] = []
  /// Grows with every `show`: what was asked for before is not shown any more.
  private var generation = 0
  private var isOver = false

  public init(_ catalogue: Catalogue, hear: @escaping @Sendable (SessionEvent) -> Void = { _ in }) {
    self.catalogue = catalogue
    self.hear = hear
  }

  deinit { end() }

  /// Falls silent. Waits for an event under way on another thread. In an event it does not wait for content being
  /// loaded, whose own event would have to wait for this one.
  public func end() {
    monitor.withLock { isOver = true }
    worker.stop(waits: teller.load(ordering: .relaxed) != ThreadIdentity.current)
    telling.withLock {}
  }

  // MARK: What the host says

  /// Shows a location: what is stored for it at once, as placeholders; then tells the host what to fetch. It
  /// becomes the active location.
  public func show(_ location: Location) throws {
    try checkOpen()
    let headers = try catalogue.sections(at: location)
    let (cached, plan) = (try catalogue.hasCached(location), try catalogue.plan(for: location))
    if !catalogue.database.options.isReadOnly { try catalogue.setActiveLocation(location) }
    monitor.withLock {
      generation += 1
      self.location = location
      sections = headers.map { SessionSection(name: $0.section, header: $0, state: .placeholder) }
      arrange()
    }
    tell(.sections)
    tell(.refresh(cached: cached, plan: plan))
  }

  /// Persists a section for the session's location, and shows it with its content.
  @discardableResult
  public func handle(_ section: UnsafeRawBufferPointer) throws -> Receipt {
    let (location, generation) = try current()
    let receipt = try catalogue.persist(section, at: location)
    let headers = try catalogue.sections(at: location)
    let loaded = try catalogue.load(receipt.section, at: location, allowExpired: true)
    let isNew = monitor.withLock {
      guard generation == self.generation else { return false }
      let known = Set(sections.map(\.name))
      let before = Dictionary(sections.map { ($0.name, $0.state) }, uniquingKeysWith: { $1 })
      // The location may have had another place's sections until now; its own take over.
      sections = headers.map {
        SessionSection(name: $0.section, header: $0, state: before[$0.section] ?? .placeholder)
      }
      arrange()
      return known != Set(sections.map(\.name))
    }
    if isNew { tell(.sections) }
    if let loaded { set(receipt.section, .loaded(loaded), generation) }
    return receipt
  }

  /// Asks for a section's content; it follows as an event, from a thread of the session's.
  public func load(_ section: String) throws {
    let (location, generation) = try current()
    set(section, .loading, generation)
    try worker.add { [weak self] in
      guard let self else { return }
      do {
        if let loaded = try self.catalogue.load(section, at: location, allowExpired: true) {
          self.set(section, .loaded(loaded), generation)
        } else {
          self.set(section, .failed(reason: "nothing is stored for it"), generation)
        }
      } catch {
        self.set(section, .failed(reason: "\(error)"), generation)
      }
    }
  }

  /// Says that fetching a section failed. What is loaded of it already stays on the screen.
  public func fail(_ section: String, reason: String) throws {
    let (_, generation) = try current()
    let isLoaded = monitor.withLock { self.section(section)?.state.name == "loaded" }
    if !isLoaded { set(section, .failed(reason: reason), generation) }
  }

  /// Puts sections into an order; those not named follow as they were delivered.
  public func setOrder(_ names: [String]) throws {
    try checkOpen()
    monitor.withLock {
      order = names
      arrange()
    }
    tell(.sections)
  }

  /// What the screen shows now.
  public var state: (location: Location?, sections: [SessionSection]) {
    monitor.withLock { (location, sections) }
  }

  /// As it crosses the C boundary.
  public var json: JSONValue {
    let (location, sections) = state
    return [
      "location": location?.json ?? .null,
      "level": sections.lazy.compactMap(\.header).first.map { .string($0.level.name) } ?? .null,
      "sections": .array(sections.map(\.json)),
    ]
  }

  // MARK: State

  private func checkOpen() throws {
    if monitor.withLock({ isOver }) { throw SatchelError(.closed, "the session is over") }
  }

  private func current() throws -> (Location, Int) {
    try checkOpen()
    return try monitor.withLock {
      guard let location else { throw SatchelError(.invalid, "the session shows no location yet") }
      return (location, generation)
    }
  }

  private func section(_ name: String) -> SessionSection? { sections.first { $0.name == name } }

  private func set(_ name: String, _ state: SectionState, _ generation: Int) {
    let isShown = monitor.withLock {
      guard generation == self.generation, !isOver else { return false }
      if let index = sections.firstIndex(where: { $0.name == name }) {
        sections[index].state = state
        if case .loaded(let section) = state { sections[index].header = section.header }
      } else {
        sections.append(SessionSection(name: name, header: nil, state: state))
        arrange()
      }
      return true
    }
    if isShown { tell(.section(name, state: state.name)) }
  }

  private func arrange() {
    let rank = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    sections = sections.enumerated().sorted { one, other in
      (rank[one.element.name] ?? .max, one.offset) < (rank[other.element.name] ?? .max, other.offset)
    }.map(\.element)
  }

  private func tell(_ event: SessionEvent) {
    telling.withLock {
      let outer = teller.exchange(ThreadIdentity.current, ordering: .relaxed)
      defer { teller.store(outer, ordering: .relaxed) }
      if monitor.withLock({ !isOver }) { hear(event) }
    }
  }
}
