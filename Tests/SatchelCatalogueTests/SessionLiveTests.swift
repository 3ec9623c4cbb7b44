import Foundation
import Satchel
import Synchronization
import Testing

@Suite("Session, live")
struct SessionLiveTests {
  private let lyon: Location
  private let paris: Location

  init() throws {
    lyon = try place("fr", "ara", "Lyon")
    paris = try place("fr", "idf", "Paris")
  }

  private func value(_ session: Session, _ name: String) -> JSONValue? {
    guard case .loaded(let section)? = session.state.sections.first(where: { $0.name == name })?.state else {
      return nil
    }
    return section.content["x"]?["v"]
  }

  private func content(_ value: String, _ id: String = "s:1") -> String { SessionFixture.content(value, id) }
  private func states(_ session: Session) -> [String] { SessionFixture.states(session) }
  private func wait(_ condition: () -> Bool) { SessionFixture.wait(condition) }
  private func handle(_ session: Session, _ name: String, _ content: String) throws -> Receipt {
    try SessionFixture.handle(session, name, content)
  }

  @Test("a delivery beside the session is shown, by this handle and by another one")
  func live() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    try fixture.persist("s", content("a"), at: lyon)
    try fixture.persist("t", content("b", "t:1"), at: lyon)
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
    try session.show(lyon)
    try session.load("s")
    try recorder.wait(for: "s loaded")
    try fixture.persist("s", content("new"), at: lyon)
    wait { value(session, "s") == "new" }
    let other = try fixture.another()
    try Array(CatalogueFixture.section("s", content("newer")).utf8).withUnsafeBytes {
      _ = try other.catalogue.persist($0, at: lyon)
    }
    wait { value(session, "s") == "newer" }
    #expect(recorder.brief.filter { $0 == "s loaded" }.count == 3)
    #expect(recorder.brief.filter { $0 == "s loading" || $0 == "s placeholder" } == ["s loading"])
    #expect(states(session) == ["s loaded", "t placeholder"])
    // A new section appears; its content was not asked for.
    try fixture.persist("u", content("c", "u:1"), at: lyon)
    wait { states(session) == ["s loaded", "t placeholder", "u placeholder"] }
    // Sections that are deleted go.
    _ = try fixture.catalogue.deleteContext(lyon)
    wait { states(session) == [] }
    session.end()
    let count = recorder.recorded.count
    try fixture.persist("s", content("unseen"), at: lyon)
    #expect(recorder.recorded.count == count)
    try other.close()
  }

  @Test("what a commit does not change on the screen is no event; a shared entity is one")
  func unchanged() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", content("a"), at: lyon)
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
    try session.show(lyon)
    try session.load("s")
    try recorder.wait(for: "s loaded")
    let before = recorder.recorded.count
    try fixture.persist("elsewhere", content("z", "e:1"), at: place("jp", "13", "Tokyo"))
    try fixture.persist("s", content("a"), at: lyon)
    // The country's entity, delivered for another town and in another section.
    try fixture.persist("other", content("shared"), at: paris)
    wait { value(session, "s") == "shared" }
    #expect(recorder.brief.dropFirst(before).filter { $0 == "s loaded" }.count == 1)
  }

  @Test("the same place keeps what is loaded; a failure hides no content")
  func again() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", content("a"), at: lyon)
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
    try session.show(lyon)
    try session.load("s")
    try recorder.wait(for: "s loaded")
    try session.show(lyon)
    #expect(states(session) == ["s loaded"])
    try session.fail("s", reason: "timeout")
    #expect(states(session) == ["s loaded"] && session.state.sections.first?.error == "timeout")
    #expect(try SessionFixture.json(session)["sections"]?.arrayValue?.first?["error"] == "timeout")
    try session.load("s")
    wait { session.state.sections.first.map { !$0.isRefreshing && $0.error == nil } ?? false }
    #expect(!recorder.brief.dropFirst(4).contains("s loading"))
    try session.show(paris)
    #expect(states(session) == ["s placeholder"])
  }

  @Test("whatever is committed, content is never less, and the last one is shown")
  func neverLess() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    for name in 0..<3 { try fixture.persist("s\(name)", content("0", "s\(name):1"), at: lyon) }
    let shown = Mutex<Set<String>>([])
    let lost = Atomic(0)
    let session = Session(fixture.catalogue) { event in
      guard case .section(let name, let state) = event else { return }
      shown.withLock { shown in
        if state == "loaded" { shown.insert(name) }
        if !shown.isDisjoint(with: [name]), state != "loaded" { lost.add(1, ordering: .relaxed) }
      }
    }
    try session.show(lyon)
    for name in 0..<3 { try session.load("s\(name)") }
    let (catalogue, lyon) = (fixture.catalogue, lyon)
    onThreads(4) { thread in
      for round in 0..<40 {
        let name = (thread + round) % 3
        do {
          switch (thread * 7 + round) % 5 {
          case 0, 1:
            let text = CatalogueFixture.section("s\(name)", content("\(thread) \(round)", "s\(name):1"))
            _ = try Array(text.utf8).withUnsafeBytes { try catalogue.persist($0, at: lyon) }
          case 2: try session.load("s\(name)")
          case 3: try session.fail("s\(name)", reason: "offline")
          default: try session.show(lyon)
          }
        } catch { Issue.record(error) }
      }
    }
    for name in 0..<3 { try fixture.persist("s\(name)", content("last", "s\(name):1"), at: lyon) }
    wait { (0..<3).allSatisfy { value(session, "s\($0)") == "last" } }
    #expect(lost.load(ordering: .relaxed) == 0)
    session.end()
    try fixture.expectSound()
  }

  @Test("a section says when it was fetched, and whether it is being read again")
  func fetchedAt() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", content("a"), at: lyon)
    let fetched = fixture.clock.now
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue) { recorder.record($0) }
    try session.show(lyon)
    func member(_ name: String) -> JSONValue? {
      (try? SessionFixture.json(session))?["sections"]?.arrayValue?.first?[name]
    }
    #expect(member("fetched_at") == .int(fetched))
    #expect(member("refreshing") == false && member("error") == .null)
    try session.load("s")
    try recorder.wait(for: "s loaded")
    fixture.clock.advance(1000)
    // The same content: nobody is notified of it. The session is, when it handles it or shows the place again.
    #expect(try handle(session, "s", content("a")).reused == 1)
    #expect(member("fetched_at") == .int(fetched + 1000))
    fixture.clock.advance(1000)
    #expect(try fixture.catalogue.renew(lyon) == 1)
    let count = recorder.recorded.count
    try session.show(lyon)
    wait { member("fetched_at") == .int(fetched + 2000) }
    wait { recorder.recorded.count == count + 3 }
    #expect(recorder.brief.suffix(1) == ["s loaded"] || recorder.brief.dropLast().last == "s loaded")
    try session.fail("t", reason: "offline")
    #expect(try SessionFixture.json(session)["sections"]?.arrayValue?.last?["fetched_at"] == .null)
  }

  @Test("a section that a place inherits appears, and goes with a complete delivery")
  func completeness() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", content("a"), at: paris)
    try fixture.persist("own", "{}", at: lyon)
    let session = Session(fixture.catalogue)
    try session.show(lyon)
    #expect(states(session) == ["own placeholder", "s placeholder"])
    func deliver(isComplete: Bool) throws {
      let section = CatalogueFixture.section("own", "{}")
      let text = #"{"location":\#(try lyon.json.text),"sections":[\#(section)]}"#
      _ = try Array(text.utf8).withUnsafeBytes { try fixture.catalogue.deliver($0, complete: isComplete) }
    }
    // Its only section is the same: that it inherits none is all that changes.
    try deliver(isComplete: true)
    wait { states(session) == ["own placeholder"] }
    try deliver(isComplete: false)
    wait { states(session) == ["own placeholder", "s placeholder"] }
  }

  @Test("a section that is pruned alone, because another one has its entities, goes from the screen")
  func prunedAlone() throws {
    let fixture = try CatalogueFixture()
    try fixture.persist("s", content("a"), at: lyon)
    try fixture.persist("t", content("a"), at: lyon)
    let session = Session(fixture.catalogue)
    try session.show(lyon)
    var options = PruneOptions()
    (options.expired, options.section) = (false, "t")
    let receipt = try fixture.catalogue.prune(options)
    #expect(receipt.entities == 0 && receipt.contexts == 0)
    wait { states(session) == ["s placeholder"] }
  }

  @Test("what is handled in a batch is shown after the commit, and not when it is rolled back")
  func batches() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let session = Session(fixture.catalogue)
    try session.show(lyon)
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try fixture.satchel.batch {
        _ = try handle(session, "s", content("rolled back"))
        throw Failure()
      }
    }
    wait { states(session) == ["s failed"] }
    try fixture.satchel.batch { _ = try handle(session, "s", content("a")) }
    wait { value(session, "s") == "a" }
  }

  @Test("content is decoded as a value, and a value is stored as content")
  func codable() throws {
    struct Fact: Codable, Equatable {
      var v: String
      var n: Int?
    }
    let fixture = try CatalogueFixture()
    try fixture.catalogue.persist("s", ["x": Fact(v: "a", n: 1)], displayTitle: "S", at: lyon)
    let section = try #require(try fixture.catalogue.load("s", at: lyon))
    #expect(try section.content(as: [String: Fact].self) == ["x": Fact(v: "a", n: 1)])
    #expect(section.header.displayTitle == "S" && section.header.config == .null)
    do {
      _ = try section.content(as: [String: [Int]].self)
      Issue.record("decoded")
    } catch let error as SatchelError {
      #expect(error.code == .invalid && error.details.pointer == "/x" && error.details.collection == "s")
    }
    try fixture.catalogue.persist(
      "s", ["y": Fact(v: "b")], action: .edit, config: ["operation": "merge"], at: lyon)
    #expect(try fixture.shown("s", at: lyon) == #"{"x":{"v":"a","n":1},"y":{"v":"b"}}"#)
    #expect(throws: SatchelError.self) { try fixture.catalogue.persist("s", ["x": Double.nan], at: lyon) }
  }
}
