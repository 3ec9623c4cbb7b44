import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelCatalogue
@testable import SatchelStorage

@Suite("Refresh")
struct RefreshTests: RefreshingWeather {
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
}
