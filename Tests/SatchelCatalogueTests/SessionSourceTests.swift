import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelCatalogue

@Suite("Session with a source")
struct SessionSourceTests {
  private let lyon: Location
  private let paris: Location

  init() throws {
    lyon = try place("fr", "ara", "Lyon")
    paris = try place("fr", "idf", "Paris")
  }

  private func section(_ name: String, _ value: String, _ id: String = "1") -> String {
    #"{"section":"\#(name)","content":\#(SessionFixture.content(value, "\(name):\(id)"))}"#
  }

  private func value(_ session: Session, _ name: String) -> JSONValue? {
    session.state.sections.first { $0.name == name }?.loaded?.content["x"]?["v"]
  }

  private func wait(_ condition: () -> Bool) { SessionFixture.wait(condition) }

  @Test(
    "what is stored is shown at once, and the source's answer replaces it, without a placeholder in between")
  func staleWhileRevalidate() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    try fixture.persist("s", SessionFixture.content("old", "s:1"), at: lyon)
    fixture.clock.advance(48 * hour)
    let (gate, text) = (DispatchSemaphore(value: 0), section("s", "new"))
    let source = ScriptedSource { _ in
      gate.wait()
      return .content(Array(text.utf8))
    }
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue, source: source) { recorder.record($0) }
    try session.show(lyon)
    try session.load("s")
    wait { value(session, "s") == "old" && session.refreshing.isRefreshing }
    let shown = try #require(session.state.sections.first)
    #expect(shown.loaded?.expired == ["s:1"] && shown.isRefreshing)
    gate.signal()
    wait { value(session, "s") == "new" && !session.refreshing.isRefreshing }
    wait { session.state.sections.first?.isRefreshing == false }
    #expect(!recorder.brief.contains("s placeholder"))
    let events = recorder.brief.filter { $0.hasPrefix("s ") }
    #expect(events.drop { $0 != "s loaded" }.allSatisfy { $0 == "s loaded" })
    #expect(source.requests.count == 1 && source.requests[0].entities == ["s:1"])
    session.end()
  }

  @Test("a place with nothing stored gets the source's sections; one that the source does not have is failed")
  func nothingStored() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let text = section("s", "first")
    let source = ScriptedSource { request in
      request.section == "absent" ? .notFound() : .content(Array(text.utf8))
    }
    let recorder = EventRecorder()
    let session = Session(fixture.catalogue, source: source) { recorder.record($0) }
    try session.show(lyon)
    try session.load("s")
    wait { value(session, "s") == "first" }
    try session.load("absent")
    wait { SessionFixture.states(session) == ["s loaded", "absent failed"] }
    #expect(!recorder.brief.contains("s failed"))
    session.end()
  }

  @Test("a failure keeps what is shown, with the reason, and the session asks the source again")
  func failure() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    try fixture.persist("s", SessionFixture.content("old", "s:1"), at: lyon)
    fixture.clock.advance(48 * hour)
    let (isOnline, text) = (Locked(false), section("s", "new"))
    let source = ScriptedSource { _ in
      guard isOnline.withLock({ $0 }) else { throw SourceFailure("no connection") }
      return .content(Array(text.utf8))
    }
    let session = Session(fixture.catalogue, source: source)
    try session.show(lyon)
    try session.load("s")
    wait { session.refreshing.error == "no connection" && !session.refreshing.isRefreshing }
    wait { session.state.sections.first?.error == "no connection" }
    #expect(value(session, "s") == "old")
    isOnline.withLock { $0 = true }
    // The next request is due: the store's clock, too, says that its time has come.
    fixture.clock.advance(hour)
    wait { value(session, "s") == "new" }
    wait { session.refreshing.error == nil && session.state.sections.first?.error == nil }
    session.end()
  }

  @Test(
    "an answer for a place that was left is stored and not shown; a forced refresh asks for what is fresh")
  func leaving() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let (gate, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (slow, quick, lyon) = (section("s", "Lyon"), section("s", "Paris", "2"), lyon)
    let source = ScriptedSource { request in
      guard request.location == lyon else { return .content(Array(quick.utf8)) }
      begun.signal()
      gate.wait()
      return .content(Array(slow.utf8))
    }
    let session = Session(fixture.catalogue, source: source)
    try session.show(lyon)
    begun.wait()
    try session.show(paris)
    gate.signal()
    wait { SessionFixture.states(session) == ["s placeholder"] }
    try session.load("s")
    wait { value(session, "s") == "Paris" }
    #expect(try fixture.catalogue.load("s", at: lyon)?.content["x"]?["v"] == "Lyon")
    let count = source.requests.count
    try session.refresh()
    wait { source.requests.count == count + 1 }
    session.end()
    session.end()
  }

  @Test("what becomes old or expires while it is shown is asked for; what is fresh is not")
  func aging() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let answers = Locked(0)
    let content = [section("s", "first"), section("s", "second"), section("s", "third")]
    let source = ScriptedSource { _ in
      let number = answers.withLock { count in
        defer { count += 1 }
        return count
      }
      return .content(Array(content[min(number, 2)].utf8), maxAge: 30 * 24 * 3600)
    }
    var options = RefreshOptions()
    options.staleAfter = 365 * 24 * 3600
    let session = Session(fixture.catalogue, source: source, refresh: options)
    try session.show(lyon)
    wait { source.requests.count == 1 }
    try session.load("s")
    wait { value(session, "s") == "first" }
    // The look that follows an answer finds nothing that is due.
    session.askAgain()
    fixture.clock.advance(169 * hour)
    // Its entities have expired.
    session.askAgain()
    wait { value(session, "s") == "second" }
    #expect(source.requests.count == 2 && source.requests[1].entities == ["s:1"])
    fixture.clock.advance(31 * 24 * hour)
    session.askAgain()
    wait { value(session, "s") == "third" }
    #expect(source.requests.count == 3)
    session.end()
    session.askAgain()
    #expect(source.requests.count == 3)
  }

  @Test(
    "a screen is refreshing from the call of refresh until the last answer or the error is shown")
  func pulling() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    try fixture.persist("s", SessionFixture.content("old", "s:1"), at: lyon)
    let (gate, text) = (DispatchSemaphore(value: 0), section("s", "new"))
    let source = ScriptedSource { _ in
      gate.wait()
      return .content(Array(text.utf8))
    }
    let isOnline = Locked(true)
    var options = RefreshOptions()
    options.network = { isOnline.withLock { $0 } ? .free : .none }
    let session = Session(fixture.catalogue, source: source, refresh: options)
    try session.show(lyon)
    try session.load("s")
    wait { value(session, "s") == "old" }
    #expect(source.requests.isEmpty && !session.refreshing.isRefreshing)
    try session.refresh()
    try session.refresh()
    #expect(session.refreshing.isRefreshing)
    gate.signal()
    wait { source.requests.count == 2 }
    #expect(session.refreshing.isRefreshing)
    gate.signal()
    wait { !session.refreshing.isRefreshing }
    #expect(value(session, "s") == "new" && session.state.sections.first?.isRefreshing == false)
    isOnline.withLock { $0 = false }
    try session.refresh()
    wait { !session.refreshing.isRefreshing }
    #expect(source.requests.count == 2)
    session.end()
  }
}
