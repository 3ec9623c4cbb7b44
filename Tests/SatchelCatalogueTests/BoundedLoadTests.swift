import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("What entities that hold each other can grow to")
struct BoundedLoadTests {
  private let shelf: Shelf
  private let here: Location

  init() throws {
    shelf = try Shelf()
    here = try place("fr", "ara", "Lyon")
  }

  /// An entity, with what it holds.
  private func entity(_ name: String, _ members: String = "") -> String {
    "{\(members.isEmpty ? "" : members + ",")\(tag("s:\(name)", "country"))}"
  }

  /// Runs `body` on a thread with a small stack, as hosts have them.
  private func onSmallStack(_ body: @escaping () throws -> Void) throws {
    // Only that thread runs it, while this one waits.
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

  /// Delivers `count` sections, each with an entity that holds the one before so many times. What is stored of that is
  /// kept, and holds another one in turn.
  ///
  /// - Returns: how many were taken, and why the next was not
  private func chain(_ count: Int, times: Int) throws -> (taken: Int, reason: String?) {
    for number in 0..<count {
      let before = number == 0 ? [] : (0..<times).map { #""\#($0)":\#(entity("\(number - 1)"))"# }
      do {
        try shelf.persist(
          "\(number)", #"{"x":\#(entity("\(number)", before.joined(separator: ",")))}"#, at: here,
          reuse: .untilExpiry)
      } catch let error as SatchelError where error.code == .invalid {
        return (number, error.message)
      }
    }
    return (count, nil)
  }

  @Test("a chain of entities is no deeper than other JSON, and needs no stack")
  func deep() throws {
    let (taken, reason) = try chain(850, times: 1)
    #expect(taken == 510)
    #expect(reason?.contains("section: at /content: ") == true, "\(reason ?? "")")
    #expect(reason?.contains("more than 512 levels") == true, "\(reason ?? "")")
    try onSmallStack {
      let text = try #require(
        try shelf.catalogue.loadText("509", at: here, allowExpired: false, union: false))
      #expect(text.count > 510 * 5)
      try text.withUnsafeBytes { try JSONScanner.check($0) }
      let refused = #expect(throws: SatchelError.self) {
        try Array(
          Shelf.section("more", #"{"x":\#(self.entity("more", #""0":\#(self.entity("509"))"#))}"#).utf8
        ).withUnsafeBytes { try shelf.catalogue.persist($0, at: here, reuse: .untilExpiry) }
      }
      #expect(refused?.code == .invalid)
    }
    #expect(try shelf.shown("510", at: here) == "-")
    try shelf.expectSound()
  }

  @Test("what doubles with each delivery is refused before it is too much")
  func wide() throws {
    let (taken, reason) = try chain(40, times: 2)
    // 2^16 - 1 entities, each counted as often as it appears.
    #expect(taken == 16)
    #expect(reason?.contains("more than 100000 entities") == true, "\(reason ?? "")")
    let text = try #require(
      try shelf.catalogue.loadText("15", at: here, allowExpired: false, union: false))
    #expect(String(decoding: text, as: UTF8.self).components(separatedBy: "{}").count - 1 == 1 << 15)
    // One section that shows two of them is too much as well, and one that shows one is not.
    #expect(throws: SatchelError.self) {
      try shelf.persist(
        "both", #"{"x":[\#(entity("15")),\#(entity("15")),1]}"#, at: here, reuse: .untilExpiry)
    }
    try shelf.persist("one", #"{"x":[\#(entity("15")),1]}"#, at: here, reuse: .untilExpiry)
    #expect(try shelf.catalogue.load("one", at: here) != nil)
  }

  @Test("an entity that occurs again is what it was the first time")
  func again() throws {
    try shelf.persist("in", #"{"x":\#(entity("in", #""v":[1,"{"]"#))}"#, at: here)
    try shelf.persist(
      "out", #"{"x":\#(entity("out", #""i":\#(entity("in")),"w":2"#))}"#, at: here, reuse: .untilExpiry)
    try shelf.persist(
      "all", #"{"a":\#(entity("out")),"b":[\#(entity("out")),\#(entity("in"))],"c":\#(entity("out"))}"#,
      at: here, reuse: .untilExpiry)
    let out = #"{"i":{"v":[1,"{"]},"w":2}"#
    #expect(
      try shelf.shown("all", at: here) == #"{"a":\#(out),"b":[\#(out),{"v":[1,"{"]}],"c":\#(out)}"#)
  }

  @Test("entities that hold each other end where they began, wherever one looks from")
  func cycles() throws {
    try shelf.persist("a", #"{"x":\#(entity("a", #""b":\#(entity("b"))"#))}"#, at: here)
    try shelf.persist(
      "b", #"{"x":\#(entity("b", #""a":\#(entity("a")),"n":1"#))}"#, at: here)
    try shelf.persist("a", #"{"x":\#(entity("a", #""b":\#(entity("b"))"#))}"#, at: here, reuse: .untilExpiry)
    // The last delivery of "b" emptied "a"; this one fills it, and keeps "b".
    shelf.clock.advance(1)
    try shelf.persist(
      "c", #"{"x":\#(entity("a", #""b":\#(entity("b", #""a":1"#))"#))}"#, at: here)
    try shelf.persist(
      "d", #"{"x":\#(entity("b", #""a":\#(entity("a")),"n":1"#))}"#, at: here, reuse: .untilExpiry)
    let both = #"{"p":\#(entity("a")),"q":\#(entity("b")),"r":\#(entity("a"))}"#
    try shelf.persist("both", both, at: here, reuse: .untilExpiry)
    let loaded = try #require(try shelf.catalogue.load("both", at: here))
    #expect(loaded.content["p"] == loaded.content["r"])
    try shelf.expectSound()
  }

  @Test("the levels around an entity count, and brackets in texts do not")
  func levels() throws {
    func nested(_ levels: Int, _ inner: String) -> String {
      String(repeating: "[", count: levels) + inner + String(repeating: "]", count: levels)
    }
    let inner = entity("deep", #""v":\#(nested(300, "1"))"#)
    try shelf.persist("deep", #"{"x":\#(entity("holder", #""i":\#(inner)"#))}"#, at: here)
    // Levels: 1, 209, the holder's and the inner one's, 300: the most that there may be beside the section's own.
    try shelf.persist("fits", #"{"x":\#(nested(208, entity("holder")))}"#, at: here, reuse: .untilExpiry)
    #expect(try shelf.catalogue.load("fits", at: here) != nil)
    let error = #expect(throws: SatchelError.self) {
      try shelf.persist("deeper", #"{"x":\#(nested(209, entity("holder")))}"#, at: here, reuse: .untilExpiry)
    }
    #expect(error?.code == .invalid && error?.message.contains("more than 512 levels") == true)
    let text = String(repeating: "[{", count: 400) + #"\""#
    try shelf.persist("text", #"{"x":\#(entity("text", #""t":"\#(text)","u":"]""#))}"#, at: here)
    #expect(try shelf.catalogue.load("text", at: here) != nil)
  }

  @Test("a section that others made too large says so when it is loaded, and can be replaced")
  func grownByOthers() throws {
    // Each section shows what was sent; the first one shows what all of them have become.
    for number in 0..<20 {
      let next = entity("\(number + 1)")
      try shelf.persist(
        "\(number)", #"{"x":\#(entity("\(number)", #""a":\#(next),"b":\#(next)"#))}"#, at: here)
    }
    let loads: [() throws -> Void] = [
      { _ = try shelf.catalogue.load("0", at: here) },
      { _ = try shelf.edit("0", #"{"operation":"merge"}"#, #"{"y":1}"#, at: here) },
    ]
    for load in loads {
      let error = #expect(throws: SatchelError.self) { try load() }
      #expect(error?.code == .invalid)
      #expect(error?.message.contains("section 0: ") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("entity s:") == true, "\(error?.message ?? "")")
    }
    let error = #expect(throws: SatchelError.self) { try shelf.catalogue.entity("s:0", at: here) }
    #expect(error?.message.hasPrefix("entity s:0: ") == true)
    #expect(try shelf.catalogue.load("10", at: here) != nil)
    try shelf.persist("0", #"{"x":\#(entity("alone", #""v":1"#))}"#, at: here)
    #expect(try shelf.shown("0", at: here) == #"{"x":{"v":1}}"#)
    try shelf.expectSound()
  }
}
