import SatchelCore
import SatchelJSON

/// The head of a sync log: the only object of it that is ever replaced. It names the packs and has the newest entries in
/// itself.
struct SyncHead: Sendable, Equatable {
  static let format: Int64 = 2
  static let maximumSize = 1 << 20
  /// The names in `retired`, at most.
  static let maximumRetired = SyncPack.maximumCount
  /// What a reader has of a log.
  struct Position: Sendable, Equatable {
    var epoch: Int64
    var log: String
    var number: Int64
  }

  var position: Position
  /// Random: no two heads have the same bytes, so that no ETag ever recurs.
  var id: String
  /// Of all live entries, inline or in packs; deletions are entries.
  var count: Int64 = 0
  var bytes: Int64 = 0
  var digest = SyncDigest()
  /// The number of the head before the last removal of objects that no head named.
  var fence: Int64 = 0
  /// Deletions below this number may be missing.
  var horizon: Int64 = 0
  /// Identifies the key that entries are sealed with; nil when they are not.
  var key: String?
  /// In ascending order of their intervals, which are disjoint; gaps are allowed.
  var packs: [SyncPack] = []
  /// The first number of which inline entries may be.
  var inlineFrom: Int64
  /// In ascending order.
  var inline: [SyncEntry] = []
  /// The packs that the last compaction replaced: readers of the previous head still find them.
  var retired: [String] = []
  /// Members that this version does not know.
  var others: [UInt8] = []

  init(position: Position, id: String = SyncName.random()) {
    self.position = position
    self.id = id
    inlineFrom = position.number + 1
  }

  /// Whether it is older than what a device has read: a stale answer, or that of a store that went back.
  func isOlder(than known: Position) -> Bool {
    if position.epoch != known.epoch { return position.epoch < known.epoch }
    return position.log != known.log || position.number < known.number
  }

  /// The bytes of all packs.
  var packBytes: Int64 { packs.reduce(0) { $0 + $1.bytes } }

  /// One line of JSON, then the frames of the inline entries.
  func serialized() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(400 + packs.count * 220 + inline.reduce(0) { $0 + $1.envelope.bytes.count + 28 })
    func add(_ text: String) { bytes.append(contentsOf: text.utf8) }
    add(#"{"format":\#(Self.format),"epoch":\#(position.epoch),"log":"\#(position.log)","#)
    add(#""number":\#(position.number),"id":"\#(id)","count":\#(count),"bytes":\#(self.bytes),"#)
    add(#""digest":"\#(digest.text)","fence":\#(fence),"#)
    if horizon > 0 { add(#""horizon":\#(horizon),"#) }
    if let key { add(#""key":"\#(key)","#) }
    add(#""packs":["#)
    for (index, pack) in packs.enumerated() {
      if index > 0 { add(",") }
      pack.write(into: &bytes)
    }
    add(#"],"inline_from":\#(inlineFrom),"retired":["#)
    add(retired.map { "\"\($0)\"" }.joined(separator: ","))
    add("]")
    bytes += others
    add("}\n")
    for entry in inline { SyncEntry.write(entry.envelope.bytes, at: entry.sequence, into: &bytes) }
    return bytes
  }
}

extension SyncHead {
  private static let known = [
    "format", "epoch", "log", "number", "id", "count", "bytes", "digest", "fence", "horizon", "key", "packs",
    "inline_from", "retired",
  ]
  private static let memberLimit = 64

  /// Reads a head, trusting none of it.
  ///
  /// - Throws: `SatchelError`: `newer` for another format, `damaged` for everything else
  init(parsing body: [UInt8]) throws {
    guard body.count <= Self.maximumSize else {
      throw SatchelError(.damaged, "head: has \(body.count) bytes, more than \(Self.maximumSize)")
    }
    guard let end = body.firstIndex(of: UInt8(ascii: "\n")) else {
      throw SatchelError(.damaged, "head: has no line")
    }
    self = try body.withUnsafeBytes {
      try SyncHead(
        SyncMembers(UnsafeRawBufferPointer(rebasing: $0[..<end]), of: "head", limit: Self.memberLimit))
    }
    inline = try SyncEntry.parse(
      body[(end + 1)...], inlineFrom..<max(position.number, inlineFrom) + 1, implied: 0,
      limit: Self.maximumSize / 6,
      source: "head")
    guard inline.last?.sequence ?? 0 <= position.number else {
      throw SatchelError(.damaged, "head: an inline entry is above its number")
    }
  }

  private init(_ members: SyncMembers) throws {
    let format = try members.integer("format", 1...Int64.max)
    guard format == Self.format else {
      throw SatchelError(
        format > Self.format ? .newer : .damaged,
        "head: /format is \(format), and this version reads \(Self.format)")
    }
    let numbers = SyncPack.numbers
    position = Position(
      epoch: try members.integer("epoch", 1...numbers.upperBound), log: try members.digits("log", count: 16),
      number: try members.integer("number", 1...numbers.upperBound))
    id = try members.digits("id", count: 32)
    count = try members.integer("count", numbers)
    bytes = try members.integer("bytes", numbers)
    guard let digest = SyncDigest(try members.text("digest", 32...32)) else {
      throw members.failure("digest", "is not 32 hexadecimal digits")
    }
    self.digest = digest
    fence = try members.integer("fence", 0...position.number)
    horizon = try members.integerIfAny("horizon", 0...position.number) ?? 0
    key = members.raw("key") == nil ? nil : try members.digits("key", count: 16)
    inlineFrom = try members.integer("inline_from", 1...position.number + 1)
    var last: Int64 = 0
    for (index, raw) in try members.elements("packs", limit: SyncPack.maximumCount).enumerated() {
      let pack = try SyncPack(parsing: raw, source: "head: /packs/\(index)")
      guard pack.from > last, pack.to < inlineFrom else {
        throw members.failure("packs/\(index)", "is not in ascending order, or above the inline entries")
      }
      last = pack.to
      packs.append(pack)
    }
    guard Set(packs.map(\.name)).count == packs.count else {
      throw members.failure("packs", "has a name twice")
    }
    retired = try members.elements("retired", limit: Self.maximumRetired).map { raw in
      let name = SyncMembers.decoded(raw)
      guard raw.first == UInt8(ascii: "\""), SyncName.isHexadecimal(name, count: 32) else {
        throw members.failure("retired", "has a name that is not 32 hexadecimal digits")
      }
      return name
    }
    guard Set(retired).isDisjoint(with: packs.map(\.name)) else {
      throw members.failure("retired", "has the name of a pack")
    }
    others = members.others(than: Self.known)
  }
}
