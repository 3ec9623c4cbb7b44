import SatchelCore
import SatchelTesting
import Testing

@testable import SatchelSync

@Suite("Heads and packs of the sync log")
struct SyncHeadTests {
  @Test("a head is read as it was written") func headReadWritten() throws {
    var head = try SyncValues.head()
    #expect(try SyncHead(parsing: head.serialized()) == head)
    head.horizon = 4
    head.key = "0011223344556677"
    #expect(try SyncHead(parsing: head.serialized()) == head)
    let empty = SyncHead(position: SyncHead.Position(epoch: 1, log: "0123456789abcdef", number: 1))
    #expect(try SyncHead(parsing: empty.serialized()) == empty)
  }

  @Test("unknown members are kept when the head is replaced") func unknownMembersKept() throws {
    let bytes = try SyncValues.head().serialized()
      .replacing("\"fence\":5", "\"future\" : {\"a\":1.50},\"fence\":5")
      .replacing("\"seq\":12", "\"zip\":true,\"seq\":12")
    let head = try SyncHead(parsing: bytes)
    let text = String(decoding: head.serialized(), as: UTF8.self)
    #expect(text.contains(",\"future\":{\"a\":1.50},\"sha256\":\"") && text.contains(",\"zip\":true}"))
    #expect(try SyncHead(parsing: head.serialized()) == head)
  }

  @Test("an older head is that of an earlier epoch, a lower number or another log") func olderHeadEarlier()
    throws
  {
    let known = SyncHead.Position(epoch: 3, log: "0123456789abcdef", number: 20)
    func isOlder(_ epoch: Int64, _ log: String, _ number: Int64) -> Bool {
      SyncHead(position: SyncHead.Position(epoch: epoch, log: log, number: number)).isOlder(than: known)
    }
    #expect(isOlder(2, known.log, 99) && isOlder(3, known.log, 19) && isOlder(3, "f123456789abcdef", 99))
    #expect(!isOlder(3, known.log, 20) && !isOlder(3, known.log, 21) && !isOlder(4, "f123456789abcdef", 1))
  }

  static let damaged: [(String, String)] = [
    ("\"format\":2", "\"format\":1"), ("\"epoch\":3", "\"epoch\":0"), ("\"epoch\":3", "\"epoch\":\"3\""),
    ("0123456789abcdef", "0123456789ABCDEF"), ("0123456789abcdef", "0123"), ("\"number\":20", "\"number\":0"),
    ("\"number\":20", "\"number\":19"), ("\"number\":20", "\"number\":9007199254740993"),
    ("\"count\":7", "\"count\":-1"), ("\"bytes\":900", "\"bytes\":1.5"), ("\"digest\":\"", "\"digest\":\"g"),
    ("\"fence\":5", "\"fence\":21"), ("\"packs\":[", "\"packs\":[{},"), ("\"packs\":[", "\"packs\":[[]"),
    ("\"from\":1,", "\"from\":0,"), ("\"to\":9", "\"to\":10"), ("\"from\":10", "\"from\":16"),
    ("\"to\":15", "\"to\":17"), ("\"seq\":12", "\"seq\":9"), ("\"seq\":12", "\"seq\":16"),
    ("\"entries\":2", "\"entries\":0"), ("\"entries\":2", "\"entries\":17"),
    ("\"bytes\":100", "\"bytes\":67108865"), ("\"bytes\":100", "\"bytes\":0"),
    ("\"sha256\":\"e", "\"sha256\":\""),
    (String(repeating: "2", count: 32), String(repeating: "1", count: 32)),
    (String(repeating: "b", count: 32), String(repeating: "1", count: 32)),
    ("\"retired\":[\"", "\"retired\":[7,\""), ("\"inline_from\":17", "\"inline_from\":15"),
    ("\"inline_from\":17", "\"inline_from\":19"), ("\"inline_from\":17", "\"inline_from\":22"),
    ("}\n18 ", "}\n0 "), ("}\n18 ", "}\n018 "), ("}\n18 ", "}\n 18 "), ("}\n18 ", "}\n21 "),
    ("}\n18 ", "}\n19 "),
    ("\n20 ", "\n17 "), ("\"id\":\"b\"", "\"id\":\"a\""), ("}\n18 ", "}"), ("\n20 ", "\n20 9"),
    ("\n20 ", "\n99999999999999999999 "), ("\"horizon\"", "\"x\""), ("}\n18 1", "}\n18 99999999999999991"),
  ]

  @Test("a damaged head is refused", arguments: damaged)
  func damagedHeadRefused(_ old: String, _ new: String) throws {
    var bytes = try SyncValues.head().serialized()
    if old == "\"horizon\"" { bytes = bytes.replacing("\"fence\":5", "\"horizon\":21,\"fence\":5") }
    let changed = old == "\"horizon\"" ? bytes : bytes.replacing(old, new)
    #expect(changed != (try SyncValues.head().serialized()))
    let error = #expect(throws: SatchelError.self) { try SyncHead(parsing: changed).entries(nil) }
    #expect(error?.code == .damaged, "\(String(describing: error))")
  }

