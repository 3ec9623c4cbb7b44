import SatchelCore

/// The digest of a set of entries: the sum, modulo 2^128, of a hash of each. The order does not matter, and an entry
/// that is replaced is subtracted.
///
/// With a key the hash is an HMAC, so that guessing does not reveal whether an encrypted log has a certain
/// entry.
struct SyncDigest: Sendable, Equatable {
  private var sum: UInt128 = 0
  private let key: HMAC?

  init(key: HMAC? = nil) { self.key = key }

  /// - Returns: nil for text that is not 32 hexadecimal digits
  init?(_ text: String, key: HMAC? = nil) {
    guard HexadecimalName.isName(text, digits: 32), let sum = UInt128(text, radix: 16) else { return nil }
    self.init(key: key)
    self.sum = sum
  }

  static func == (one: SyncDigest, other: SyncDigest) -> Bool { one.sum == other.sum }

  /// 32 hexadecimal digits.
  var text: String {
    let digits = String(sum, radix: 16)
    return String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  /// Makes it the digest of no entries.
  mutating func clear() { sum = 0 }

  mutating func add(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) { sum &+= hash(key, envelope) }

  mutating func remove(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) { sum &-= hash(key, envelope) }

  mutating func add(_ key: SyncKey, _ envelope: [UInt8]) { envelope.withUnsafeBytes { add(key, $0) } }

  mutating func remove(_ key: SyncKey, _ envelope: [UInt8]) { envelope.withUnsafeBytes { remove(key, $0) } }

  /// The first 16 bytes of the hash of (key, 0, envelope), the most significant first.
  private func hash(_ key: SyncKey, _ envelope: UnsafeRawBufferPointer) -> UInt128 {
    let name = Array("\(key)\0".utf8)
    let code: [UInt8]
    if var hmac = self.key {
      name.withUnsafeBytes { hmac.update($0) }
      hmac.update(envelope)
      code = hmac.digest()
    } else {
      var hash = SHA256()
      name.withUnsafeBytes { hash.update($0) }
      hash.update(envelope)
      code = hash.digest()
    }
    return code.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
  }
}

/// The checksum of a head, the last member of its line in every format: the SHA-256 of all other bytes. It
/// distinguishes damage from a newer format.
enum SyncHeadChecksum {
  static let member = "sha256"
  private static let start = ",\"\(member)\":\""
  private static let digits = 64

  /// Appends the checksum to a line of members.
  static func added(to line: [UInt8], _ frames: [UInt8]) -> [UInt8] {
    line + Array(ending(line[...], frames[...]).utf8) + [UInt8(ascii: "\n")] + frames
  }

  private static func ending(_ line: ArraySlice<UInt8>, _ frames: ArraySlice<UInt8>) -> String {
    var hash = SHA256()
    line.withUnsafeBytes { hash.update($0) }
    [UInt8(ascii: "\n")].withUnsafeBytes { hash.update($0) }
    frames.withUnsafeBytes { hash.update($0) }
    return "\(start)\(hash.digest().hexadecimal)\"}"
  }

  /// The line before the checksum, and the bytes after the line.
  static func parts(of body: [UInt8]) -> (line: ArraySlice<UInt8>, frames: ArraySlice<UInt8>) {
    let line = body.prefix { $0 != UInt8(ascii: "\n") }
    return (line.dropLast(start.utf8.count + digits + 2), body[line.endIndex...].dropFirst())
  }

  /// Whether the checksum matches.
  static func isRight(_ body: [UInt8]) -> Bool {
    let (line, frames) = parts(of: body)
    var rest = Array(ending(line, frames).utf8)
    rest.append(UInt8(ascii: "\n"))
    return body.dropFirst(line.count).prefix(rest.count).elementsEqual(rest)
  }

  // MARK: Keys

  /// The key that a damaged head was written with.
  enum Owner: Equatable {
    case own
    case other
    /// Without a key, although this device has one.
    case unencrypted
    /// Too little is readable, or the bytes do not resemble a head.
    case unknown
  }

