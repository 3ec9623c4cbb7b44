import Foundation
import Satchel
import Synchronization
import Testing

/// Remembers what a session told, in order, and whether it ever told two things at once.
private final class Ear: Sendable {
  private let events = Mutex<[SessionEvent]>([])
  private let inside = Atomic(0)
  let overlaps = Atomic(0)
  let delay: UInt32

  init(delay: UInt32 = 0) { self.delay = delay }

  func hear(_ event: SessionEvent) {
    if inside.add(1, ordering: .sequentiallyConsistent).oldValue > 0 { overlaps.add(1, ordering: .relaxed) }
    if delay > 0 { usleep(delay) }
    events.withLock { $0.append(event) }
    inside.subtract(1, ordering: .sequentiallyConsistent)
  }

  var heard: [SessionEvent] { events.withLock { $0 } }
  var brief: [String] {
    heard.map { event in
      switch event {
      case .sections: "sections"
      case .section(let name, let state): "\(name) \(state)"
      case .refresh(let cached, let plan): "refresh \(cached?.rawValue ?? "nothing") \(plan.map(\.section))"
      }
    }
  }

  /// Waits for an event, for at most two minutes.
  func wait(for event: String) throws {
    for _ in 0..<120_000 {
      if brief.contains(event) { return }
      usleep(1000)
    }
    Issue.record("\(event) never came: \(brief)")
  }
}

@Suite("Session")
struct SessionTests {
  private let lyon: Location
  private let paris: Location

  init() throws {
    lyon = try place("fr", "ara", "Lyon")
    paris = try place("fr", "idf", "Paris")
  }

  private func content(_ value: String, _ id: String = "s:1") -> String {
    #"{"x":{"v":"\#(value)",\#(tag(id, "country", hours: "1"))}}"#
  }

  private func states(_ session: Session) -> [String] {
    session.state.sections.map { "\($0.name) \($0.state.name)" }
  }

  private func handle(_ session: Session, _ name: String, _ content: String) throws -> Receipt {
    try Array(Shelf.section(name, content).utf8).withUnsafeBytes { try session.handle($0) }
  }

  @Test("a session shows what is stored at once, and says what to fetch")
  func show() throws {
    let shelf = try Shelf()
    try shelf.persist("s", content("a"), at: lyon)
    try shelf.persist("t", content("b", "t:1"), at: lyon)
    shelf.clock.advance(hour)
    let ear = Ear()
    let session = Session(shelf.catalogue) { ear.hear($0) }
    try session.show(lyon)
    #expect(states(session) == ["s placeholder", "t placeholder"])
    #expect(ear.brief == ["sections", #"refresh exact ["s", "t"]"#])
    guard case .refresh(_, let plan)? = ear.heard.last else { return }
    #expect(plan.map(\.plan.expired) == [["s:1"], ["t:1"]])
    #expect(try shelf.catalogue.activeLocation() == lyon)
    try session.load("s")
    try ear.wait(for: "s loaded")
    #expect(ear.brief.suffix(2) == ["s loading", "s loaded"])
    #expect(states(session) == ["s loaded", "t placeholder"])
    // What has expired is shown, and marked.
    guard case .loaded(let section)? = session.state.sections.first?.state else { return }
    #expect(try section.content.text == #"{"x":{"v":"a"}}"# && section.expired == ["s:1"])
    #expect(session.json["level"] == "locality")
  }

