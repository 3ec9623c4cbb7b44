import SatchelCore
import SatchelJSON
import SatchelRemote

/// The head of a sync log, its only object that is ever replaced. It names the packs and contains the newest
/// entries inline.
struct SyncHead: Sendable, Equatable {
  static let format: Int64 = 2
  static let maximumSize = 1 << 20
  /// The maximum number of names in `retired`.
  static let maximumRetired = SyncPack.maximumCount
  /// The position of a reader in a log.
  struct Position: Sendable, Equatable {
    var epoch: Int64
    var log: String
    var number: Int64

    /// The greatest difference between two positions of a log: no devices write so many heads.
    static let maximumJump: Int64 = 1 << 32

    /// Whether no devices can have moved the log from another position to this one.
    func isImpossible(after known: Position) -> Bool {
      epoch - known.epoch > Self.maximumJump || number - known.number > Self.maximumJump
    }

    /// The position of a log that replaces this one.
    ///
    /// - Parameters:
    ///   - known: the position of the device; one that is impossible after this one is that of a head that no device has
    ///     written, and does not count
    ///   - isRenumbered: whether no pack of this log is named by the other one
    func next(after known: Position? = nil, isRenumbered: Bool) -> Position {
      let known = known.flatMap { $0.isImpossible(after: self) ? nil : $0 }
      let number = max(number, known?.number ?? 0)
      return Position(
        epoch: min(max(epoch, known?.epoch ?? 0) + 1, SyncPack.numbers.upperBound),
        log: HexadecimalName.random(digits: 16),
        number: isRenumbered && number > Self.lastNumber ? 1 : min(number + 1, SyncPack.numbers.upperBound))
    }

    /// A log with a greater number is renumbered before changes are sent.
    static let lastNumber = SyncPack.numbers.upperBound - 1 << 20
  }

  var position: Position
  /// Whether the account was closed: such a head has no entries, and nothing is written over it without asking.
  var isClosed = false
  /// Random: no two heads have the same bytes, so that no ETag ever recurs.
  var id: String
  /// Totals of all live entries, inline or in packs; deletions are entries. In an encrypted log they are
  /// computed from plain envelopes: sealing an entry again does not change them.
  var count: Int64 = 0
  var bytes: Int64 = 0
  var digest = SyncDigest()
  /// The number of the head before the last removal of objects that no head named.
  var fence: Int64 = 0
  /// Times of this head's predecessors.
  var times = SyncTimes()
  /// Whether the log may have replaced one that was lost: objects of assets of other logs are not deleted, and an entry may
  /// name them again. True for a new log, also for the first one, whose writer cannot know whether there was another.
  var adopts = true
  /// Whether contents of assets with the name of another log are to be sealed again: the packs of that log, which was not
  /// encrypted, showed their keys.
  var reseals = false
  /// Tombstones up to this sequence number are not entries, and packs may lack them.
  var horizon: Int64 = 0
  /// The position in another log up to which this one has the same history.
  var follows: Position?
  /// Identifies the key that entries are sealed with; nil when they are not.
  var key: String?
  /// The latest changes of the key, in ascending order.
  var successions: [SyncSuccession] = []
  /// The name of the log that the objects were sealed for, if it is another one: after a remote has lost
  /// data, a new log names the old objects unchanged.
  var origin: String?
  /// The signature of all other bytes. Without it, an attacker without the key could raise `horizon` in an
  /// empty head, and devices would delete their content.
  private(set) var signature: String?
  /// In ascending order of their intervals, which are disjoint; gaps are allowed.
  var packs: [SyncPack] = []
  /// The minimum sequence number of inline entries.
  var inlineFrom: Int64
  /// Inline entries, in ascending order; sealed, if the log is encrypted.
  var inline: [SyncFrame] = []
  /// The packs that the last compaction replaced: readers of the previous head still find them.
  var retired: [String] = []
  /// Packs that a device could not read. A device that has their entries writes them again.
  var missing: [String] = []
  /// Unknown members, preserved.
  var others: [UInt8] = []

