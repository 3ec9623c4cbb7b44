import SatchelCore
import SatchelTesting
import Testing

import SatchelRemote
@testable import SatchelSync

@Suite("Keys of the sync log")
struct SyncLogKeyTests {
  private let keys: SyncLogKey
  private let seal: SyncSeal

  init() throws {
    keys = try SyncLogKey(EncryptionKey(SyncTestDevice.key))
    seal = keys.seal(SyncTestDevice.user, log: "0123456789abcdef")
  }

  @Test("the name and the digest are HMACs under the key and one derived from it") func nameDigestHMACs()
    throws
  {
    #expect(keys.name == "38ffc06f216de549")
    var digest = SyncDigest(key: keys.digest)
    digest.add(try SyncKey("things", "a"), Array("xyz".utf8))
    #expect(digest.text == "83cec883da9d1971a7c5eaef09dbb867")
    digest.remove(try SyncKey("things", "a"), Array("xyz".utf8))
    #expect(digest == SyncDigest())
    #expect("\(keys) \(String(reflecting: keys))" == "key key")
  }

  @Test("a pack is opened under its own name, log, user and key only") func packOpenedUnder() throws {
    let frames = SyncValues.frames([(0, try SyncValues.envelope("a"))])
    let upload = SyncPackUpload(frames, entries: 1, from: 3, to: 3, sequence: 3, seal)
    #expect(upload.body.count == frames.count + SyncSeal.overhead)
    #expect(try upload.pack.parse(upload.body, seal).map(\.sequence) == [3])
    var renamed = upload.pack
    renamed.name = HexadecimalName.random(digits: 32)
    #expect(throws: SatchelError.self) { try renamed.parse(upload.body, seal) }
    let other = try SyncLogKey(EncryptionKey([UInt8](1...32)))
    for seal in [
      keys.seal(SyncTestDevice.user, log: "f123456789abcdef"),
      keys.seal(try UserID("else"), log: "0123456789abcdef"),
      other.seal(SyncTestDevice.user, log: "0123456789abcdef"),
    ] {
      let error = #expect(throws: SatchelError.self) { try upload.pack.parse(upload.body, seal) }
      #expect(error?.code == .damaged)
    }
    #expect(throws: SatchelError.self) { try upload.pack.parse(upload.body, nil) }
  }

  @Test("an inline entry is opened at its own number only, and each sealing has other bytes")
  func inlineEntryOpened() throws {
    let entry = SyncEntry(sequence: 7, envelope: try SyncValues.envelope("a"))
    let frame = seal.seal(entry)
    #expect(try seal.open(frame).bytes == entry.envelope.bytes && seal.seal(entry) != frame)
    #expect(throws: SatchelError.self) { try seal.open(SyncFrame(sequence: 8, bytes: frame.bytes)) }
    for count in [0, 5, SyncSeal.overhead, frame.bytes.count - 1] {
      #expect(throws: SatchelError.self) {
        try seal.open(SyncFrame(sequence: 7, bytes: Array(frame.bytes.prefix(count))))
      }
    }
  }

  @Test("the signature of a modified head does not match") func headChangedHas() throws {
    var head = try SyncValues.head()
    head.others = Array(",\"future\":1".utf8)
    head.sign(keys, SyncTestDevice.user)
    let bytes = head.serialized()
    #expect(try SyncHead(parsing: bytes) == head && head.key == keys.name)
    #expect(SyncHead.isSigned(bytes, by: keys, SyncTestDevice.user))
    #expect(SyncHead.isSigned(try SyncHead(parsing: bytes).serialized(), by: keys, SyncTestDevice.user))
    #expect(!SyncHead.isSigned(bytes, by: keys, try UserID("else")))
    #expect(
      !SyncHead.isSigned(bytes, by: try SyncLogKey(EncryptionKey([UInt8](1...32))), SyncTestDevice.user))
    // After the signature comes the checksum.
    let (line, frames) = SyncHeadChecksum.parts(of: bytes)
    for index in bytes.indices where line.indices.contains(index) || frames.indices.contains(index) {
      var changed = bytes
      changed[index] ^= 1
      #expect(!SyncHead.isSigned(changed, by: keys, SyncTestDevice.user))
    }
    for count in bytes.indices {
      #expect(!SyncHead.isSigned(Array(bytes.prefix(count)), by: keys, SyncTestDevice.user))
    }
    head.sign(nil, SyncTestDevice.user)
    #expect(head.key == nil && !SyncHead.isSigned(head.serialized(), by: keys, SyncTestDevice.user))
  }
}
