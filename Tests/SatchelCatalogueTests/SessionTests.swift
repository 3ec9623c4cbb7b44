import Foundation
import Satchel
import Testing

@Suite("Session")
struct SessionTests {
  private let lyon: Location
  private let paris: Location

  init() throws {
    lyon = try place("fr", "ara", "Lyon")
    paris = try place("fr", "idf", "Paris")
  }

  private func content(_ value: String, _ id: String = "s:1") -> String { SessionFixture.content(value, id) }
  private func states(_ session: Session) -> [String] { SessionFixture.states(session) }
  private func handle(_ session: Session, _ name: String, _ content: String) throws -> Receipt {
    try SessionFixture.handle(session, name, content)
  }

  @Test("a session shows stored sections immediately, and reports what to fetch")
  func show() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", content("a"), at: lyon)
    try fixture.persist("t", content("b", "t:1"), at: lyon)
    fixture.clock.advance(hour)
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
    try session.show(lyon)
    #expect(states(session) == ["s placeholder", "t placeholder"])
    #expect(recorder.brief == ["sections", #"refresh exact ["s", "t"]"#])
    guard case .refresh(_, let plan)? = recorder.recorded.last else { return }
    #expect(plan.map(\.plan.expired) == [["s:1"], ["t:1"]])
    #expect(try fixture.catalogue.activeLocation() == lyon)
    try session.load("s")
    try recorder.wait(for: "s loaded")
    #expect(recorder.brief.suffix(2) == ["s loading", "s loaded"])
    #expect(states(session) == ["s loaded", "t placeholder"])
    // Expired content is visible, and marked.
    guard case .loaded(let section)? = session.state.sections.first?.state else { return }
    #expect(try section.content.text == #"{"x":{"v":"a"}}"# && section.expired == ["s:1"])
    #expect(try SessionFixture.json(session)["level"] == "locality")
  }

  @Test("a handled section is stored and shown in its position; the other inherited ones stay")
  func takenOver() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", content("lent"), at: lyon)
    try fixture.persist("t", content("lent", "t:1"), at: lyon)
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
    try session.show(paris)
    #expect(recorder.brief == ["sections", #"refresh inherited ["s", "t"]"#])
    #expect(try SessionFixture.json(session)["level"] == "country")
    let receipt = try handle(session, "t", content("own", "t:1"))
    #expect(receipt.updated == 1)
    #expect(recorder.brief.suffix(1) == ["t loaded"])
    #expect(states(session) == ["s placeholder", "t loaded"])
    #expect(session.state.sections.map(\.header?.level) == [.country, .locality])
    #expect(try SessionFixture.json(session)["level"] == "locality")
    _ = try handle(session, "n", "{}")
    #expect(states(session) == ["s placeholder", "t loaded", "n loaded"])
    _ = try handle(session, "n", #"{"a":1}"#)
    #expect(recorder.brief.suffix(3) == ["sections", "n loaded", "n loaded"])
    #expect(try fixture.catalogue.hasCached(paris) == .exact)
  }

  @Test("the order of sections is kept in the store")
  func storedOrder() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    for name in ["a", "b", "c"] { try fixture.persist(name, content("v", "\(name):1"), at: lyon) }
    let session = Session(fixture.catalogue)
    try session.show(paris)
    try session.setOrder(["c", "a"])
    session.end()
    try fixture.reopen()
    let next = Session(fixture.catalogue)
    try next.show(paris)
    #expect(next.state.sections.map(\.name) == ["c", "a", "b"])
    _ = try handle(next, "b", content("own", "b:1"))
    #expect(next.state.sections.map(\.name) == ["c", "a", "b"])
    try next.setOrder([])
    next.end()
    try fixture.reopen()
    let last = Session(fixture.catalogue)
    try last.show(lyon)
    #expect(last.state.sections.map(\.name) == ["a", "b", "c"])
  }

  @Test("a handled section is shown also when it expires immediately")
  func shortLived() throws {
    let fixture = try CatalogueFixture()
    let session = Session(fixture.catalogue)
    try session.show(lyon)
    _ = try handle(session, "s", #"{"x":{"v":1,\#(tag("s:1", "country", hours: "0"))}}"#)
    guard case .loaded(let section)? = session.state.sections.first?.state else {
      Issue.record("not loaded")
      return
    }
    #expect(try section.content.text == #"{"x":{"v":1}}"# && section.expired == ["s:1"])
  }

  @Test("sections follow the host's order, the rest the order of delivery")
  func order() throws {
    let fixture = try CatalogueFixture()
    for name in ["a", "b", "c", "d"] { try fixture.persist(name, "{}", at: lyon) }
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
    try session.setOrder(["d", "none", "b"])
    try session.show(lyon)
    #expect(session.state.sections.map(\.name) == ["d", "b", "a", "c"])
    _ = try handle(session, "e", "{}")
    #expect(session.state.sections.map(\.name) == ["d", "b", "a", "c", "e"])
    try session.setOrder(["e", "e", "a"])
    #expect(session.state.sections.map(\.name).prefix(2) == ["e", "a"])
    #expect(recorder.brief.filter { $0 == "sections" }.count == 4)
  }

  @Test("a load from before another location was shown is discarded")
  func stale() throws {
    let fixture = try CatalogueFixture()
    let body = String(repeating: "x", count: 200_000)
    try fixture.persist("s", content("lyon" + body), at: lyon)
    let home = try place("de")
    try fixture.persist("s", content("berlin"), at: home)
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
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

  @Test("a failed section has a reason; loaded content stays on the screen")
  func failing() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", content("a"), at: lyon)
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
    #expect(throws: SatchelError.self) { try session.fail("s", reason: "no location yet") }
    #expect(throws: SatchelError.self) { try session.load("s") }
    try session.show(lyon)
    try session.fail("s", reason: "timeout")
    #expect(session.state.sections.first?.state == .failed(reason: "timeout"))
    #expect(try SessionFixture.json(session)["sections"]?.arrayValue?.first?["error"] == "timeout")
    try session.fail("new", reason: "gone")
    #expect(states(session) == ["s failed", "new failed"])
    _ = try handle(session, "s", content("b"))
    try session.fail("s", reason: "again")
    #expect(states(session).first == "s loaded")
    try session.load("nowhere")
    try recorder.wait(for: "nowhere failed")
    #expect(throws: SatchelError.self) { try handle(session, "s", "{") }
    #expect(states(session).first == "s loaded")
  }

  @Test("an ended session delivers no event, and waits for an event in progress")
  func end() throws {
    let fixture = try CatalogueFixture()
    let items = (0..<2000).map { #"{"v":1,\#(tag("s:\($0)", "country"))}"# }
    try fixture.persist("s", "[\(items.joined(separator: ","))]", at: lyon)
    for round in 0..<20 {
      let recorder = EventRecorder(delay: 300)
      let session = Session(fixture.catalogue) { recorder.record($0) }
      try session.show(lyon)
      for _ in 0..<5 { try session.load("s") }
      usleep(UInt32(round) * 500)
      session.end()
      let count = recorder.recorded.count
      usleep(5000)
      #expect(recorder.recorded.count == count)
      #expect(throws: SatchelError.self) { try session.show(lyon) }
      #expect(throws: SatchelError.self) { try session.load("s") }
      #expect(throws: SatchelError.self) { try handle(session, "s", "{}") }
      session.end()
    }
  }

  @Test("events never overlap, with any number of threads")
  func oneAtATime() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    for name in 0..<4 { try fixture.persist("s\(name)", content("a", "s:\(name)"), at: lyon) }
    let recorder = EventRecorder(delay: 200)
    let session = Session(fixture.catalogue) { recorder.record($0) }
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
    try recorder.wait(for: "s1 loaded")
    session.end()
    #expect(recorder.overlaps.load(ordering: .relaxed) == 0)
    #expect(recorder.recorded.count > 80)
    try fixture.expectSound()
  }
}