  /// An empty head.
  init(position: Position, id: String = HexadecimalName.random(digits: 32)) {
    self.position = position
    self.id = id
    inlineFrom = position.number + 1
  }

  /// The empty head of a log that follows another one. Objects that the other one did not name may have been
  /// deleted.
  init(beginning position: Position) {
    self.init(position: position)
    fence = position.number
  }

  /// Whether it is older than the position of a device: the response is stale, or the object store has lost
  /// data.
  func isOlder(than known: Position) -> Bool {
    if known.isImpossible(after: position) { return false }
    if position.epoch != known.epoch { return position.epoch < known.epoch }
    return position.log != known.log || position.number < known.number
  }

  /// The number up to which entries that a device knows, and that are absent here, were deleted: the device is below
  /// the horizon, and has not read their tombstones. 0 where it has read all tombstones that were dropped, or where
  /// another log has lost something.
  func droppedThrough(from known: Position) -> Int64 {
    if known.log == position.log, known.epoch == position.epoch {
      return known.number < horizon ? horizon : 0
    }
    guard let follows, follows.log == known.log, follows.epoch == known.epoch else { return 0 }
    return min(follows.number, horizon)
  }

  /// The packs that are not listed, or are listed with another size.
  func packs(missingFrom listed: [String: Int64]) -> [SyncPack] {
    packs.filter { listed[$0.name] != $0.bytes }
  }

  /// The bytes of all packs.
  var packBytes: Int64 { packs.reduce(0) { $0 + $1.bytes } }

  /// The seal of its objects; nil when it is not encrypted.
  func seal(_ key: SyncLogKey?, _ user: UserID) -> SyncSeal? { key?.seal(user, log: origin ?? position.log) }

  /// The inline entries.
  ///
  /// - Throws: `SatchelError`: `damaged`, `newer`
  func entries(_ seal: SyncSeal?) throws -> [SyncEntry] {
    try SyncEntry.entries(seal.map { try inline.map($0.open) } ?? inline, source: "head")
  }

  /// One line of JSON, whose last member is the checksum, then the frames of the inline entries.
  func serialized() -> [UInt8] {
    var bytes = line
    if let signature { bytes.append(contentsOf: "\(Self.signatureStart)\(signature)\"".utf8) }
    return SyncHeadChecksum.added(to: bytes, frames)
  }