  @Test("limits are checked before an entry is read") func limitsHoldBefore() throws {
    let big = [UInt8](repeating: UInt8(ascii: " "), count: SyncHead.maximumSize + 1)
    #expect(throws: SatchelError.self) { try SyncHead(parsing: big) }
    var head = try SyncValues.head()
    head.inline = []
    head.packs = []
    head.position.number = 1 << 40
    head.inlineFrom = 1 << 40
    for number in 0..<Int64(SyncPack.maximumCount) {
      var pack = SyncValues.pack("1", number + 1, number + 1)
      pack.name = HexadecimalName.random(digits: 32)
      pack.sha256 = String(repeating: "0", count: 64)
      head.packs.append(pack)
    }
    #expect(try SyncHead(parsing: head.serialized()).packs.count == SyncPack.maximumCount)
    head.packs.append(SyncValues.pack("3", 5000, 5001))
    #expect(throws: SatchelError.self) { try SyncHead(parsing: head.serialized()) }
    let newer = try SyncValues.head().serialized().replacing("\"format\":2", "\"format\":3")
    let error = #expect(throws: SatchelError.self) { try SyncHead(parsing: newer) }
    #expect(error?.code == .newer)
  }

  @Test("changed bytes of a head are refused or read, and never trap") func changedBytesHead() throws {
    var random = SeededRandom(seed: 11)
    let whole = try SyncValues.head().serialized()
    for _ in 0..<3000 {
      var bytes = whole
      for _ in 0...random.below(2) {
        switch random.below(3) {
        case 0: bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.removeSubrange(random.below(bytes.count)...)
        default: bytes.insert(random.pick(Array("{}[],:\"019 \n".utf8)), at: random.below(bytes.count + 1))
        }
        if bytes.isEmpty { bytes = [0] }
      }
      do {
        _ = try SyncHead(parsing: bytes).entries(nil)
      } catch let error as SatchelError {
        #expect(error.code == .damaged || error.code == .newer)
      }
    }
  }
}

@Suite("Packs of the sync log")
struct SyncPackTests {
  private let entries: [(sequence: Int64, envelope: SyncEnvelope)]

  init() throws {
    entries = [
      (0, try SyncValues.envelope("a")), (0, try SyncValues.envelope("b", nil, number: 2)),
      (0, try SyncValues.envelope("a", collection: "others", base: nil)),
    ]
  }

  @Test("the sequence of a segment is that of its reference") func sequenceSegmentReference() throws {
    let body = SyncValues.frames(entries)
    let pack = SyncPack(
      name: HexadecimalName.random(digits: 32), from: 3, to: 9, sequence: 7, body: body, entries: 3)
    #expect(try pack.parse(body, nil) == entries.map { SyncEntry(sequence: 7, envelope: $0.envelope) })
    var other = pack
    other.sequence = 0
    #expect(throws: SatchelError.self) { try other.parse(body, nil) }
  }

  @Test("a pack has ascending sequences inside its interval") func packAscendingSequences() throws {
    func parse(_ sequences: [Int64]) throws -> [Int64] {
      let body = SyncValues.frames(zip(sequences, entries).map { ($0, $1.envelope) })
      let pack = SyncPack(
        name: HexadecimalName.random(digits: 32), from: 3, to: 9, sequence: 0, body: body,
        entries: sequences.count)
      return try pack.parse(body, nil).map(\.sequence)
    }
    #expect(try parse([3, 3, 9]) == [3, 3, 9])
    for sequences: [Int64] in [[2, 3, 4], [3, 4, 10], [4, 3, 5], [3, 0, 5]] {
      #expect(throws: SatchelError.self) { try parse(sequences) }
    }
  }

  @Test("other bytes, a wrong count and an id twice are damaged") func otherBytesWrong() throws {
    let body = SyncValues.frames(entries)
    let pack = SyncPack(
      name: HexadecimalName.random(digits: 32), from: 3, to: 9, sequence: 7, body: body, entries: 3)
    var changed = body
    changed[40] ^= 1
    #expect(throws: SatchelError.self) { try pack.parse(changed, nil) }
    #expect(throws: SatchelError.self) { try pack.parse(Array(body.dropLast()), nil) }
    for count in [2, 4] {
      let other = SyncPack(name: pack.name, from: 3, to: 9, sequence: 7, body: body, entries: count)
      #expect(throws: SatchelError.self) { try other.parse(body, nil) }
    }
    let twice = SyncValues.frames([entries[0], (0, try SyncValues.envelope("a", number: 9))])
    let other = SyncPack(name: pack.name, from: 3, to: 9, sequence: 7, body: twice, entries: 2)
    #expect(throws: SatchelError.self) { try other.parse(twice, nil) }
  }

  @Test("the digest depends on the entries and not on their order") func digestDependsEntries() throws {
    var (one, other) = (SyncDigest(), SyncDigest())
    for entry in entries { one.add(entry.envelope.key, entry.envelope.bytes) }
    for entry in entries.reversed() { other.add(entry.envelope.key, entry.envelope.bytes) }
    #expect(one == other && SyncDigest(one.text) == one && one.text.utf8.count == 32)
    other.add(entries[0].envelope.key, entries[0].envelope.bytes)
    #expect(one != other, "twice the same does not cancel itself out")
    other.remove(entries[0].envelope.key, entries[0].envelope.bytes)
    #expect(one == other)
    for entry in entries { one.remove(entry.envelope.key, entry.envelope.bytes) }
    #expect(one == SyncDigest() && one.text == String(repeating: "0", count: 32))
    var single = SyncDigest()
    single.add(try SyncKey("things", "a"), [])
    #expect(single.text == SHA256.digest(Array("things/a\0".utf8)).prefix(16).hexadecimal)
    for text in ["", "0", String(repeating: "g", count: 32), String(repeating: "0", count: 33)] {
      #expect(SyncDigest(text) == nil)
    }
  }
}
