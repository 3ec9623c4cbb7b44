import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelCatalogue
@testable import SatchelStorage

/// A source that answers as a test says, and keeps the requests.
final class ScriptedSource: ContentSource {
  typealias Answer = @Sendable (ContentRequest) throws -> ContentAnswer

  private let answer: Locked<Boxed>
  private let asked = Locked<[ContentRequest]>([])

  /// A function in a lock of its own would get another thunk with each use.
  private struct Boxed {
    var answer: Answer
  }

  init(_ answer: @escaping Answer) { self.answer = Locked(Boxed(answer: answer)) }

  convenience init(_ text: String, etag: String? = nil, maxAge: Int64? = nil) {
    self.init { _ in .content(Array(text.utf8), etag: etag, maxAge: maxAge) }
  }

  var requests: [ContentRequest] { asked.withLock { $0 } }
  func set(_ answer: @escaping Answer) { self.answer.withLock { $0.answer = answer } }

  func content(_ request: ContentRequest) throws -> ContentAnswer {
    asked.withLock { $0.append(request) }
    return try answer.withLock { $0 }.answer(request)
  }
}

@Suite("Refresh")
struct RefreshTests {
  private func here() throws -> Location { try place("cn", "", "Shanghai") }

  private func section(_ value: Int, hours: String = "1") -> String {
    #"{"section":"weather","content":{"now":{"t":\#(value),\#(tag("weather:now", "locality", hours: hours))}}}"#
  }

  private func value(_ catalogue: Catalogue) throws -> JSONValue? {
    try catalogue.load("weather", at: here(), allowExpired: true)?.content.value(at: "now.t")
  }

  @Test("what is missing, expired or old is asked for, and what is fresh is not")
  func whatIsAsked() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let catalogue = fixture.catalogue
    let source = ScriptedSource(section(1, hours: "48"), etag: "a")
    let first = try catalogue.refresh(here(), from: source)
    #expect(first.refreshed == ["weather"] && first.requests == 1 && first.bytes > 0 && first.failed.isEmpty)
    #expect(source.requests.map(\.etag) == [nil] && source.requests[0].entities.isEmpty)
    #expect(try value(catalogue) == 1)

    #expect(try catalogue.refresh(here(), from: source).skipped == [.init(section: nil, reason: .fresh)])
    source.set { request in
      #expect(request.etag == "a" && request.section == nil && request.attempt == 1)
      return .notModified(etag: "b")
    }
    fixture.clock.advance(24 * hour)
    let old = try catalogue.refresh(here(), from: source)
    #expect(old.unchanged == ["weather"] && old.refreshed.isEmpty && old.bytes == 0)
    #expect(try catalogue.sections(at: here()).map(\.etag) == ["b"])

    source.set { request in
      #expect(request.entities == ["weather:now"] && request.section == "weather" && request.etag == "b")
      return .content(Array(self.section(2).utf8), maxAge: 60)
    }
    fixture.clock.advance(49 * hour)
    #expect(try catalogue.refresh(here(), sections: ["weather"], from: source).refreshed == ["weather"])
    #expect(try value(catalogue) == 2)

