import SatchelCore

/// The format of an outbox file.
///
/// The file begins with a header: 16 bytes of magic, its identity of 16 bytes, and the SHA-256 of both. Each
/// entry is a frame: marker of 8 bytes, offset of the frame in the file, length of the payload (both 8 bytes,
/// little endian), the file's identity, SHA-256 of all that and the payload; then the payload. A frame
/// contains its own offset, so that intact frames after a damaged part are found again.
enum OutboxFormat {
  static let headerSize = 64
  static let frameHeaderSize = 72
  static let maxPayloadSize = 1 << 30
  private static let magic = Array("satchel outbox1\n".utf8)
  private static let marker = Array("\u{1}entry\r\n".utf8)
  private static let hashedSize = 40
  /// The smallest unit in which disks write.
  private static let sectorSize = 512

  static func header(identity: [UInt8]) -> [UInt8] {
    let named = magic + identity
    return named + SHA256.digest(named)
  }

  static func frame(_ payload: UnsafeRawBufferPointer, at offset: Int64, identity: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(frameHeaderSize + payload.count)
    frame += marker
    for number in [offset, Int64(payload.count)] { withUnsafeBytes(of: number.littleEndian) { frame += $0 } }
    frame += identity
    var hash = SHA256()
    frame.withUnsafeBytes { hash.update($0) }
    hash.update(payload)
    frame += hash.digest()
    frame += payload
    return frame
  }

  /// Returns the identity in a header; nil when the header is damaged.
  static func identity(ofHeader bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count >= headerSize, bytes.starts(with: magic),
      bytes[32..<headerSize].elementsEqual(SHA256.digest(bytes[..<32]))
    else { return nil }
    return Array(bytes[16..<32])
  }

  /// Returns all intact frames and the damaged parts between them. The time is proportional to the file's
  /// size for any content.
  static func parse(_ bytes: [UInt8]) -> (identity: [UInt8]?, frames: [OutboxFrame], damages: [OutboxDamage])
  {
    var identity = identity(ofHeader: bytes)
    var frames: [OutboxFrame] = []
    var damages: [OutboxDamage] = []
    var position = identity == nil ? 0 : headerSize
    while position < bytes.count {
      if let frame = payloadRange(bytes, at: position, identity: &identity) {
        frames.append(OutboxFrame(number: Int64(position), payload: Array(bytes[frame])))
        position = frame.upperBound
        continue
      }
      let start = position
      position += 1
      while position < bytes.count, payloadRange(bytes, at: position, identity: &identity) == nil {
        position += 1
      }
      let isCut =
        position == bytes.count
        && (begins(bytes[start...], at: start) || hasUnwrittenSector(bytes, from: start))
      damages.append(
        OutboxDamage(
          offset: Int64(start), count: Int64(position - start), kind: isCut ? .truncated : .unreadable))
    }
    return (identity, frames, damages)
  }

  /// Returns the range of the payload of the frame at `start`; nil when there is no intact frame.
  private static func payloadRange(_ bytes: [UInt8], at start: Int, identity: inout [UInt8]?) -> Range<Int>? {
    let hashed = start + hashedSize
    let payload = start + frameHeaderSize
    guard payload <= bytes.count, bytes[start] == marker[0], bytes[start..<hashed].starts(with: marker),
      number(bytes, at: start + 8) == Int64(start)
    else { return nil }
    let length = number(bytes, at: start + 16)
    guard length > 0, length <= maxPayloadSize, length <= bytes.count - payload else { return nil }
    let end = payload + Int(length)
    if let identity, !bytes[start + 24..<hashed].elementsEqual(identity) { return nil }
    var hash = SHA256()
    bytes.withUnsafeBytes {
      hash.update(UnsafeRawBufferPointer(rebasing: $0[start..<hashed]))
      hash.update(UnsafeRawBufferPointer(rebasing: $0[payload..<end]))
    }
    guard bytes[hashed..<payload].elementsEqual(hash.digest()) else { return nil }
    if identity == nil { identity = Array(bytes[start + 24..<hashed]) }
    return payload..<end
  }

