@testable import SatchelSync

/// Values of the sync log, for tests.
enum SyncValues {
  static func envelope(
    _ id: String, _ document: String? = "{}", writer: String = "one", number: Int64 = 1,
    collection: String = "things", base: SyncEnvelope? = nil
  ) throws -> SyncEnvelope {
    SyncEnvelope(
      SyncContent(document: document.map { Array($0.utf8) }, revision: 1, created: 10, modified: 20),
      of: try SyncKey(collection, id), version: 1, writer: writer, number: number, base: base,
      ancestors: base.map { SyncVersionVector(of: $0) } ?? SyncVersionVector())
  }

  static func pack(
    _ digit: Character, _ from: Int64, _ to: Int64, sequence: Int64 = 0, bytes: Int64 = 100,
    entries: Int64 = 2
  ) -> SyncPack {
    var pack = SyncPack(
      name: String(repeating: digit, count: 32), from: from, to: to, sequence: sequence, body: [], entries: 0)
    pack.bytes = bytes
    pack.entries = entries
    return pack
  }

  static func head() throws -> SyncHead {
    var head = SyncHead(
      position: SyncHead.Position(epoch: 3, log: "0123456789abcdef", number: 20),
      id: String(repeating: "a", count: 32))
    head.count = 7
    head.bytes = 900
    head.digest.add(try SyncKey("things", "a"), [1, 2, 3])
    head.fence = 5
    head.packs = [pack("1", 1, 9), pack("2", 10, 15, sequence: 12)]
    head.inlineFrom = 17
    head.inline = [
      SyncFrame(sequence: 18, bytes: try envelope("a").bytes),
      SyncFrame(sequence: 18, bytes: try envelope("b", number: 2).bytes),
      SyncFrame(sequence: 20, bytes: try envelope("c", nil, number: 3).bytes),
    ]
    head.retired = [String(repeating: "b", count: 32)]
    return head
  }

  /// Frames of entries, as an object has them.
  static func frames(_ entries: [(sequence: Int64, envelope: SyncEnvelope)]) -> [UInt8] {
    var bytes: [UInt8] = []
    for entry in entries { SyncEntry.write(entry.envelope.bytes, at: entry.sequence, into: &bytes) }
    return bytes
  }
}

extension [UInt8] {
  /// Replaces the first occurrence of a text.
  func replacing(_ old: String, _ new: String) -> [UInt8] {
    guard let range = firstRange(of: Array(old.utf8)) else { return self }
    return Array(self[..<range.lowerBound]) + Array(new.utf8) + Array(self[range.upperBound...])
  }
}