    fixture.clock.advance(59_000)
    let sections = ["weather", "weather"]
    #expect(
      try catalogue.refresh(here(), sections: sections, from: source).skipped
        == [.init(section: "weather", reason: .fresh)])
    fixture.clock.advance(1000)
    source.set { request in
      #expect(request.entities.isEmpty)
      return .notFound(maxAge: 10)
    }
    #expect(try catalogue.refresh(here(), sections: ["weather"], from: source).notFound == ["weather"])
    #expect(try value(catalogue) == 2)
    try fixture.expectSound()
  }

  @Test("a section is old when the answer with all of the place is, and one that is stored since then is not")
  func ageOfThePlace() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource(section(1, hours: "48"), maxAge: 60)
    try fixture.catalogue.refresh(here(), from: source)
    #expect(try fixture.catalogue.refresh(here(), sections: ["weather"], from: source).requests == 0)
    fixture.clock.advance(60_000)
    #expect(try fixture.catalogue.refresh(here(), sections: ["weather"], from: source).requests == 1)
    // It is not stored, so that nothing says that it is fresh.
    let other = ScriptedSource { _ in .notFound() }
    #expect(try fixture.catalogue.refresh(here(), sections: ["news"], from: other).notFound == ["news"])
    fixture.clock.advance(60_000)
    try fixture.persist("weather", #"{"t":3}"#, at: here())
    #expect(try fixture.catalogue.refresh(here(), sections: ["weather"], from: source).requests == 0)
  }

  @Test(
    "the etag is not sent when content is missing, because a source would answer that nothing has changed")
  func missing() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource(section(1), etag: "a")
    try fixture.catalogue.refresh(here(), from: source)
    try fixture.catalogue.deleteEntity("weather:now")
    #expect(try fixture.catalogue.refresh(here(), from: source).refreshed == ["weather"])
    #expect(source.requests.map(\.etag) == [nil, nil])
    #expect(source.requests.map(\.entities) == [[], ["weather:now"]])
  }

  @Test("a delivery is stored for the place that was asked for, with all of its sections")
  func delivery() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let catalogue = fixture.catalogue
    try fixture.persist("old", #"{"a":1}"#, at: here())
    let source = ScriptedSource(
      #"{"complete":true,"sections":[\#(section(1)),{"section":"news","content":[1]}]}"#, etag: "a")
    #expect(try catalogue.refresh(here(), from: source, options: forced()).refreshed == ["weather", "news"])
    #expect(try catalogue.sections(at: here()).map(\.section) == ["weather", "news"])
    #expect(try catalogue.contexts(location: here()).first?.isComplete == true)
    source.set { _ in .content(Array(#"{"sections":[{"section":"news","content":[2]}]}"#.utf8)) }
    try catalogue.refresh(here(), from: source, options: forced())
    #expect(source.requests.last?.etag == "a")
    #expect(try catalogue.sections(at: here()).map(\.section) == ["weather", "news"])
    #expect(try catalogue.contexts(location: here()).first?.isComplete == false)
  }

  private func forced() -> RefreshOptions {
    var options = RefreshOptions()
    options.force = true
    return options
  }

  @Test(
    "an answer that cannot be stored changes nothing, and the report says where it is wrong",
    arguments: [
      (#"{"section":"weather","content":"#, "line 1"), (#"{"section":7,"content":{}}"#, "section"),
      (#"{"sections":[{"section":"weather","content":{"x":1}},{"section":""}]}"#, "/sections/1/section"),
      (#"{"section":"news","content":{}}"#, "where weather was asked for"), ("[]", "object"), ("", "line 1"),
    ])
  func unusable(_ answer: String, _ expected: String) throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource(section(1), etag: "a")
    try fixture.catalogue.refresh(here(), from: source)
    source.set { _ in .content(Array(answer.utf8)) }
    let report = try fixture.catalogue.refresh(here(), sections: ["weather"], from: source, options: forced())
    let failure = try #require(report.failed.first)
    #expect(failure.message.contains(expected), "\(failure.message)")
    #expect(failure.retryAt > fixture.clock.now && report.refreshed.isEmpty)
    #expect(try value(fixture.catalogue) == 1)
    #expect(try fixture.catalogue.sections(at: here()).map(\.section) == ["weather"])
    try fixture.expectSound()
  }

  @Test(
    "a failure keeps what is stored, and is asked for again after 5 seconds, 10, and so on, also after a restart"
  )
  func backoff() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource { _ in throw SourceFailure("no connection") }
    var waits: [Int64] = []
    for attempt in 1...12 {
      let report = try fixture.catalogue.refresh(here(), from: source)
      let failure = try #require(report.failed.first)
      waits.append(failure.retryAt - fixture.clock.now)
      #expect(source.requests.last?.attempt == attempt && failure.message == "no connection")
      fixture.clock.advance(waits[attempt - 1] - 1)
      try fixture.reopen()
      #expect(
        try fixture.catalogue.refresh(here(), from: source).skipped == [.init(section: nil, reason: .waiting)]
      )
      fixture.clock.advance(1)
    }
    for (index, wait) in waits.enumerated() {
      let longest = min(Int64(5000) << index, 3_600_000)
      #expect((longest / 2...longest).contains(wait), "failure \(index + 1): \(wait)")
    }
    #expect(source.requests.count == 12)
    source.set { _ in .content(Array(self.section(1).utf8)) }
    try fixture.catalogue.refresh(here(), from: source)
    source.set { _ in throw SourceFailure("no connection") }
    let again = try fixture.catalogue.refresh(here(), from: source, options: forced())
    #expect(try #require(again.failed.first).retryAt - fixture.clock.now <= 5000)
    try fixture.expectSound()
  }

  @Test("what the source demands is kept even by a call with force; what the backoff says is not")
  func demanded() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource { _ in throw SourceFailure("busy", retryAfter: 120) }
    let failure = try #require(try fixture.catalogue.refresh(here(), from: source).failed.first)
    #expect(failure.retryAt - fixture.clock.now >= 120_000)
    #expect(try fixture.catalogue.refresh(here(), from: source, options: forced()).requests == 0)
    fixture.clock.set(failure.retryAt)
    source.set { _ in throw SourceFailure("no such key", isFinal: true) }
    let final = try #require(try fixture.catalogue.refresh(here(), from: source).failed.first)
    #expect(final.retryAt - fixture.clock.now >= 1_800_000)
    #expect(try fixture.catalogue.refresh(here(), from: source, options: forced()).requests == 1)
    // A demand without end is limited to a day.
    source.set { _ in throw SourceFailure("never", retryAfter: .max) }
    let never = try #require(
      try fixture.catalogue.refresh(here(), from: source, options: forced()).failed.first)
    #expect(never.retryAt - fixture.clock.now <= 86_400_000 + 60_000)
    // A clock that goes back begins it again, and does not make it longer.
    fixture.clock.advance(-30 * 24 * hour)
    try fixture.persist("other", "1", at: place("fr"))
    fixture.clock.advance(24 * hour + 60_000)
    #expect(try fixture.catalogue.refresh(here(), from: source).requests == 1)
  }

  @Test("only what is missing or expired is asked for in a metered network, and nothing without one")
  func network() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource(section(1, hours: "48"))
    var options = RefreshOptions()
    options.network = { .none }
    #expect(
      try fixture.catalogue.refresh(here(), from: source, options: options).skipped
        == [.init(section: nil, reason: .network)])
    options.network = { .metered }
    #expect(try fixture.catalogue.refresh(here(), from: source, options: options).refreshed == ["weather"])
    fixture.clock.advance(25 * hour)
    #expect(try fixture.catalogue.refresh(here(), from: source, options: options).requests == 0)
    fixture.clock.advance(25 * hour)
    #expect(try fixture.catalogue.refresh(here(), from: source, options: options).requests == 1)
    #expect(source.requests.count == 2)
  }

  @Test("threads and handles that ask for the same at once send one request, and all have its answer")
  func singleFlight() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let another = try fixture.another()
    defer { try? another.close() }
    let text = section(1)
    let source = ScriptedSource { _ in .content(Array(text.utf8)) }
    // The answer comes only when all others wait for it, or have had their turn.
    let waiting = Locked(0)
    source.set { _ in
      while waiting.withLock({ $0 }) < 8 { usleep(1000) }
      return .content(Array(text.utf8))
    }
    let catalogues = [fixture.catalogue, another.catalogue]
    let location = try here()
    let answers = Locked<[RefreshReport]>([])
    onThreads(8) { index in
      waiting.withLock { $0 += 1 }
      let report = try? catalogues[index % 2].refresh(location, sections: ["weather"], from: source)
      answers.withLock { $0.append(report ?? RefreshReport()) }
    }
    let reports = answers.withLock { $0 }
    #expect(source.requests.count == 1 && reports.map(\.requests).reduce(0, +) == 1, "\(reports.map(\.json))")
    #expect(reports.filter { $0.refreshed == ["weather"] }.count == 1)
    #expect(
      reports.allSatisfy { $0.failed.isEmpty && ($0.skipped.isEmpty || $0.skipped[0].reason == .fresh) })
    #expect(try value(fixture.catalogue) == 1)
  }

  @Test(
    "the lease of a process that has ended, and one that is too old, is void; an answer without its lease is dropped"
  )
  func leases() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let (catalogue, key) = (fixture.catalogue, RefreshTable.key(try here()))
    let text = section(1)
    @Sendable func lease(_ owner: String) throws {
      try catalogue.database.prepare(RefreshSchema.subject)
      try catalogue.database.write { transaction in
        try RefreshTable(connection: transaction.connection).set(
          key, nil, to: RefreshRow(askedAt: transaction.now, owner: owner))
      }
    }
    try lease("00000000-0000-0000-0000-000000000000 1 1 ff")
    let source = ScriptedSource(text)
    #expect(try catalogue.refresh(here(), from: source).requests == 1)
    try lease(catalogue.leaseOwner.name)
    var cancelled = Cancellation { true }
    #expect(throws: SatchelError.self) {
      try catalogue.refresh(here(), from: source, options: forced(), cancellation: cancelled)
    }
    cancelled = .never
    fixture.clock.advance(RefreshDecision.leaseDuration)
    source.set { _ in
      try lease("another")
      return .content(Array(self.section(9).utf8))
    }
    let late = try catalogue.refresh(here(), from: source, options: forced())
    #expect(late.requests == 1 && late.skipped == [.init(section: nil, reason: .busy)])
    #expect(try value(catalogue) == 1)
  }

  @Test(
    "a source's function uses the store, but cannot fetch content; a call that is cancelled asks again at once"
  )
  func nested() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let (catalogue, location, text) = (fixture.catalogue, try here(), section(1))
    let source = ScriptedSource { _ in
      _ = try catalogue.sections(at: location)
      try catalogue.refresh(location, from: ScriptedSource(text))
      return .notFound()
    }
    let error = #expect(throws: SatchelError.self) { try catalogue.refresh(location, from: source) }
    #expect(error?.code == .busy)
    source.set { _ in throw SatchelError(.cancelled, "stopped") }
    #expect(throws: SatchelError.self) { try catalogue.refresh(location, from: source) }
    source.set { _ in .content(Array(text.utf8)) }
    #expect(try catalogue.refresh(location, from: source).refreshed == ["weather"])
    #expect(source.requests.map(\.attempt) == [1, 1, 1])
    let transaction = #expect(throws: SatchelError.self) {
      try fixture.satchel.batch { _ = try catalogue.refresh(location, from: source) }
    }
    #expect(transaction?.code == .invalid)
  }

  @Test("deleting what was fetched for a location also forgets how long it is fresh")
  func forgotten() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource(section(1), maxAge: 3600)
    try fixture.catalogue.refresh(here(), from: source)
    #expect(try fixture.catalogue.refresh(here(), from: source).requests == 0)
    try fixture.catalogue.deleteContext(here())
    #expect(try fixture.catalogue.refresh(here(), from: source).requests == 1)
    // A source that has nothing for a place is not asked all the time.
    let elsewhere = try place("fr")
    let empty = ScriptedSource { _ in .notFound() }
    #expect(try fixture.catalogue.refresh(elsewhere, from: empty).notFound == [nil])
    #expect(try fixture.catalogue.refresh(elsewhere, from: empty).requests == 0)
    fixture.clock.advance(RefreshTable.lifetime + 1)
    try fixture.catalogue.prune()
    let rows = try fixture.catalogue.database.read { try $0.number("SELECT count(*) FROM refresh") }
    #expect(rows == 0)
    try fixture.expectSound()
  }

  @Test("a prune forgets how long what it removes is fresh, and keeps what is known of other requests")
  func pruned() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let source = ScriptedSource { request in
      guard let name = request.section, name != "broken" else { throw SourceFailure("out of order") }
      return .content(Array(#"{"section":"\#(name)","content":{"a":1}}"#.utf8), etag: "1", maxAge: 3600)
    }
    let sections = ["food", "sights", "broken"]
    func refresh() throws -> RefreshReport {
      try fixture.catalogue.refresh(here(), sections: sections, from: source)
    }
    #expect(try refresh().refreshed == ["food", "sights"])
    var options = PruneOptions()
    (options.expired, options.section) = (false, "food")
    try fixture.catalogue.prune(options)
    let again = try refresh()
    #expect(again.refreshed == ["food"] && again.requests == 1)
    #expect(again.skipped.map(\.reason) == [.fresh, .waiting])
    // What an offline region has is passed over.
    var definition = RegionDefinition(areas: [.init(try here())])
    definition.sections = ["food", "broken"]
    try fixture.catalogue.regions.create("trip", definition)
    (options.section, options.maxBytes) = (nil, 0)
    options.contextsUnusedFor = 0
    fixture.clock.advance(1)
    options.unreferenced = true
    try fixture.catalogue.prune(options)
    let last = try refresh()
    #expect(last.refreshed == ["sights"] && last.skipped.map(\.reason) == [.fresh, .waiting])
    try fixture.catalogue.prune(options)
    try fixture.expectSound()
  }

  @Test("a load returns what is stored at once, and the source's answer comes as a change")
  func loadFrom() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let (catalogue, location) = (fixture.catalogue, try here())
    let source = ScriptedSource(section(1))
    let first = try catalogue.load("weather", at: location, from: source)
    #expect(try first?.content.value(at: "now.t") == 1 && source.requests.count == 1)

    fixture.clock.advance(2 * hour)
    let changed = DispatchSemaphore(value: 0)
    let observer = try fixture.satchel.observe { _ in changed.signal() }
    defer { observer.cancel() }
    let text = section(2)
    source.set { _ in .content(Array(text.utf8)) }
    let stale = try #require(try catalogue.load("weather", at: location, from: source))
    #expect(try stale.content.value(at: "now.t") == 1 && stale.expired == ["weather:now"])
    changed.wait()
    #expect(try value(catalogue) == 2)

    source.set { _ in throw SourceFailure("no connection") }
    let error = #expect(throws: SatchelError.self) {
      try catalogue.load("news", at: location, from: source)
    }
    #expect(error?.code == .unavailable && error?.message.contains("no connection") == true)
    let waiting = #expect(throws: SatchelError.self) {
      try catalogue.load("news", at: location, from: source)
    }
    #expect(waiting?.message.contains("not to be asked yet") == true)
    source.set { _ in .notFound() }
    #expect(try catalogue.load("sports", at: location, from: source) == nil)
  }

  @Test("closing the store ends the request that no call waits for")
  func closing() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let (catalogue, location, text) = (fixture.catalogue, try here(), section(1))
    try catalogue.refresh(location, from: ScriptedSource(text))
    fixture.clock.advance(48 * hour)
    let begun = DispatchSemaphore(value: 0)
    let source = ScriptedSource { request in
      begun.signal()
      while !request.cancellation.isCancelled() { usleep(1000) }
      throw SatchelError(.cancelled, "stopped")
    }
    _ = try catalogue.load("weather", at: location, from: source)
    begun.wait()
    try fixture.satchel.close()
    #expect(source.requests.count == 1)
    try fixture.reopenClosed()
    #expect(try fixture.catalogue.refresh(location, from: ScriptedSource(text)).requests == 1)
  }
}
