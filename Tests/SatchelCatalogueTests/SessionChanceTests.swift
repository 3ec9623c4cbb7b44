import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

/// A call of the host, or of another handle on the file.
private enum Step: Sendable {
  case show(Int)
  case load(String)
  case handle(String, String)
  case fail(String)
  case order([String])
  case persist(isOther: Bool, place: Int, String, String)
  case deliver(isOther: Bool, place: Int, [String], String, isComplete: Bool)
  case prune(isOther: Bool, String)
  case delete(isOther: Bool, place: Int)
}

/// The steps of one interleaving, from a seed.
private struct Interleaving: CustomStringConvertible {
  let seed: UInt64
  /// The steps of each thread.
  var threads: [[Step]]
  /// Whether content is removed, or another place shown.
  let isDisturbed: Bool

  static let names = ["s0", "s1", "s2"]

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededRandom(seed: seed)
    isDisturbed = random.chance(40)
    threads = Array(repeating: [], count: 1 + random.below(3))
    threads[0].append(.show(0))
    for _ in 0..<(6 + random.below(12)) {
      threads[random.below(threads.count)].append(Self.step(&random, isDisturbed))
    }
  }

  /// - Parameter isShared: whether the other place sees it in any case
  private static func content(_ random: inout SeededRandom, isShared: Bool = false) -> String {
    let value = random.below(4)
    if !isShared, random.once(in: 5) { return #"{"n":\#(value)}"# }
    let scope = isShared ? "country" : random.pick(["country", "locality"])
    return #"{"x":{"v":\#(value),\#(tag("e:\(random.below(3))", scope))},"n":\#(random.below(2))}"#
  }

  private static func step(_ random: inout SeededRandom, _ isDisturbed: Bool) -> Step {
    let name = random.pick(names)
    let (isOther, place) = (random.chance(50), random.below(2))
    // A place must not lose what it inherits, where nothing is removed.
    let isShared = place == 1 && !isDisturbed
    switch random.below(isDisturbed ? 13 : 9) {
    case 0, 1: return .load(name)
    case 2: return .handle(name, content(&random))
    case 3: return .fail(name)
    case 4: return .show(0)
    case 5: return .order([random.pick(names), random.pick(names)])
    case 6, 7: return .persist(isOther: isOther, place: place, name, content(&random, isShared: isShared))
    case 8:
      return .deliver(
        isOther: isOther, place: place, [name, random.pick(names)], content(&random, isShared: isShared),
        isComplete: false)
    case 9: return .show(1)
    case 10:
      return .deliver(isOther: isOther, place: place, [name], content(&random), isComplete: true)
    case 11: return .prune(isOther: isOther, name)
    default: return .delete(isOther: isOther, place: place)
    }
  }

  var description: String { "seed \(seed)\(isDisturbed ? ", with removals" : "")" }
}

/// Hears a session's events, and compares them with its state.
private final class Watcher: Sendable {
  struct Seen {
    /// The state of the screen when the last event was delivered.
    var screen: [UInt8] = []
    /// The state of each section that its last event had.
    var states: [String: String] = [:]
    /// Sections that were loaded, and then were not.
    var lost: [String] = []
  }

  let seen = Mutex(Seen())
  let session = Mutex<Session?>(nil)

  func hear(_ event: SessionEvent) {
    guard let session = session.withLock({ $0 }) else { return }
    let screen = (try? session.text()) ?? []
    seen.withLock { seen in
      seen.screen = screen
      guard case .section(let name, let state) = event else { return }
      if seen.states[name] == "loaded", state != "loaded" { seen.lost.append("\(name): \(state)") }
      seen.states[name] = state
    }
  }
}

@Suite("A session in any interleaving")
struct SessionChanceTests {
  /// Returns what a screen shows that is not so in the store; nil when there is nothing.
  private func difference(_ session: Session, _ catalogue: Catalogue) throws -> String? {
    let (location, sections) = session.state
    guard let location else { return "no location" }
    let headers = try catalogue.sections(at: location)
    for section in sections {
      let header = headers.first { $0.section == section.name }
      if section.isRefreshing { return "\(section.name) is refreshing" }
      if section.header != header { return "the header of \(section.name)" }
      switch section.state {
      case .placeholder, .failed: break
      case .loading: return "\(section.name) is loading"
      case .loaded(let shown):
        if try catalogue.load(section.name, at: location, allowExpired: true) != shown {
          return "the content of \(section.name)"
        }
      }
    }
    let missing = headers.first { header in !sections.contains { $0.name == header.section } }
    return missing.map { "\($0.section) is missing" }
  }

