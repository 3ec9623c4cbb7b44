import SatchelCore

/// The stored form of an envelope with sensitive content: its metadata, and the whole of it sealed under a key that is
/// derived from that of the sync log. Without the key, entries can still be compared, counted and replaced.
///
/// One byte of format version, 8 bytes of key name, 16 of checksum, 8 of the envelope's length, 4 of the metadata's
/// length, the metadata as an envelope with an empty document, and the sealed bytes: no bytes for a redacted
/// one. An envelope is JSON, and never begins with the first byte.
struct SyncStoredEnvelope {
  static let format: UInt8 = 1
  private static let headLength = 1 + EncryptionKey.nameLength + 16 + 8 + 4

  private let bytes: [UInt8]
  private let metadata: Range<Int>
  /// The name of the key.
  private var keyName: ArraySlice<UInt8> { bytes[1...EncryptionKey.nameLength] }
  var checksum: String { bytes[9..<25].hexadecimal }
  /// The length of the envelope.
  let size: Int64

  /// - Throws: `SatchelError` (`damaged`)
  init(parsing bytes: [UInt8]) throws {
    let damaged = SatchelError(.damaged, "envelope: is stored in an unknown format")
    guard bytes.count >= Self.headLength, bytes[0] == Self.format else { throw damaged }
    let size = bytes[25..<33].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let length = bytes[33..<37].reduce(0) { $0 << 8 | Int($1) }
    guard size <= SyncEnvelope.maximumSize, length > 0, length <= bytes.count - Self.headLength,
      bytes[Self.headLength] != Self.format
    else { throw damaged }
    self.bytes = bytes
    self.size = Int64(size)
    metadata = Self.headLength..<Self.headLength + length
  }

  /// The metadata.
  ///
  /// - Throws: `SatchelError` (`damaged`)
  func envelope() throws -> SyncEnvelope {
    let known = try SyncEnvelope(parsing: Array(bytes[metadata]))
    return SyncEnvelope(
      bytes: bytes, key: known.key, version: known.version, content: known.content, writer: known.writer,
      number: known.number, ancestors: known.ancestors, lockedChecksum: checksum)
  }

  // MARK: Sealing

  /// - Parameter key: nil to keep the metadata alone, which is never opened
  static func seal(_ envelope: SyncEnvelope, _ key: EncryptionKey?) -> [UInt8] {
    var content = envelope.content
    content.document = Array("{}".utf8)
    let metadata = SyncEnvelope(
      content, of: envelope.key, version: envelope.version, writer: envelope.writer, number: envelope.number,
      base: nil, ancestors: envelope.ancestors
    ).bytes
    var bytes = [format]
    bytes += key?.name ?? [UInt8](repeating: 0, count: EncryptionKey.nameLength)
    bytes += SHA256.digest(envelope.bytes).prefix(16)
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: envelope.bytes.count >> shift))
    }
    for shift in stride(from: 24, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: metadata.count >> shift))
    }
    bytes += metadata
    if let key { bytes += key.seal(envelope.bytes, context: context(bytes, envelope.key)) }
    return bytes
  }

  /// Returns the envelope; nil when it was sealed under another key, or for another entry, or was modified.
  func open(_ key: EncryptionKey, of entry: SyncKey) -> [UInt8]? {
    guard keyName.elementsEqual(key.name) else { return nil }
    return key.open(
      bytes[metadata.upperBound...], context: Self.context(bytes[..<metadata.upperBound], entry))
  }

  private static func context(_ head: some Sequence<UInt8>, _ entry: SyncKey) -> [UInt8] {
    Array("\(entry)\0".utf8) + head
  }

  /// Returns an envelope without its document, in a form that is never opened. Deletions stay as they are.
  ///
  /// - Throws: `SatchelError` (`damaged`)
  static func redacted(_ bytes: [UInt8]) throws -> [UInt8] {
    guard isStored(bytes) else {
      let envelope = try SyncEnvelope(parsing: bytes)
      return envelope.content.isDeleted ? bytes : seal(envelope, nil)
    }
    let stored = try SyncStoredEnvelope(parsing: bytes)
    let keyName = [UInt8](repeating: 0, count: EncryptionKey.nameLength)
    return [format] + keyName + bytes[9..<stored.metadata.upperBound]
  }

  // MARK: Any form

  static func isStored(_ bytes: [UInt8]) -> Bool { bytes.first == format }

  /// The length of an envelope in whatever form.
  static func size(of bytes: [UInt8]) -> Int64 {
    guard isStored(bytes) else { return Int64(bytes.count) }
    return (try? SyncStoredEnvelope(parsing: bytes))?.size ?? Int64(bytes.count)
  }

  /// Whether two envelopes are the same, in whatever form.
  static func isSame(_ one: [UInt8]?, _ other: [UInt8]?) -> Bool {
    guard let one, let other, one != other, isStored(one) || isStored(other) else { return one == other }
    guard let first = checksum(of: one) else { return false }
    return first == checksum(of: other)
  }

  private static func checksum(of bytes: [UInt8]) -> String? {
    guard isStored(bytes) else { return SHA256.digest(bytes).prefix(16).hexadecimal }
    return try? SyncStoredEnvelope(parsing: bytes).checksum
  }
}