  /// The readable beginning of a damaged head, which contains the name of its key.
  ///
  /// - Parameter key: the name of this device's key; nil for a log that is not encrypted
  static func owner(of body: [UInt8], key: String?) -> Owner {
    let sealed = "{\"format\":\(SyncHead.format),\"key\":\""
    if isNearly(body[...], sealed) {
      guard let key else { return .other }
      // Two random names have about one digit of sixteen in common.
      let shown = body.dropFirst(sealed.utf8.count)
      let found = differences(shown, key)
      if found > tolerated { return .other }
      if shown.count >= key.utf8.count { return .own }
      // The head was truncated within the name. The rest of the name has to match exactly.
      return found == 0 && shown.count >= minimumDigits ? .own : .unknown
    }
    guard isNearly(body[...], "{\"format\":\(SyncHead.format),\"epoch\":") else { return .unknown }
    return key == nil ? .own : .unencrypted
  }

  private static func differences(_ bytes: ArraySlice<UInt8>, _ text: String) -> Int {
    zip(bytes, text.utf8).count { $0 != $1 }
  }

  private static func isNearly(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
    bytes.count >= text.utf8.count && differences(bytes, text) <= tolerated
  }

  /// The maximum number of bytes in which a part of a damaged head may differ from the original.
  private static let tolerated = 2

  /// The number of digits that distinguish the beginning of a name from that of another one.
  private static let minimumDigits = 8
}

/// Times of the heads of a sync log, by which its horizon moves.
///
/// A pair has the number of a head and a time at which it existed: it was read before the head with the pair was made,
/// so that a write that arrives late is not older than it seems. Of two clocks the later one dates a head, and the
/// earlier one judges its age: a head is older than it seems only if both clocks are wrong.
struct SyncTimes: Sendable, Equatable {
  struct Pair: Sendable, Equatable {
    var number: Int64
    /// Unix milliseconds.
    var time: Int64
  }

  static let maximumCount = 16

  /// Ascending, in numbers and times.
  private(set) var pairs: [Pair] = []

  /// Adds the latest head that was read. Later times of earlier heads are wrong, and removed. The pair is the last one;
  /// those before it are an interval apart.
  mutating func add(_ pair: Pair, interval: Int64) {
    pairs.removeAll { $0.time > pair.time || $0.number >= pair.number }
    if pairs.count > 1, pairs[pairs.count - 1].time - pairs[pairs.count - 2].time < interval {
      pairs.removeLast()
    }
    pairs.append(pair)
    if pairs.count > Self.maximumCount { pairs.removeFirst(pairs.count - Self.maximumCount) }
  }

  /// The number of the last head that is older than the retention; 0 when no head is.
  func horizon(at now: Int64, retention: Int64) -> Int64 {
    pairs.last { now - $0.time > retention }?.number ?? 0
  }

  // MARK: Form

  /// [{"number":…,"time":…}, …]
  func write(into bytes: inout [UInt8]) {
    let texts = pairs.map { #"{"number":\#($0.number),"time":\#($0.time)}"# }
    bytes.append(contentsOf: "[\(texts.joined(separator: ","))]".utf8)
  }

  init() {}

  /// - Parameter number: of the head
  /// - Throws: `SatchelError` (`damaged`)
  init(_ members: SyncMembers, number: Int64) throws {
    guard members.raw("times") != nil else { return }
    for (index, raw) in try members.elements("times", limit: Self.maximumCount).enumerated() {
      let pair = try SyncMembers(raw, of: "head: /times/\(index)", limit: 8)
      let new = Pair(
        number: try pair.integer("number", 1...number),
        time: try pair.integer("time", 0...StoreClock.latest))
      guard pairs.last.map({ $0.number < new.number && $0.time <= new.time }) ?? true else {
        throw members.failure("times/\(index)", "is not in ascending order")
      }
      pairs.append(new)
    }
  }
}