  private func perform(
    _ step: Step, _ session: Session, _ handles: [Catalogue], _ places: [Location]
  ) throws {
    func catalogue(_ isOther: Bool) -> Catalogue { handles[isOther ? 1 : 0] }
    switch step {
    case .show(let place): try session.show(places[place])
    case .load(let name): try session.load(name)
    case .handle(let name, let content):
      _ = try Array(CatalogueFixture.section(name, content).utf8).withUnsafeBytes { try session.handle($0) }
    case .fail(let name): try session.fail(name, reason: "offline")
    case .order(let names): try session.setOrder(names)
    case .persist(let isOther, let place, let name, let content):
      _ = try Array(CatalogueFixture.section(name, content).utf8).withUnsafeBytes {
        try catalogue(isOther).persist($0, at: places[place])
      }
    case .deliver(let isOther, let place, let names, let content, let isComplete):
      let sections = names.map { CatalogueFixture.section($0, content) }.joined(separator: ",")
      let delivery = #"{"location":\#(try places[place].json.text),"sections":[\#(sections)]}"#
      _ = try Array(delivery.utf8).withUnsafeBytes {
        try catalogue(isOther).deliver($0, complete: isComplete)
      }
    case .prune(let isOther, let name):
      var options = PruneOptions()
      (options.expired, options.section) = (false, name)
      _ = try catalogue(isOther).prune(options)
    case .delete(let isOther, let place): _ = try catalogue(isOther).deleteContext(places[place])
    }
  }

  private func run(_ plan: Interleaving, _ handles: [Catalogue]) throws {
    let places = try ["a", "b"].map { try place("x\(plan.seed)", "r", $0) }
    for name in Interleaving.names.prefix(Int(plan.seed % 4)) {
      _ = try Array(CatalogueFixture.section(name, #"{"n":9}"#).utf8).withUnsafeBytes {
        try handles[0].persist($0, at: places[0])
      }
    }
    let watcher = Watcher()
    let session = Session(handles[0]) { watcher.hear($0) }
    watcher.session.withLock { $0 = session }
    defer {
      session.end()
      watcher.session.withLock { $0 = nil }
    }
    try perform(plan.threads[0][0], session, handles, places)
    onThreads(plan.threads.count) { thread in
      for step in plan.threads[thread].dropFirst(thread == 0 ? 1 : 0) {
        do {
          try perform(step, session, handles, places)
        } catch { Issue.record("\(step): \(error); \(plan)") }
      }
    }
    try handles[0].database.changes.look()
    // Commits and loads may still be looked at: in the end there is no difference.
    var found = try problem(session, watcher, handles[0], plan)
    for _ in 0..<20_000 where found != nil {
      usleep(500)
      found = try problem(session, watcher, handles[0], plan)
    }
    #expect(found == nil, "\(plan)")
  }

  /// Returns what is not as it must be in the end; nil when everything is.
  private func problem(
    _ session: Session, _ watcher: Watcher, _ catalogue: Catalogue, _ plan: Interleaving
  ) throws -> String? {
    if let found = try difference(session, catalogue) { return found }
    let screen = try session.text()
    let seen = watcher.seen.withLock { $0 }
    if seen.screen != screen { return "a change without an event" }
    if plan.isDisturbed { return nil }
    if let lost = seen.lost.first { return lost }
    return session.state.sections.first { section in
      seen.states[section.name].map { $0 != section.state.name } ?? false
    }.map { "\($0.name) was \(seen.states[$0.name] ?? "-") in its last event" }
  }

  @Test("what is shown stays, follows every commit, and is what is stored in the end")
  func interleavings() throws {
    let seeds = Array(Portion.seeds(0..<10_000, parts: 50))
    for start in stride(from: 0, to: seeds.count, by: 50) {
      let fixture = try CatalogueFixture(onDisk: true)
      let other = try fixture.another()
      for seed in seeds[start..<min(start + 50, seeds.count)] {
        try run(Interleaving(seed: seed), [fixture.catalogue, other.catalogue])
      }
      try fixture.expectSound()
      try other.close()
    }
  }
}
