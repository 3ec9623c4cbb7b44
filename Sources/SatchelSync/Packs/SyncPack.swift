import SatchelCore
import SatchelJSON

/// A head's reference to a pack, an immutable object of entries.
struct SyncPack: Sendable, Equatable {
  static let maximumSize: Int64 = 64 << 20
  static let maximumCount = 4096
  /// Epochs and sequence numbers of the log, and counts of entries.
  static let numbers: ClosedRange<Int64> = 0...1 << 52

  var name: String
  /// The interval of the sequence numbers of its entries.
  var from: Int64
  var to: Int64
  /// The sequence number of the entries that have 0 in the pack: those of a segment, which was written before its
  /// number was known. 0 where each entry has its own.
  var sequence: Int64
  var entries: Int64
  var bytes: Int64
  /// 64 hexadecimal digits.
  var sha256: String
  /// Unknown members, preserved.
  var others: [UInt8] = []

  private static let known = ["name", "from", "to", "seq", "entries", "bytes", "sha256"]
  private static let memberLimit = 32

  init(name: String, from: Int64, to: Int64, sequence: Int64, body: [UInt8], entries: Int) {
    self.name = name
    self.from = from
    self.to = to
    self.sequence = sequence
    self.entries = Int64(entries)
    bytes = Int64(body.count)
    sha256 = SHA256.digest(body).hexadecimal
  }

  init(parsing bytes: UnsafeRawBufferPointer, source: String) throws {
    let members = try SyncMembers(bytes, of: source, limit: Self.memberLimit)
    name = try members.digits("name", count: 32)
    from = try members.integer("from", 1...Self.numbers.upperBound)
    to = try members.integer("to", from...Self.numbers.upperBound)
    sequence = try members.integer("seq", Self.numbers)
    guard sequence == 0 || sequence >= from && sequence <= to else {
      throw members.failure("seq", "is outside \(from)...\(to)")
    }
    self.bytes = try members.integer("bytes", 1...Self.maximumSize)
    // A frame has at least six bytes.
    entries = try members.integer("entries", 1...max(self.bytes / 6, 1))
    sha256 = try members.digits("sha256", count: 64)
    others = members.others(than: Self.known)
  }

  func write(into bytes: inout [UInt8]) {
    let text =
      #"{"name":"\#(name)","from":\#(from),"to":\#(to),"seq":\#(sequence),"entries":\#(entries),"#
      + #""bytes":\#(self.bytes),"sha256":"\#(sha256)""#
    bytes.append(contentsOf: text.utf8)
    bytes += others
    bytes.append(UInt8(ascii: "}"))
  }

  /// Reads the pack's body.
  ///
  /// - Parameter seal: that of the log; nil when it is not encrypted
  /// - Throws: `SatchelError`: `damaged` when its bytes do not match the reference, or are not a pack;
  ///   `newer`
  func parse(_ body: [UInt8], _ seal: SyncSeal?) throws -> [SyncEntry] {
    guard Int64(body.count) == bytes, SHA256.digest(body).hexadecimal == sha256 else {
      throw SatchelError(.damaged, "pack \(name): its checksum does not match its bytes")
    }
    let plain = try seal?.open(body, pack: name) ?? body
    let found = try SyncEntry.parse(
      plain[...], from..<(to + 1), implied: sequence, limit: Int(entries), source: "pack \(name)")
    guard found.count == Int(entries) else {
      throw SatchelError(.damaged, "pack \(name): has \(found.count) entries instead of \(entries)")
    }
    return found
  }
}

/// A pack to upload.
struct SyncPackUpload: Sendable {
  let pack: SyncPack
  /// The object's bytes: sealed, if the log is encrypted.
  let body: [UInt8]

  /// - Parameter frames: of its entries, plain
  init(
    _ frames: [UInt8], entries: Int, from: Int64, to: Int64, sequence: Int64 = 0, _ seal: SyncSeal?
  ) {
    let name = HexadecimalName.random(digits: 32)
    body = seal?.seal(frames, pack: name) ?? frames
    pack = SyncPack(name: name, from: from, to: to, sequence: sequence, body: body, entries: entries)
  }
}

/// The bytes of one envelope at one sequence number of the log. In a head they are sealed, if the log is encrypted.
struct SyncFrame: Sendable, Equatable {
  var sequence: Int64
  var bytes: [UInt8]

  /// Appends "{seq} {length}\n", the bytes, "\n".
  func write(into bytes: inout [UInt8]) { SyncEntry.write(self.bytes, at: sequence, into: &bytes) }

  /// Reads frames.
  ///
  /// - Parameters:
  ///   - interval: the valid sequence numbers
  ///   - implied: the sequence number of a frame that has 0; 0 when none may
  ///   - limit: the maximum number of frames
  /// - Throws: `SatchelError`: `damaged`, also when they are not in ascending order
  static func parse(
    _ bytes: ArraySlice<UInt8>, _ interval: Range<Int64>, implied: Int64, limit: Int, source: String
  ) throws -> [SyncFrame] {
    func damaged(_ reason: String) -> SatchelError { SatchelError(.damaged, "\(source): \(reason)") }
    var (rest, frames, last) = (bytes, [SyncFrame](), interval.lowerBound)
    while !rest.isEmpty {
      guard frames.count < limit else { throw damaged("has more than \(limit) entries") }
      guard let sequence = number(&rest, before: UInt8(ascii: " ")),
        let length = number(&rest, before: UInt8(ascii: "\n")),
        length < Int64(rest.count),
        rest[rest.startIndex + Int(length)] == UInt8(ascii: "\n")
      else { throw damaged("entry \(frames.count + 1) is not framed") }
      let actual = sequence == 0 ? implied : sequence
      guard interval.contains(actual), actual >= last else {
        throw damaged("entry \(frames.count + 1) has the sequence number \(actual)")
      }
      frames.append(SyncFrame(sequence: actual, bytes: Array(rest.prefix(Int(length)))))
      rest = rest.dropFirst(Int(length) + 1)
      last = actual
    }
    return frames
  }

