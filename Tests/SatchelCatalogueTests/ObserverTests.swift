import Foundation
import Satchel
import Synchronization
import Testing

@Suite("Observers of the catalogue")
struct ObserverTests {
  private let here: Location

  init() throws { here = try place("fr", "ara", "Lyon") }

  private let content =
    #"{"x":{"v":1,"in":{"w":2,\#(tag("t:2", "global"))},\#(tag("s:1", "country", hours: "1"))}}"#

  @Test("observers are notified after the commit, with sections and entities, before the call returns")
  func own() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let other = try fixture.another()
    let received = Mutex<[Change]>([])
    let committed = Mutex<[Bool]>([])
    let observation = try fixture.satchel.observe { change in
      received.withLock { $0.append(change) }
      let isThere = (try? other.catalogue.sections(at: here).isEmpty) == false
      committed.withLock { $0.append(isThere) }
    }
    try fixture.persist("s", content, at: here)
    let first = try #require(received.withLock { $0 }.first)
    #expect(first.subject == .catalogue && first.isOwn && first.place == "fr_ara_lyon")
    #expect(first.keys.first == "s" && Set(first.keys) == ["s", "s:1", "t:2"])
    #expect(committed.withLock { $0 } == [true])
    fixture.clock.advance(hour)
    try fixture.catalogue.prune()
    let second = try #require(received.withLock { $0 }.last)
    #expect(second.keys == ["s:1"] && second.revision > first.revision)
    observation.cancel()
    try fixture.persist("s", "{}", at: here)
    #expect(received.withLock { $0 }.count == 2)
  }

  @Test("closing the store in its own observer is refused, and leaves it open")
  func closing() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let store = fixture.satchel
    let codes = Mutex<[SatchelError.Code?]>([])
    let observation = try store.observe { _ in
      do {
        try store.close()
        codes.withLock { $0.append(nil) }
      } catch {
        codes.withLock { $0.append((error as? SatchelError)?.code) }
      }
    }
    try fixture.persist("s", content, at: here)
    #expect(codes.withLock { $0 } == [.busy])
    observation.cancel()
    #expect(try !store.catalogue.sections(at: here).isEmpty)
    try store.close()
  }

  @Test("failed calls, and calls without changes, do not notify observers")
  func silence() throws {
    let fixture = try CatalogueFixture()
    let count = Atomic(0)
    let observation = try fixture.satchel.observe { _ in count.add(1, ordering: .relaxed) }
    #expect(throws: SatchelError.self) { try fixture.edit("s", #"{"operation":"fly"}"#, "{}", at: here) }
    #expect(throws: SatchelError.self) { try fixture.persist("s", "{", at: here) }
    try fixture.catalogue.prune()
    #expect(count.load(ordering: .relaxed) == 0)
    observation.cancel()
  }

  @Test("a delivery notifies observers of each of its sections, with one revision")
  func delivery() throws {
    let fixture = try CatalogueFixture()
    let received = Mutex<[Change]>([])
    let observation = try fixture.satchel.observe { change in received.withLock { $0.append(change) } }
    let text =
      #"{"location":{"country_code":"fr"},"sections":[\#(CatalogueFixture.section("a", "{}")),\#(CatalogueFixture.section("b", "{}"))]}"#
    _ = try Array(text.utf8).withUnsafeBytes { try fixture.catalogue.deliver($0) }
    let changes = received.withLock { $0 }
    #expect(changes.map(\.keys) == [["a"], ["b"]] && Set(changes.map(\.revision)).count == 1)
    observation.cancel()
  }

  @Test("observers are notified once of changes by another handle, as not own", .timeLimit(.minutes(20)))
  func others() async throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let other = try fixture.another()
    let stream = try fixture.satchel.changes()
    let sections = (0..<5).map { CatalogueFixture.section("s\($0)", content) }
    for section in sections {
      try Array(section.utf8).withUnsafeBytes { _ = try other.catalogue.persist($0, at: here) }
    }
    var changes: [Change] = []
    for await change in stream {
      changes.append(change)
      if changes.count == 5 { break }
    }
    #expect(changes.map(\.keys.first) == ["s0", "s1", "s2", "s3", "s4"])
    #expect(changes.allSatisfy { !$0.isOwn && $0.place == "fr_ara_lyon" })
    // The entities are the same in all sections.
    #expect(changes.map(\.keys.count) == [3, 1, 1, 1, 1])
    #expect(changes.map(\.revision) == changes.map(\.revision).sorted())
  }

  @Test("several streams receive all changes; a cancelled one receives no more", .timeLimit(.minutes(20)))
  func streams() async throws {
    let fixture = try CatalogueFixture()
    let (one, two) = (try fixture.satchel.changes(), try fixture.satchel.changes())
    for round in 0..<3 { try fixture.persist("s\(round)", "{}", at: here) }
    for stream in [one, two] {
      var names: [String] = []
      for await change in stream {
        names += change.keys
        if names.count == 3 { break }
      }
      #expect(names == ["s0", "s1", "s2"])
    }
  }

  @Test("an observer can read and write the store")
  func reentry() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let catalogue = fixture.catalogue
    let failures = Mutex<[String]>([])
    let observation = try fixture.satchel.observe { change in
      do {
        guard change.keys.first == "s" else { return }
        _ = try catalogue.load("s", at: here)
        let echo = Array(CatalogueFixture.section("echo", "{}").utf8)
        try echo.withUnsafeBytes { _ = try catalogue.persist($0, at: here) }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    try fixture.persist("s", content, at: here)
    #expect(failures.withLock { $0 } == [])
    #expect(try catalogue.sections(at: here).map(\.section) == ["s", "echo"])
    observation.cancel()
  }
}
