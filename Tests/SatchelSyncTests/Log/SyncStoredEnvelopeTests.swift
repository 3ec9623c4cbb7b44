import SatchelCore
import SatchelTesting
import Testing

@testable import SatchelSync

@Suite("Stored forms of envelopes")
struct SyncStoredEnvelopeTests {
  private let document = Array(#"{"text":"bring a coat"}"#.utf8)

  private func open(
    _ stored: [UInt8], _ document: [UInt8]? = nil, key: EncryptionKey? = nil, of id: String = "a"
  ) throws -> [UInt8]? {
    try SyncStoredEnvelope(parsing: stored).open(SyncKey("things", id), key: key) { document }?.bytes
  }

  private func envelopes() throws -> [SyncEnvelope] {
    let text = String(decoding: document, as: UTF8.self)
    let first = try SyncValues.envelope(
      "a", text, writer: HexadecimalName.random(digits: 32), number: 1 << 40)
    let second = try SyncValues.envelope("a", text, writer: "a host's name", number: 7, base: first)
    let ahead = SyncContent(
      document: document, revision: 1 << 52, created: StoreClock.latest, modified: 0)
    let third = SyncEnvelope(
      ahead, of: try SyncKey("things", "a"), version: Int64(Int32.max), writer: first.writer, number: 0,
      base: nil, ancestors: SyncVersionVector(of: second))
    let fourth = SyncEnvelope(
      first.content, of: first.key, version: 1, writer: first.writer, number: 3, base: nil,
      ancestors: SyncVersionVector(of: first), assets: [1, 2].map { AssetContent([$0]).digest }.sorted())
    return [first, second, third, fourth]
  }

  @Test("an envelope with the local document is stored without it, and opened with it alone")
  func unchanged() throws {
    for envelope in try envelopes() {
      let stored = try #require(SyncStoredEnvelope.compact(envelope, document: document))
      #expect(SyncStoredEnvelope.form(of: stored) == .unchanged && SyncStoredEnvelope.isStored(stored))
      #expect(stored.count < 100 + 60 * envelope.ancestors.versions.count + 32 * envelope.assets.count)
      #expect(try open(stored, document) == envelope.bytes)
      #expect(try open(stored, nil) == nil && open(stored, document + [0x20]) == nil)
      #expect(try open(stored, document, of: "b") == nil)
      let locked = try SyncEnvelope(stored: stored, of: envelope.key)
      #expect(locked.isLocked && locked.checksum == envelope.checksum && locked.writer == envelope.writer)
      #expect(locked.ancestors == envelope.ancestors && locked.number == envelope.number)
      #expect(locked.assets == envelope.assets)
      #expect(locked.version == envelope.version && locked.content.revision == envelope.content.revision)
      #expect(locked.content.created == envelope.content.created)
      #expect(locked.content.modified == envelope.content.modified)
      #expect(SyncStoredEnvelope.size(of: stored) == Int64(envelope.bytes.count))
      #expect(SyncStoredEnvelope.isSame(stored, envelope.bytes))
    }
  }

  @Test("one with another document keeps it") func kept() throws {
    for envelope in try envelopes() {
      let stored = try #require(SyncStoredEnvelope.compact(envelope, document: nil))
      #expect(SyncStoredEnvelope.form(of: stored) == .kept && stored.suffix(document.count) == document[...])
      #expect(try open(stored) == envelope.bytes)
      #expect(try open(stored.dropLast() + [0x20]) == nil)
      let redacted = try SyncStoredEnvelope.redacted(stored)
      #expect(try redacted == SyncStoredEnvelope.redacted(envelope.bytes))
      #expect(try open(redacted, document, key: EncryptionKey(SyncTestDevice.key)) == nil)
      #expect(SyncStoredEnvelope.isSame(redacted, envelope.bytes))
    }
  }

  @Test(
    "one whose bytes this version would write in another way, a deletion and sensitive content stay whole")
  func whole() throws {
    let envelope = try #require(envelopes().first)
    let other = String(decoding: envelope.bytes, as: UTF8.self).dropLast() + #","new":1}"#
    #expect(
      SyncStoredEnvelope.compact(try SyncEnvelope(parsing: Array(other.utf8)), document: document) == nil)
    #expect(SyncStoredEnvelope.compact(try SyncValues.envelope("a", nil), document: document) == nil)
    let salted = SyncEnvelope(
      envelope.content, of: envelope.key, version: 1, writer: "one", number: 1, base: nil,
      ancestors: SyncVersionVector(), salt: String(repeating: "0", count: 32))
    #expect(SyncStoredEnvelope.compact(salted, document: document) == nil)
    let key = try EncryptionKey(SyncTestDevice.key)
    #expect(try open(SyncStoredEnvelope.seal(salted, key), key: key) == salted.bytes)
    #expect(try open(SyncStoredEnvelope.seal(salted, key), key: key, of: "b") == nil)
  }

  @Test("bytes of any kind are refused or opened, and never trap") func anyBytes() throws {
    var random = SeededRandom(seed: 20)
    for envelope in try envelopes() {
      let stored = try #require(SyncStoredEnvelope.compact(envelope, document: nil))
      for length in 0..<stored.count - document.count {
        #expect(throws: SatchelError.self) { try SyncStoredEnvelope(parsing: Array(stored.prefix(length))) }
      }
      for _ in 0..<2000 {
        var damaged = stored
        damaged[Int.random(in: 1..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        guard damaged != stored, let parsed = try? SyncStoredEnvelope(parsing: damaged) else { continue }
        _ = parsed.envelope(of: envelope.key)
        #expect(try parsed.open(envelope.key, key: nil) { nil } == nil)
      }
    }
  }
}