  /// Reads a number without leading zeros, and the byte after it.
  private static func number(_ rest: inout ArraySlice<UInt8>, before end: UInt8) -> Int64? {
    let digits = rest.prefix(17).prefix { $0 != end }
    guard (1...16).contains(digits.count), rest.dropFirst(digits.count).first == end,
      digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
      digits.count == 1 || digits.first != UInt8(ascii: "0")
    else { return nil }
    rest = rest.dropFirst(digits.count + 1)
    return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }
}

/// One envelope at one sequence number of the log.
struct SyncEntry: Sendable, Equatable {
  var sequence: Int64
  var envelope: SyncEnvelope

  /// Appends the frame of an entry: "{seq} {length}\n", the envelope, "\n".
  static func write(_ envelope: [UInt8], at sequence: Int64, into bytes: inout [UInt8]) {
    bytes.append(contentsOf: "\(sequence) \(envelope.count)\n".utf8)
    bytes += envelope
    bytes.append(UInt8(ascii: "\n"))
  }

  /// The size of a frame, at most.
  static func frameSize(_ envelope: Int) -> Int64 { Int64(envelope) + 28 }

  /// Reads the frames of entries.
  ///
  /// - Throws: `SatchelError`: `damaged`, also when an id is in them twice; `newer`
  static func parse(
    _ bytes: ArraySlice<UInt8>, _ interval: Range<Int64>, implied: Int64, limit: Int, source: String
  ) throws -> [SyncEntry] {
    try entries(
      SyncFrame.parse(bytes, interval, implied: implied, limit: limit, source: source), source: source)
  }

  /// Reads the envelopes in plain frames.
  ///
  /// - Throws: as `parse`
  static func entries(_ frames: [SyncFrame], source: String) throws -> [SyncEntry] {
    var (entries, keys) = ([SyncEntry](), Set<SyncKey>())
    for (index, frame) in frames.enumerated() {
      let envelope: SyncEnvelope
      do {
        envelope = try SyncEnvelope(parsing: frame.bytes)
      } catch let error as SatchelError {
        throw SatchelError(
          error.code, "\(source): entry \(index + 1): \(error.message)", underlying: error)
      }
      guard keys.insert(envelope.key).inserted else {
        throw SatchelError(.damaged, "\(source): has \(envelope.key) twice")
      }
      entries.append(SyncEntry(sequence: frame.sequence, envelope: envelope))
    }
    return entries
  }
}

/// The sizes by which a writer divides its changes into packs. They are not part of the format: writers with
/// different sizes are compatible.
struct SyncSizes: Sendable, Equatable {
  /// The maximum size of all inline entries of a head, in bytes.
  var inline: Int64 = 16 << 10
  /// The fraction of all bytes in a full pack.
  var packShare: Int64 = 64
  var smallestPack: Int64 = 1 << 20
  var largestPack: Int64 = 16 << 20
  /// The maximum number of full packs, and of bytes, that one commit uploads.
  var segmentsOfCommit: Int64 = 8
  var bytesOfCommit: Int64 = 64 << 20
  /// Contents of assets up to this size share an object,
  var smallAsset: Int64 = 256 << 10
  /// of at most so many bytes;
  var assetBundle: Int64 = 8 << 20
  /// larger ones than this are reserved first, and uploaded in parts.
  var wholeAsset: Int64 = 16 << 20
  /// More packs below half a full one than this are merged,
  var smallPacks = 24
  /// so many at once.
  var mergedPacks = 8
  /// The dead bytes that are allowed in addition to half of the live ones.
  var deadBytes: Int64 = 1 << 20
  /// Packs that one commit rewrites because of what is dead in them.
  var rewrittenPacks = 4
  /// Commits with a compaction between two sweeps.
  var sweepInterval: Int64 = 32
  /// Tombstones stay for as many milliseconds: 90 days. Heads are dated once a week.
  var retention: Int64 = 90 * 86_400_000
  var timesInterval: Int64 = 7 * 86_400_000
  /// The maximum number of rows that one transaction changes.
  var rowsOfStep = 1000
  /// The maximum number of entries that are decided in one transaction.
  var decidedAtOnce = 10_000

  /// The size of a full pack.
  ///
  /// - Parameter bytes: of all live entries
  func fullPack(_ bytes: Int64) -> Int64 {
    min(max(bytes / max(packShare, 1), smallestPack), max(largestPack, smallestPack))
  }

  /// The maximum size of one commit.
  ///
  /// - Parameter bytes: of all live entries
  func commit(_ bytes: Int64) -> Int64 { min(fullPack(bytes) * segmentsOfCommit, bytesOfCommit) }

  // MARK: Compaction

  /// Whether packs may have to be rewritten, judged without the sizes of their live entries.
  ///
  /// - Parameter bytes: of all live entries
  func needCompaction(_ packs: [SyncPack], bytes: Int64) -> Bool {
    hasManySmall(packs, full: fullPack(bytes)) || hasMuchDead(packs, bytes: bytes)
  }

  func isSmall(_ pack: SyncPack, full: Int64) -> Bool { pack.bytes < full / 2 }

  func hasManySmall(_ packs: [SyncPack], full: Int64) -> Bool {
    packs.count { isSmall($0, full: full) } > smallPacks
  }

  func hasMuchDead(_ packs: [SyncPack], bytes: Int64) -> Bool {
    packs.reduce(0) { $0 + $1.bytes } > bytes + bytes / 2 + deadBytes
  }
}
