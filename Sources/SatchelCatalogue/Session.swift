import SatchelCore
import SatchelJSON
import SatchelStorage
import Synchronization

/// The model of one screen: the sections of a location, each in the state placeholder, loading, loaded or
/// failed.
///
/// It does not depend on a user interface. Safe to use from any number of threads. Events are delivered one
/// at a time, on the thread that caused them, or on the session's own thread when content was loaded.
// Unchecked: `lock` guards all mutable state.
public final class Session: @unchecked Sendable {
  private let catalogue: Catalogue
  private let onEvent: @Sendable (SessionEvent) -> Void
  private let worker = Worker()
  private let lock = ConditionLock()
  /// Held while an event is delivered, so that events do not overlap.
  private let deliveryLock = ConditionLock()
  /// The thread that delivers an event; 0 for none.
  private let deliveringThread = Atomic<UInt>(0)

  private var location: Location?
  private var sections: [SessionSection] = []
  /// The order of the sections; nil until one is set or read from the store.
  private var order: [String]?
  /// The number of calls of `show`; results for an earlier generation are discarded.
  private var generation = 0
  private var isEnded = false

  /// Creates a session that shows no location yet.
  ///
  /// - Parameter onEvent: called for each event
  public init(_ catalogue: Catalogue, onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in }) {
    self.catalogue = catalogue
    self.onEvent = onEvent
  }

  deinit { end() }

  /// Ends the session: no event is delivered afterwards. Waits for an event that is being delivered on
  /// another thread. Called from an event, it does not wait for content that is being loaded, because the
  /// event of that load would wait for the caller's event.
  public func end() {
    lock.withLock { isEnded = true }
    worker.stop(waits: deliveringThread.load(ordering: .relaxed) != ThreadIdentity.current)
    deliveryLock.withLock {}
  }

  // MARK: Commands of the host

  /// Shows a location: its stored sections as placeholders, then an event with the entities to fetch. The
  /// location becomes the active location.
  public func show(_ location: Location) throws {
    try checkOpen()
    let headers = try catalogue.sections(at: location)
    let (cached, plan) = (try catalogue.hasCached(location), try catalogue.plan(for: location))
    if !catalogue.database.options.isReadOnly { try catalogue.setActiveLocation(location) }
    let storedOrder = try lock.withLock({ order }) ?? catalogue.sectionOrder()
    lock.withLock {
      order = order ?? storedOrder
      generation += 1
      self.location = location
      sections = headers.map { SessionSection(name: $0.section, header: $0, state: .placeholder) }
      arrange()
    }
    deliver(.sections)
    deliver(.refresh(cached: cached, plan: plan))
  }

  /// Stores a section for the session's location, and shows it with its content.
  @discardableResult
  public func handle(_ section: UnsafeRawBufferPointer) throws -> Receipt {
    let (location, generation) = try current()
    let receipt = try catalogue.persist(section, at: location)
    let headers = try catalogue.sections(at: location)
    let loaded = try catalogue.load(receipt.section, at: location, allowExpired: true)
    let isNew = lock.withLock {
      guard generation == self.generation else { return false }
      let known = sections.map(\.name)
      let before = Dictionary(sections.map { ($0.name, $0.state) }, uniquingKeysWith: { $1 })
      // A section that was inherited until now keeps its position on the screen.
      let position = Dictionary(known.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
      sections =
        headers.enumerated().ordered {
          (position[$0.element.section] ?? .max, $0.offset) < (
            position[$1.element.section] ?? .max, $1.offset
          )
        }.map { SessionSection(name: $1.section, header: $1, state: before[$1.section] ?? .placeholder) }
        + sections.filter { section in
          section.header == nil && !headers.contains { $0.section == section.name }
        }
      arrange()
      return known != sections.map(\.name)
    }
    if isNew { deliver(.sections) }
    if let loaded { set(receipt.section, to: .loaded(loaded), generation: generation) }
    return receipt
  }

  /// Loads a section's content on the session's own thread; an event reports the result.
  public func load(_ section: String) throws {
    let (location, generation) = try current()
    set(section, to: .loading, generation: generation)
    try worker.add { [weak self] in
      guard let self else { return }
      do {
        if let loaded = try self.catalogue.load(section, at: location, allowExpired: true) {
          self.set(section, to: .loaded(loaded), generation: generation)
        } else {
          self.set(section, to: .failed(reason: "nothing is stored for the section"), generation: generation)
        }
      } catch {
        self.set(section, to: .failed(reason: "\(error)"), generation: generation)
      }
    }
  }

  /// Reports that the host could not fetch a section. Content that is already loaded stays on the screen.
  public func fail(_ section: String, reason: String) throws {
    let (_, generation) = try current()
    let isLoaded = lock.withLock { self.section(section)?.state.name == "loaded" }
    if !isLoaded { set(section, to: .failed(reason: reason), generation: generation) }
  }

  /// Sets the order of the sections; sections that are not listed follow in the order of delivery. The store
  /// keeps the order for later sessions, unless it is read-only.
  public func setOrder(_ names: [String]) throws {
    try checkOpen()
    if !catalogue.database.options.isReadOnly { try catalogue.setSectionOrder(names) }
    lock.withLock {
      order = names
      arrange()
    }
    deliver(.sections)
  }

  /// The location and the sections that the screen shows.
  public var state: (location: Location?, sections: [SessionSection]) {
    lock.withLock { (location, sections) }
  }

  /// The JSON object that the C interface returns.
  package var json: JSONValue {
    let (location, sections) = state
    return [
      "location": location?.json ?? .null,
      "level": sections.compactMap(\.header?.level).max().map { .string($0.name) } ?? .null,
      "sections": .array(sections.map(\.json)),
    ]
  }

  // MARK: State

  private func checkOpen() throws {
    if lock.withLock({ isEnded }) { throw SatchelError(.closed, "the session has ended") }
  }

  private func current() throws -> (Location, Int) {
    try checkOpen()
    return try lock.withLock {
      guard let location else { throw SatchelError(.invalid, "the session shows no location yet") }
      return (location, generation)
    }
  }

  private func section(_ name: String) -> SessionSection? { sections.first { $0.name == name } }

  private func set(_ name: String, to state: SectionState, generation: Int) {
    let isShown = lock.withLock {
      guard generation == self.generation, !isEnded else { return false }
      if let index = sections.firstIndex(where: { $0.name == name }) {
        sections[index].state = state
        if case .loaded(let section) = state { sections[index].header = section.header }
      } else {
        sections.append(SessionSection(name: name, header: nil, state: state))
        arrange()
      }
      return true
    }
    if isShown { deliver(.section(name, state: state.name)) }
  }

  private func arrange() {
    let rank = Dictionary(
      (order ?? []).enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    sections = sections.enumerated().ordered { one, other in
      (rank[one.element.name] ?? .max, one.offset) < (rank[other.element.name] ?? .max, other.offset)
    }.map(\.element)
  }

  private func deliver(_ event: SessionEvent) {
    deliveryLock.withLock {
      let outer = deliveringThread.exchange(ThreadIdentity.current, ordering: .relaxed)
      defer { deliveringThread.store(outer, ordering: .relaxed) }
      if lock.withLock({ !isEnded }) { onEvent(event) }
    }
  }
}
