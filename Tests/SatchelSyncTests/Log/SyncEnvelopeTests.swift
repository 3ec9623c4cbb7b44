import SatchelCore
import SatchelTesting
import Testing

@testable import SatchelSync

@Suite("Envelopes of the sync log")
struct SyncEnvelopeTests {
  @Test("an envelope is read as it was written") func envelopeReadWritten() throws {
    let first = try SyncValues.envelope("é\"\\ 1", #"{"a":[1,2.50,"x"]}"#)
    let second = try SyncValues.envelope("é\"\\ 1", nil, writer: "two", number: 9, base: first)
    for envelope in [first, second] {
      #expect(try SyncEnvelope(parsing: envelope.bytes) == envelope)
    }
    #expect(
      String(decoding: second.bytes, as: UTF8.self) == #"""
        {"format":2,"collection":"things","id":"é\"\\ 1","version":1,"n":9,"revision":1,"created":10,"modified":20,"deleted":true,"writer":"two","ancestors":{"one":"1.\#(first.checksum)"}}
        """#)
    #expect(first.checksum == SHA256.digest(first.bytes).prefix(16).hexadecimal)
  }

  @Test("an envelope is not older than the one that it is built on") func whatBuiltEnvelope() throws {
    let base = SyncEnvelope(
      SyncContent(document: [], modified: 500), of: try SyncKey("things", "a"), version: 1, writer: "one",
      number: 1, base: nil, ancestors: SyncVersionVector())
    #expect(try SyncValues.envelope("a", base: base).content.modified == 500)
  }

  @Test("composed and decomposed ids are different") func composedDecomposedIds() throws {
    let (one, other) = (try SyncKey("things", "\u{E9}"), try SyncKey("things", "e\u{301}"))
    #expect(one != other && Set([one, other]).count == 2 && other < one)
  }

  @Test("an envelope names all versions that its writer had seen") func envelopeBuiltAll() throws {
    let first = try SyncValues.envelope("a", number: 3)
    let second = try SyncValues.envelope("a", writer: "two", number: 8, base: first)
    let third = try SyncValues.envelope("a", number: 5, base: second)
    #expect(second.isBuilt(on: first) && third.isBuilt(on: second) && third.isBuilt(on: first))
    #expect(!first.isBuilt(on: second) && !first.isBuilt(on: first))
    // An earlier one of the same writer, although only its latest is named.
    #expect(second.isBuilt(on: try SyncValues.envelope("a", number: 2)))
    #expect(
      !second.isBuilt(on: try SyncValues.envelope("a", #"{"x":1}"#, number: 3)), "a fork of the same number")
    #expect(!second.isBuilt(on: try SyncValues.envelope("a", number: 4)))
  }

  @Test("at most 32 writers are remembered, the latest") func most32Writers() throws {
    var last: SyncEnvelope?
    for number in 1...40 {
      last = try SyncValues.envelope("a", writer: "writer \(number)", number: Int64(number), base: last)
    }
    let envelope = try #require(last)
    #expect(envelope.ancestors.versions.map(\.number) == Array(8...39))
    #expect(try SyncEnvelope(parsing: envelope.bytes) == envelope)
  }

  @Test("a version vector covers what it has later versions of") func versionVectorCovers() throws {
    let first = try SyncValues.envelope("a", number: 3)
    let second = try SyncValues.envelope("a", writer: "two", number: 8, base: first)
    #expect(SyncVersionVector(of: second).cover(SyncVersionVector(of: first)))
    #expect(SyncVersionVector(of: second).cover(SyncVersionVector()))
    #expect(!SyncVersionVector(of: first).cover(SyncVersionVector(of: second)))
    let bytes = SyncVersionVector(of: second).bytes
    #expect(try bytes.withUnsafeBytes { try SyncVersionVector(parsing: $0) } == SyncVersionVector(of: second))
  }

  static let damaged: [(String, String)] = [
    ("{\"format\":2", "[\"format\":2"), ("{\"format\":2,", "{"), ("\"format\":2", "\"format\":1"),
    ("\"format\":2", "\"format\":\"2\""), ("\"format\":2", "\"format\":2,\"format\":2"),
    ("things", "Things"), ("things", "@Other"), ("things", ""), ("things", "a/b"),
    ("\"id\":\"a\"", "\"id\":\"\""), ("\"id\":\"a\"", "\"id\":\"\\u0001\""), ("\"id\":\"a\"", "\"id\":7"),
    ("\"id\":\"a\"", "\"id\":\"\(String(repeating: "x", count: 256))\""),
    ("\"version\":1", "\"version\":0"), ("\"version\":1", "\"version\":2147483648"), ("\"n\":9", "\"n\":-1"),
    ("\"n\":9", "\"n\":9007199254740993"), ("\"n\":9", "\"n\":1e3"), ("\"n\":9,", ""),
    ("\"created\":10", "\"created\":3000000000000001"), ("\"modified\":20", "\"modified\":-20"),
    ("\"deleted\":false", "\"deleted\":true"), ("\"deleted\":false", "\"deleted\":0"),
    ("\"writer\":\"two\"", "\"writer\":\"\""), ("\"writer\":\"two\"", "\"writer\":\"\\u00e9\""),
    ("\"one\":\"1.", "\"one\":\"01."), ("\"one\":\"1.", "\"one\":\"1"), ("\"one\":\"1.", "\"one\":\"1.f"),
    ("\"one\":\"1.", "\"\":\"1."), ("\"ancestors\":{", "\"ancestors\":[{"),
    ("\"document\":{}", "\"document\":[]"),
    ("\"document\":{}", "\"document\":{}}"), ("\"document\":{}", "\"document\":{\"a\":1,\"a\":2}"),
    (",\"document\":{}", ""), ("\"document\":{}", "\"document\":{}\u{0}"),
  ]

  @Test("a damaged envelope is refused", arguments: damaged)
  func damagedEnvelopeRefused(_ old: String, _ new: String) throws {
    let bytes = try SyncValues.envelope("a", writer: "two", number: 9, base: SyncValues.envelope("a")).bytes
    let changed = bytes.replacing(old, new)
    #expect(changed != bytes)
    let error = #expect(throws: SatchelError.self) { try SyncEnvelope(parsing: changed) }
    #expect(error?.code == .damaged)
  }

  @Test("unknown members are ignored, another format is newer") func unknownMembersIgnored() throws {
    let bytes = try SyncValues.envelope("a").bytes
    let changed = bytes.replacing("{\"format\":2", "{\"future\":[1],\"format\":2")
    #expect(try SyncEnvelope(parsing: changed).key == SyncKey("things", "a"))
    let error = #expect(throws: SatchelError.self) {
      try SyncEnvelope(parsing: bytes.replacing("\"format\":2", "\"format\":3"))
    }
    #expect(error?.code == .newer)
  }

  @Test("documents may be as deep as a document may be") func documentsMayDeep() throws {
    let deep = String(repeating: #"{"a":"#, count: 511) + "{}" + String(repeating: "}", count: 511)
    let envelope = try SyncValues.envelope("a", deep)
    #expect(try SyncEnvelope(parsing: envelope.bytes) == envelope)
  }

  /// Bytes that were changed at random never trap, and never give another envelope with the same checksum.
  @Test("changed bytes are read as another envelope or refused") func changedBytesRead() throws {
    var random = SeededRandom(seed: 7)
    let envelope = try SyncValues.envelope("a", #"{"x":[1,{"y":"z"}]}"#, base: SyncValues.envelope("a"))
    for _ in 0..<3000 {
      var bytes = envelope.bytes
      for _ in 0...random.below(3) {
        switch random.below(3) {
        case 0: bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: random.below(bytes.count))
        default: bytes.insert(random.pick(Array("{}[],:\"01e\\".utf8)), at: random.below(bytes.count))
        }
      }
      do {
        let read = try SyncEnvelope(parsing: bytes)
        #expect(read.bytes == bytes && (bytes == envelope.bytes || read.checksum != envelope.checksum))
      } catch let error as SatchelError {
        #expect(error.code == .damaged || error.code == .newer)
      }
    }
  }
}
