/// How entries stand in a spill file.
///
/// The file begins with a head: 16 bytes of magic, its identity of 16 bytes, and the SHA-256 of both. Each entry
/// is a frame: marker of 8 bytes, offset of the frame in the file, length of the payload (both 8 bytes, little
/// endian), the file's identity, SHA-256 of all that and the payload; then the payload. A frame says itself what
/// and where it is, so that those behind a damaged place are found again.
enum SpillFormat {
  static let headSize = 64
  static let frameHeadSize = 72
  static let longestPayload = 1 << 30
  private static let magic = Array("satchel spill 1\n".utf8)
  private static let marker = Array("\u{1}entry\r\n".utf8)
  private static let signedSize = 40
  /// What disks write at once, the smallest.
  private static let sectorSize = 512

  static func head(identity: [UInt8]) -> [UInt8] {
    let named = magic + identity
    return named + SHA256.digest(named)
  }

  static func frame(_ payload: UnsafeRawBufferPointer, at offset: Int64, identity: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(frameHeadSize + payload.count)
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

  /// The identity that a head tells; nil when the head is not sound.
  static func identity(ofHead bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count >= headSize, bytes.starts(with: magic),
      bytes[32..<headSize].elementsEqual(SHA256.digest(bytes[..<32]))
    else { return nil }
    return Array(bytes[16..<32])
  }

  /// Reads whatever is whole. Time grows with the size of the file, whatever stands in it.
  static func parse(_ bytes: [UInt8]) -> (identity: [UInt8]?, frames: [SpillFrame], damages: [SpillDamage]) {
    var identity = identity(ofHead: bytes)
    var frames: [SpillFrame] = []
    var damages: [SpillDamage] = []
    var position = identity == nil ? 0 : headSize
    while position < bytes.count {
      if let frame = sound(bytes, at: position, identity: &identity) {
        frames.append(SpillFrame(number: Int64(position), payload: Array(bytes[frame])))
        position = frame.upperBound
        continue
      }
      let start = position
      position += 1
      while position < bytes.count, sound(bytes, at: position, identity: &identity) == nil { position += 1 }
      let isCut =
        position == bytes.count
        && (begins(bytes[start...], at: start) || hasUnwrittenSector(bytes, from: start))
      damages.append(
        SpillDamage(
          offset: Int64(start), count: Int64(position - start), kind: isCut ? .cutShort : .unreadable))
    }
    return (identity, frames, damages)
  }

  /// Where the payload of a frame stands; nil when there is no whole frame at `start`.
  private static func sound(_ bytes: [UInt8], at start: Int, identity: inout [UInt8]?) -> Range<Int>? {
    let signed = start + signedSize
    let payload = start + frameHeadSize
    guard payload <= bytes.count, bytes[start] == marker[0], bytes[start..<signed].starts(with: marker),
      number(bytes, at: start + 8) == Int64(start)
    else { return nil }
    let length = number(bytes, at: start + 16)
    guard length > 0, length <= longestPayload, length <= bytes.count - payload else { return nil }
    let end = payload + Int(length)
    if let identity, !bytes[start + 24..<signed].elementsEqual(identity) { return nil }
    var hash = SHA256()
    bytes.withUnsafeBytes {
      hash.update(UnsafeRawBufferPointer(rebasing: $0[start..<signed]))
      hash.update(UnsafeRawBufferPointer(rebasing: $0[payload..<end]))
    }
    guard bytes[signed..<payload].elementsEqual(hash.digest()) else { return nil }
    if identity == nil { identity = Array(bytes[start + 24..<signed]) }
    return payload..<end
  }

  /// Whether the end of a file is the beginning of a head or of a frame that would be longer.
  private static func begins(_ rest: ArraySlice<UInt8>, at start: Int) -> Bool {
    if start == 0, rest.count < headSize { return rest.prefix(16).elementsEqual(magic.prefix(rest.count)) }
    guard rest.prefix(8).elementsEqual(marker.prefix(rest.count)) else { return false }
    let head = Array(rest.prefix(frameHeadSize))
    if head.count >= 16, number(head, at: 8) != Int64(start) { return false }
    return head.count < 24 || number(head, at: 16) > Int64(rest.count - frameHeadSize)
  }

  /// Whether a sector from `start` on is all zeros, as a power cut leaves one that was not written before the end of the
  /// file had moved. No sector of an entry is: it holds a checksum or JSON text.
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
    for place in (0..<8).reversed() { number = number << 8 | UInt64(bytes[offset + place]) }
    return Int64(truncatingIfNeeded: number)
  }
}
