import SatchelCore
import SatchelJSON

/// The content of a session's screen, and the events that report it. The session's lock guards it.
final class SessionScreen {
  private(set) var location: Location?
  private(set) var sections: [SessionSection] = []
  /// The order of the sections; nil until one is set or read from the store.
  private(set) var order: [String]?
  /// The number of locations that were shown; what was read for an earlier one is discarded.
  private(set) var generation = 0
  private(set) var isEnded = false
  /// The requests for all of the location that the source has not answered.
  var fetches = 0
  /// Whether the source is asked for all of the location.
  var isFetching: Bool { fetches > 0 }
  /// Why the source did not answer that request; nil when it did.
  var error: String?
  /// The revision of the newest state of the store that is shown.
  var revision: Int64 = 0
  /// The number of events that were reported so far.
  private(set) var reported = 0
  /// Those of them that are not delivered yet.
  private var events: [SessionEvent] = []

  // MARK: Events

  func report(_ event: SessionEvent) {
    guard !isEnded else { return }
    reported += 1
    events.append(event)
  }

  /// Takes the first event that is not delivered yet, if it is one of the first `count`.
  func next(through count: Int) -> SessionEvent? {
    reported - events.count < count && !events.isEmpty ? events.removeFirst() : nil
  }

  func end() {
    isEnded = true
    events = []
  }

  // MARK: Sections

  /// Shows a location with the headers of its sections.
  ///
  /// - Returns: whether it was shown already
  func show(_ location: Location, _ headers: [SectionHeader], storedOrder: [String]) -> Bool {
    let isAgain = self.location == location
    if !isAgain {
      generation += 1
      sections = []
      (fetches, error) = (0, nil)
    }
    self.location = location
    order = order ?? storedOrder
    if !merge(headers) { report(.sections) }
    return isAgain
  }

  /// Takes the headers of the location: known sections keep their state and their position, new ones are placeholders,
  /// and those of which nothing is stored any more go. A section that is loaded keeps the header of its content.
  ///
  /// - Returns: whether the list of sections has changed
  @discardableResult
  func merge(_ headers: [SectionHeader]) -> Bool {
    let before = sections
    let positions = Self.positions(before.map(\.name))
    func position(_ name: String) -> Int? { positions[name]?.intValue.map { Int($0) } }
    let merged = headers.enumerated().map { offset, header in
      let known = position(header.section)
      var section = known.map { before[$0] } ?? SessionSection(name: header.section)
      if section.loaded == nil { section.header = header }
      return (rank: known ?? before.count + offset, section: section)
    }
    let stored = Self.positions(headers.map(\.section))
    let waiting = before.filter { $0.header == nil && stored[$0.name] == nil }
    sections = merged.ordered { $0.rank < $1.rank }.map(\.section) + waiting
    arrange()
    let isOther =
      before.count != sections.count
      || zip(before, sections).contains { !$0.name.hasSameBytes(as: $1.name) }
    if isOther { report(.sections) }
    for section in sections where section.loaded == nil {
      guard let known = position(section.name), let header = section.header else { continue }
      let isSame = before[known].header?.isShownAs(header) ?? false
      if !isSame { report(.section(section.name, state: section.state.name)) }
    }
    return isOther
  }

  func setOrder(_ names: [String]) {
    order = names
    arrange()
  }

  private func arrange() {
    guard let order, !order.isEmpty else { return }
    let ranks = Self.positions(order)
    sections = sections.enumerated().map {
      (rank: ranks[$1.name]?.intValue ?? .max, offset: $0, section: $1)
    }.ordered { ($0.rank, $0.offset) < ($1.rank, $1.offset) }.map(\.section)
  }

  /// The positions of names, the first of several. An object's keys are compared by bytes, as names are.
  private static func positions(_ names: [String]) -> JSONObject {
    var positions = JSONObject()
    for (position, name) in names.enumerated() where positions[name] == nil {
      positions[name] = .int(Int64(position))
    }
    return positions
  }

  private func index(of name: String) -> Int? {
    // By index: a section is not copied to compare its name.
    sections.indices.first { sections[$0].name.hasSameBytes(as: name) }
  }

  /// Sets the state of a section, as the host has asked or said.
  func set(_ name: String, to state: SectionState) {
    guard !isEnded else { return }
    if index(of: name) == nil {
      sections.append(SessionSection(name: name))
      arrange()
      report(.sections)
    }
    guard let index = index(of: name) else { return }
    sections[index].take(state)
    report(.section(name, state: sections[index].state.name))
    sections[index].reported = reported
  }

  /// Shows content that was just stored, unless an event that is later than `number` has reported it already.
  func take(_ content: Section, of name: String, unlessReportedAfter number: Int) {
    if let index = index(of: name), sections[index].reported > number, sections[index].shows(content) {
      return
    }
    set(name, to: .loaded(content))
  }

  /// Shows content that a commit may have changed; no event when it has not. A load that was asked for is still to come.
  func refresh(_ content: Section) {
    guard !isEnded, let index = index(of: content.header.section) else { return }
    let before = sections[index]
    if case .placeholder = before.state { return }
    if before.shows(content) {
      // It may have been written again as it was.
      (sections[index].state, sections[index].header) = (.loaded(content), content.header)
      return
    }
    set(content.header.section, to: .loaded(content))
    if case .loading = before.state { sections[index].isReading = true }
    if before.isReading { sections[index].isReading = true }
  }

  /// Changes a section, or all of them, and reports those that have become different.
  func change(_ name: String?, _ body: (inout SessionSection) -> Void) {
    guard !isEnded else { return }
    for index in sections.indices where name.map({ sections[index].name.hasSameBytes(as: $0) }) ?? true {
      let before = sections[index]
      body(&sections[index])
      if sections[index] != before {
        report(.section(sections[index].name, state: sections[index].state.name))
      }
    }
  }
}