  /// Whether `rest` is the beginning of a header or of a frame that is longer than the rest of the file.
  private static func begins(_ rest: ArraySlice<UInt8>, at start: Int) -> Bool {
    if start == 0, rest.count < headerSize { return rest.prefix(16).elementsEqual(magic.prefix(rest.count)) }
    guard rest.prefix(8).elementsEqual(marker.prefix(rest.count)) else { return false }
    let head = Array(rest.prefix(frameHeaderSize))
    if head.count >= 16, number(head, at: 8) != Int64(start) { return false }
    return head.count < 24 || number(head, at: 16) > Int64(rest.count - frameHeaderSize)
  }

  /// Whether a sector from `start` on is all zeros, as after a power loss when the file's size was written
  /// before the sector. No sector of an entry is all zeros: it contains a checksum or JSON.
  private static func hasUnwrittenSector(_ bytes: [UInt8], from start: Int) -> Bool {
    var sector = start
    while sector < bytes.count {
      let end = min(bytes.count, (sector / sectorSize + 1) * sectorSize)
      if bytes[sector..<end].allSatisfy({ $0 == 0 }) { return true }
      sector = end
    }
    return false
  }

  private static func number(_ bytes: [UInt8], at offset: Int) -> Int64 {
    var number: UInt64 = 0
    for index in (0..<8).reversed() { number = number << 8 | UInt64(bytes[offset + index]) }
    return Int64(truncatingIfNeeded: number)
  }
}

/// The content of an outbox file.
package struct OutboxContent: Equatable, Sendable {
  /// The file's identity, constant for its lifetime: 32 hexadecimal digits.
  package var identity: String
  /// The intact entries, in the order in which they were appended.
  package var frames: [OutboxFrame]
  /// The damaged parts, in order.
  package var damages: [OutboxDamage]

  /// Whether every acknowledged entry is intact.
  package var isComplete: Bool { damages.allSatisfy { $0.kind == .truncated } }
}

/// An entry of an outbox file.
package struct OutboxFrame: Equatable, Sendable {
  /// Greater than the numbers of all earlier entries; not consecutive.
  package var number: Int64
  package var payload: [UInt8]
}

/// A damaged part of an outbox file.
package struct OutboxDamage: Equatable, Sendable {
  package enum Kind: Sendable {
    /// An incomplete entry at the end of the file: its append was never acknowledged.
    case truncated
    case unreadable
  }

  package var offset: Int64
  package var count: Int64
  package var kind: Kind

  /// The description for people.
  package var message: String {
    switch kind {
    case .truncated: "the last \(count) bytes, from offset \(offset), are an incomplete entry"
    case .unreadable: "\(count) bytes from offset \(offset) cannot be read"
    }
  }
}

/// The outcome of `OutboxFile.finish`.
package enum OutboxFileOutcome: Equatable, Sendable {
  case removed
  /// New entries were appended meanwhile: drain again.
  case kept
  /// The file was damaged and was renamed, for people to inspect.
  case quarantine(String)
}

/// The sequence numbers of the changes that handles have saved. They identify a change that is already saved while the
/// commit is in progress or has only seemed to fail, and when it is drained from the outbox file again.
///
/// The tables of the outbox must exist.
package struct OutboxSequence {
  /// The time in milliseconds for which the number of a handle is kept: an outbox file may be drained late.
  private static let retention: Int64 = 366 * 24 * 3600 * 1000

  private let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// Returns the number through which the changes of a handle are saved; 0 when none are.
  package func saved(_ writer: Int64) throws -> Int64 {
    try connection.number("SELECT through FROM outbox_saved WHERE writer = ?", .integer(writer))
  }

  /// Notes the number through which a handle has saved, and forgets handles that have not saved for a year.
  package func note(_ writer: Int64, through sequence: Int64, at now: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO outbox_saved(writer, through, time) VALUES(?, ?, ?)", .integer(writer),
      .integer(sequence), .integer(now))
    try connection.run("DELETE FROM outbox_saved WHERE time < ?", .integer(now - Self.retention))
  }
}
