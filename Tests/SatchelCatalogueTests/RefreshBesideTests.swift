import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelCatalogue
@testable import SatchelStorage

@Suite("Refresh beside other calls")
struct RefreshBesideTests: RefreshingWeather {
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
