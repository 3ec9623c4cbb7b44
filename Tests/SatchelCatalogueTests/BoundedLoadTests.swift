import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Limits of nested entities")
struct BoundedLoadTests {
  private let fixture: CatalogueFixture
  private let here: Location

  init() throws {
    fixture = try CatalogueFixture()
    here = try place("fr", "ara", "Lyon")
  }

  /// Returns an entity with nested entities.
  private func entity(_ name: String, _ members: String = "") -> String {
    "{\(members.isEmpty ? "" : members + ",")\(tag("s:\(name)", "country"))}"
  }

  /// Runs `body` on a thread with a small stack, as some hosts have.
  private func onSmallStack(_ body: @escaping () throws -> Void) throws {
    // Only that thread runs `body`, while this thread waits.
    nonisolated(unsafe) let body = body
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result: Result<Void, any Error> = .success(())
    let thread = Thread {
      result = Result { try body() }
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    try result.get()
  }

  /// Delivers `count` sections, each with an entity that holds the previous one several times. The stored
  /// copy of that is kept, and holds another one.
  ///
  /// - Returns: the number of stored sections, and the reason why the next one was rejected
  private func chain(_ count: Int, times: Int) throws -> (stored: Int, reason: String?) {
    for number in 0..<count {
      let before = number == 0 ? [] : (0..<times).map { #""\#($0)":\#(entity("\(number - 1)"))"# }
      do {
        try fixture.persist(
          "\(number)", #"{"x":\#(entity("\(number)", before.joined(separator: ",")))}"#, at: here,
          reuse: .untilExpiry)
      } catch let error as SatchelError where error.code == .invalid {
        return (number, error.message)
      }
    }
    return (count, nil)
  }

  @Test("a chain of entities has the depth limit of JSON, and does not use the stack")
  func deep() throws {
    let (stored, reason) = try chain(850, times: 1)
    #expect(stored == 510)
    #expect(reason?.contains("section: at /content: ") == true, "\(reason ?? "")")
    #expect(reason?.contains("more than 512 levels") == true, "\(reason ?? "")")
    try onSmallStack {
      let text = try #require(
        try fixture.catalogue.loadText("509", at: here, allowExpired: false, inherit: true, nearby: 0))
      #expect(text.count > 510 * 5)
      try text.withUnsafeBytes { try JSONScanner.check($0) }
      let refused = #expect(throws: SatchelError.self) {
        try Array(
          CatalogueFixture.section("more", #"{"x":\#(self.entity("more", #""0":\#(self.entity("509"))"#))}"#)
            .utf8
        ).withUnsafeBytes { try fixture.catalogue.persist($0, at: here, reuse: .untilExpiry) }
      }
      #expect(refused?.code == .invalid)
    }
    #expect(try fixture.shown("510", at: here) == "-")
    try fixture.expectSound()
  }

  @Test("content that doubles with each delivery is rejected at the limit")
  func wide() throws {
    let (stored, reason) = try chain(40, times: 2)
    // 2^16 - 1 entities, each counted as often as it occurs.
    #expect(stored == 16)
    #expect(reason?.contains("more than 100000 entities") == true, "\(reason ?? "")")
    let text = try #require(
      try fixture.catalogue.loadText("15", at: here, allowExpired: false, inherit: true, nearby: 0))
    // Besides those of `extra` and `resolved`.
    #expect(String(decoding: text, as: UTF8.self).components(separatedBy: "{}").count - 3 == 1 << 15)
    // A section with two of them exceeds the limit, and a section with one does not.
    #expect(throws: SatchelError.self) {
      try fixture.persist(
        "both", #"{"x":[\#(entity("15")),\#(entity("15")),1]}"#, at: here, reuse: .untilExpiry)
    }
    try fixture.persist("one", #"{"x":[\#(entity("15")),1]}"#, at: here, reuse: .untilExpiry)
    #expect(try fixture.catalogue.load("one", at: here) != nil)
  }

  @Test("an entity that occurs again renders the same")
  func again() throws {
    try fixture.persist("in", #"{"x":\#(entity("in", #""v":[1,"{"]"#))}"#, at: here)
    try fixture.persist(
      "out", #"{"x":\#(entity("out", #""i":\#(entity("in")),"w":2"#))}"#, at: here, reuse: .untilExpiry)
    try fixture.persist(
      "all", #"{"a":\#(entity("out")),"b":[\#(entity("out")),\#(entity("in"))],"c":\#(entity("out"))}"#,
      at: here, reuse: .untilExpiry)
    let out = #"{"i":{"v":[1,"{"]},"w":2}"#
    #expect(
      try fixture.shown("all", at: here) == #"{"a":\#(out),"b":[\#(out),{"v":[1,"{"]}],"c":\#(out)}"#)
  }

  @Test("a cycle of entities ends at its first entity, from every section")
  func cycles() throws {
    try fixture.persist("a", #"{"x":\#(entity("a", #""b":\#(entity("b"))"#))}"#, at: here)
    try fixture.persist(
      "b", #"{"x":\#(entity("b", #""a":\#(entity("a")),"n":1"#))}"#, at: here)
    try fixture.persist(
      "a", #"{"x":\#(entity("a", #""b":\#(entity("b"))"#))}"#, at: here, reuse: .untilExpiry)
    // The last delivery of "b" removed the content of "a"; this one restores it, and keeps "b".
    fixture.clock.advance(1)
    try fixture.persist(
      "c", #"{"x":\#(entity("a", #""b":\#(entity("b", #""a":1"#))"#))}"#, at: here)
    try fixture.persist(
      "d", #"{"x":\#(entity("b", #""a":\#(entity("a")),"n":1"#))}"#, at: here, reuse: .untilExpiry)
    let both = #"{"p":\#(entity("a")),"q":\#(entity("b")),"r":\#(entity("a"))}"#
    try fixture.persist("both", both, at: here, reuse: .untilExpiry)
    let loaded = try #require(try fixture.catalogue.load("both", at: here))
    #expect(loaded.content["p"] == loaded.content["r"])
    try fixture.expectSound()
  }

  @Test("the levels around an entity count, and brackets in strings do not")
  func levels() throws {
    func nested(_ levels: Int, _ inner: String) -> String {
      String(repeating: "[", count: levels) + inner + String(repeating: "]", count: levels)
    }
    let inner = entity("deep", #""v":\#(nested(300, "1"))"#)
    try fixture.persist("deep", #"{"x":\#(entity("holder", #""i":\#(inner)"#))}"#, at: here)
    // Levels: 1, 209, the outer and the inner entity's, 300: the maximum besides the section's own.
    try fixture.persist("fits", #"{"x":\#(nested(208, entity("holder")))}"#, at: here, reuse: .untilExpiry)
    #expect(try fixture.catalogue.load("fits", at: here) != nil)
    let error = #expect(throws: SatchelError.self) {
      try fixture.persist(
        "deeper", #"{"x":\#(nested(209, entity("holder")))}"#, at: here, reuse: .untilExpiry)
    }
    #expect(error?.code == .invalid && error?.message.contains("more than 512 levels") == true)
    let text = String(repeating: "[{", count: 400) + #"\""#
    try fixture.persist("text", #"{"x":\#(entity("text", #""t":"\#(text)","u":"]""#))}"#, at: here)
    #expect(try fixture.catalogue.load("text", at: here) != nil)
  }

  @Test("loading a section that other deliveries made too large is an error, and it can be replaced")
  func grownByOthers() throws {
    // Each section renders as delivered; the first one renders the current state of all of them.
    for number in 0..<20 {
      let next = entity("\(number + 1)")
      try fixture.persist(
        "\(number)", #"{"x":\#(entity("\(number)", #""a":\#(next),"b":\#(next)"#))}"#, at: here)
    }
    let loads: [() throws -> Void] = [
      { _ = try fixture.catalogue.load("0", at: here) },
      { _ = try fixture.edit("0", #"{"operation":"merge"}"#, #"{"y":1}"#, at: here) },
    ]
    for load in loads {
      let error = #expect(throws: SatchelError.self) { try load() }
      #expect(error?.code == .invalid)
      #expect(error?.message.contains("section 0: ") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("entity s:") == true, "\(error?.message ?? "")")
    }
    let error = #expect(throws: SatchelError.self) { try fixture.catalogue.entity("s:0", at: here) }
    #expect(error?.message.hasPrefix("entity s:0: ") == true)
    #expect(try fixture.catalogue.load("10", at: here) != nil)
    try fixture.persist("0", #"{"x":\#(entity("alone", #""v":1"#))}"#, at: here)
    #expect(try fixture.shown("0", at: here) == #"{"x":{"v":1}}"#)
    try fixture.expectSound()
  }
}