  private var frames: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(inline.reduce(0) { $0 + $1.bytes.count + 28 })
    for frame in inline { frame.write(into: &bytes) }
    return bytes
  }

  /// The line up to the signature.
  private var line: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(400 + packs.count * 220)
    func add(_ text: String) { bytes.append(contentsOf: text.utf8) }
    // The key comes first, so that most damage leaves it legible.
    add(#"{"format":\#(Self.format),"#)
    if let key { add(#""key":"\#(key)","#) }
    if isClosed { add(#""closed":true,"#) }
    add(#""epoch":\#(position.epoch),"log":"\#(position.log)","#)
    add(#""number":\#(position.number),"id":"\#(id)","count":\#(count),"bytes":\#(self.bytes),"#)
    add(#""digest":"\#(digest.text)","fence":\#(fence),"#)
    if !times.pairs.isEmpty {
      add(#""times":"#)
      times.write(into: &bytes)
      add(",")
    }
    if horizon > 0 { add(#""horizon":\#(horizon),"#) }
    if adopts { add(#""adopt":true,"#) }
    if reseals { add(#""reseal":true,"#) }
    if let follows {
      add(#""follows":{"epoch":\#(follows.epoch),"log":"\#(follows.log)","number":\#(follows.number)},"#)
    }
    if let origin { add(#""origin":"\#(origin)","#) }
    if !successions.isEmpty { add(#""successions":[\#(successions.map(\.text).joined(separator: ","))],"#) }
    add(#""packs":["#)
    for (index, pack) in packs.enumerated() {
      if index > 0 { add(",") }
      pack.write(into: &bytes)
    }
    add(#"],"inline_from":\#(inlineFrom),"retired":["#)
    add(retired.map { "\"\($0)\"" }.joined(separator: ","))
    add("]")
    if !missing.isEmpty { add(#","missing":[\#(missing.map { "\"\($0)\"" }.joined(separator: ","))]"#) }
    bytes += others
    return bytes
  }

  // MARK: Signature

  private static let signatureStart = ",\"signature\":\""
  private static let signatureDigits = 32

  /// Sets the encryption of the log: the name of a key, or nil.
  mutating func sign(_ key: SyncLogKey?, _ user: UserID) {
    self.key = key?.name
    signature = key?.signature(of: line[...], frames[...], user)
  }

  /// Whether the signature, the last member before the checksum, matches all other bytes of a serialized
  /// head.
  static func isSigned(_ body: [UInt8], by key: SyncLogKey, _ user: UserID) -> Bool {
    let (line, frames) = SyncHeadChecksum.parts(of: body)
    let signed = line.dropLast(signatureStart.utf8.count + signatureDigits + 1)
    let signature = "\(signatureStart)\(key.signature(of: signed, frames, user))\""
    return line.dropFirst(signed.count).elementsEqual(signature.utf8)
  }
}

extension SyncHead {
  private static let known = [
    "format", "closed", "epoch", "log", "number", "id", "count", "bytes", "digest", "fence", "times",
    "horizon", "adopt", "reseal", "follows", "key", "successions", "origin", "packs", "inline_from",
    "retired", "missing", "signature", SyncHeadChecksum.member,
  ]
  private static let memberLimit = 64

  /// Reads a head, as untrusted input. Its inline entries are read by `entries`.
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
    inline = try SyncFrame.parse(
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
    isClosed = try Self.isSet("closed", members)
    adopts = try Self.isSet("adopt", members)
    reseals = try Self.isSet("reseal", members)
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
    times = try SyncTimes(members, number: position.number)
    horizon = try members.integerIfAny("horizon", 0...position.number) ?? 0
    if members.raw("follows") != nil {
      let follows = try members.object("follows", limit: 8)
      self.follows = Position(
        epoch: try follows.integer("epoch", 0...position.epoch), log: try follows.digits("log", count: 16),
        number: try follows.integer("number", 0...position.number))
    }
    key = members.raw("key") == nil ? nil : try members.digits("key", count: 16)
    if members.raw("successions") != nil { successions = try SyncSuccession.all(members) }
    origin = members.raw("origin") == nil ? nil : try members.digits("origin", count: 16)
    signature =
      members.raw("signature") == nil
      ? nil : try members.digits("signature", count: Self.signatureDigits)
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
    retired = try Self.names("retired", members)
    if members.raw("missing") != nil { missing = try Self.names("missing", members) }
    guard Set(retired).isDisjoint(with: packs.map(\.name)) else {
      throw members.failure("retired", "has the name of a pack")
    }
    others = members.others(than: Self.known)
  }

  /// Whether a member is there that can only be true.
  private static func isSet(_ member: String, _ members: SyncMembers) throws -> Bool {
    guard let value = members.raw(member) else { return false }
    guard value.elementsEqual("true".utf8) else { throw members.failure(member, "is not true") }
    return true
  }

  private static func names(_ member: String, _ members: SyncMembers) throws -> [String] {
    try members.elements(member, limit: maximumRetired).map { raw in
      let name = SyncMembers.decoded(raw)
      guard raw.first == UInt8(ascii: "\""), HexadecimalName.isName(name, digits: 32) else {
        throw members.failure(member, "has a name that is not 32 hexadecimal digits")
      }
      return name
    }
  }
}