  @Test("a section that arrives is stored and shown; what another place lent gives way to it")
  func takenOver() throws {
    let shelf = try Shelf()
    try shelf.persist("s", content("lent"), at: lyon)
    try shelf.persist("t", content("lent", "t:1"), at: lyon)
    let ear = Ear()
    let session = Session(shelf.catalogue) { ear.hear($0) }
    try session.show(paris)
    #expect(ear.brief == ["sections", #"refresh inherited ["s", "t"]"#])
    #expect(session.json["level"] == "country")
    let receipt = try handle(session, "s", content("own"))
    #expect(receipt.updated == 1)
    #expect(ear.brief.suffix(2) == ["sections", "s loaded"])
    #expect(states(session) == ["s loaded"])
    #expect(session.json["level"] == "locality")
    _ = try handle(session, "n", "{}")
    #expect(states(session) == ["s loaded", "n loaded"])
    _ = try handle(session, "n", #"{"a":1}"#)
    #expect(ear.brief.suffix(3) == ["sections", "n loaded", "n loaded"])
    #expect(try shelf.catalogue.hasCached(paris) == .exact)
  }

  @Test("what arrives with a life of no length is shown all the same")
  func shortLived() throws {
    let shelf = try Shelf()
    let session = Session(shelf.catalogue)
    try session.show(lyon)
    _ = try handle(session, "s", #"{"x":{"v":1,\#(tag("s:1", "country", hours: "0"))}}"#)
    guard case .loaded(let section)? = session.state.sections.first?.state else {
      Issue.record("not loaded")
      return
    }
    #expect(try section.content.text == #"{"x":{"v":1}}"# && section.expired == ["s:1"])
  }

  @Test("the host's order comes first, the rest as it was delivered")
  func order() throws {
    let shelf = try Shelf()
    for name in ["a", "b", "c", "d"] { try shelf.persist(name, "{}", at: lyon) }
    let ear = Ear()
    let session = Session(shelf.catalogue) { ear.hear($0) }
    try session.setOrder(["d", "none", "b"])
    try session.show(lyon)
    #expect(session.state.sections.map(\.name) == ["d", "b", "a", "c"])
    _ = try handle(session, "e", "{}")
    #expect(session.state.sections.map(\.name) == ["d", "b", "a", "c", "e"])
    try session.setOrder(["e", "e", "a"])
    #expect(session.state.sections.map(\.name).prefix(2) == ["e", "a"])
    #expect(ear.brief.filter { $0 == "sections" }.count == 4)
  }

  @Test("what was asked for before another location was shown does not show")
  func stale() throws {
    let shelf = try Shelf()
    let body = String(repeating: "x", count: 200_000)
    try shelf.persist("s", content("lyon" + body), at: lyon)
    let home = try place("de")
    try shelf.persist("s", content("berlin"), at: home)
    let ear = Ear()
    let session = Session(shelf.catalogue) { ear.hear($0) }
    for _ in 0..<30 {
      try session.show(lyon)
      try session.load("s")
      try session.show(home)
      #expect(states(session) == ["s placeholder"])
      try session.load("s")
      for _ in 0..<240_000 where states(session) != ["s loaded"] { usleep(500) }
      guard case .loaded(let section)? = session.state.sections.first?.state else {
        Issue.record("never loaded")
        return
      }
      #expect(section.content["x"]?["v"] == "berlin")
    }
  }

  @Test("a section that fails says why; one that is on the screen stays")
  func failing() throws {
    let shelf = try Shelf()
    try shelf.persist("s", content("a"), at: lyon)
    let ear = Ear()
    let session = Session(shelf.catalogue) { ear.hear($0) }
    #expect(throws: SatchelError.self) { try session.fail("s", reason: "no location yet") }
    #expect(throws: SatchelError.self) { try session.load("s") }
    try session.show(lyon)
    try session.fail("s", reason: "timeout")
    #expect(session.state.sections.first?.state == .failed(reason: "timeout"))
    #expect(session.json["sections"]?.arrayValue?.first?["reason"] == "timeout")
    try session.fail("new", reason: "gone")
    #expect(states(session) == ["s failed", "new failed"])
    _ = try handle(session, "s", content("b"))
    try session.fail("s", reason: "again")
    #expect(states(session).first == "s loaded")
    try session.load("nowhere")
    try ear.wait(for: "nowhere failed")
    #expect(throws: SatchelError.self) { try handle(session, "s", "{") }
    #expect(states(session).first == "s loaded")
  }

  @Test("a session that has ended is silent, and waits for what is under way")
  func end() throws {
    let shelf = try Shelf()
    let items = (0..<2000).map { #"{"v":1,\#(tag("s:\($0)", "country"))}"# }
    try shelf.persist("s", "[\(items.joined(separator: ","))]", at: lyon)
    for round in 0..<20 {
      let ear = Ear(delay: 300)
      let session = Session(shelf.catalogue) { ear.hear($0) }
      try session.show(lyon)
      for _ in 0..<5 { try session.load("s") }
      usleep(UInt32(round) * 500)
      session.end()
      let count = ear.heard.count
      usleep(5000)
      #expect(ear.heard.count == count)
      #expect(throws: SatchelError.self) { try session.show(lyon) }
      #expect(throws: SatchelError.self) { try session.load("s") }
      #expect(throws: SatchelError.self) { try handle(session, "s", "{}") }
      session.end()
    }
  }

  @Test("events never come two at once, whatever threads do")
  func oneAtATime() throws {
    let shelf = try Shelf(onDisk: true)
    for name in 0..<4 { try shelf.persist("s\(name)", content("a", "s:\(name)"), at: lyon) }
    let ear = Ear(delay: 200)
    let session = Session(shelf.catalogue) { ear.hear($0) }
    try session.show(lyon)
    onThreads(6) { thread in
      for round in 0..<15 {
        do {
          switch (thread + round) % 4 {
          case 0: try session.load("s\(round % 4)")
          case 1: _ = try handle(session, "s\(round % 4)", content("\(round)", "s:\(round % 4)"))
          case 2: try session.fail("x", reason: "\(round)")
          default: try session.setOrder(["s\(round % 4)"])
          }
        } catch { Issue.record(error) }
      }
    }
    try ear.wait(for: "s1 loaded")
    session.end()
    #expect(ear.overlaps.load(ordering: .relaxed) == 0)
    #expect(ear.heard.count > 80)
    try shelf.expectSound()
  }
}
