import SatchelCore
import SatchelJSON

/// A head's reference to a pack: an object of entries that is written once and never changed.
struct SyncPack: Sendable, Equatable {
  static let maximumSize: Int64 = 64 << 20
  static let maximumCount = 4096
  /// Sequence numbers of the log, and counts of entries.
  static let numbers: ClosedRange<Int64> = 0...1 << 53

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
  /// Members that this version does not know.
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
  /// - Throws: `SatchelError`: `damaged` when it is not the one that the reference names, or not a pack; `newer`
  func parse(_ body: [UInt8]) throws -> [SyncEntry] {
    guard Int64(body.count) == bytes, SHA256.digest(body).hexadecimal == sha256 else {
      throw SatchelError(.damaged, "pack \(name): its bytes are not those that were written")
    }
    let found = try SyncEntry.parse(
      body[...], from..<(to + 1), implied: sequence, limit: Int(entries), source: "pack \(name)")
    guard found.count == Int(entries) else {
      throw SatchelError(.damaged, "pack \(name): has \(found.count) entries instead of \(entries)")
    }
    return found
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

  /// Reads frames.
  ///
  /// - Parameters:
  ///   - interval: the valid sequence numbers
  ///   - implied: the sequence number of a frame that has 0; 0 when none may
  ///   - limit: the maximum number of entries
  /// - Throws: `SatchelError`: `damaged`, also when they are not in ascending order or have an id twice; `newer`
  static func parse(
    _ bytes: ArraySlice<UInt8>, _ interval: Range<Int64>, implied: Int64, limit: Int, source: String
  ) throws -> [SyncEntry] {
    func damaged(_ reason: String) -> SatchelError { SatchelError(.damaged, "\(source): \(reason)") }
    var (rest, entries, keys, last) = (bytes, [SyncEntry](), Set<SyncKey>(), interval.lowerBound)
    while !rest.isEmpty {
      guard entries.count < limit else { throw damaged("has more than \(limit) entries") }
      guard let sequence = number(&rest, before: UInt8(ascii: " ")),
        let length = number(&rest, before: UInt8(ascii: "\n")),
        length <= Int64(SyncEnvelope.maximumSize), length < Int64(rest.count),
        rest[rest.startIndex + Int(length)] == UInt8(ascii: "\n")
      else { throw damaged("entry \(entries.count + 1) is not framed") }
      let actual = sequence == 0 ? implied : sequence
      guard interval.contains(actual), actual >= last else {
        throw damaged("entry \(entries.count + 1) has the sequence number \(actual)")
      }
      let envelope: SyncEnvelope
      do {
        envelope = try SyncEnvelope(parsing: Array(rest.prefix(Int(length))))
      } catch let error as SatchelError {
        throw SatchelError(
          error.code, "\(source): entry \(entries.count + 1): \(error.message)", underlying: error)
      }
      guard keys.insert(envelope.key).inserted else { throw damaged("has \(envelope.key) twice") }
      rest = rest.dropFirst(Int(length) + 1)
      last = actual
      entries.append(SyncEntry(sequence: actual, envelope: envelope))
    }
    return entries
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
