import SatchelAssets
import SatchelCore
import SatchelJSON

/// The stored form of an envelope: what it says about its document, the checksum of its bytes, and a payload from which
/// the bytes are made again.
///
/// One byte for the form, 16 of the checksum, and then as numbers of 7 bits a byte, the lowest bits first: the
/// envelope's length, its version, its number, its revision, the time of the change, and how much later than its
/// creation that is. Then the writer's name, for each of the ancestors its name, its number and its checksum, and the
/// SHA-256 of each asset. The payload is the rest. An envelope that is stored as it was sent is JSON, which never begins with one of these bytes.
struct SyncStoredEnvelope: Sendable {
  enum Form: UInt8 {
    /// The payload is the name of a key and the envelope, sealed under it; empty for one that is never opened. Without
    /// the key, entries can still be compared, counted and replaced.
    case sealed = 1
    /// No payload: the document is that of the local content. A change of that content first makes this form `kept`, by
    /// `SyncTracker.keepDocument`.
    case unchanged = 2
    /// The payload is the document.
    case kept = 3
  }

  let form: Form
  let checksum: String
  /// The length of the envelope.
  let size: Int64
  let bytes: [UInt8]
  /// Without its document, and its key, which the row has.
  private let metadata: Metadata
  /// Where the payload begins.
  private let end: Int

  private struct Metadata: Sendable {
    var version: Int64
    var number: Int64
    var content: SyncContent
    var writer: String
    var ancestors: SyncVersionVector
    var assets: [AssetDigest]
  }

  /// - Throws: `SatchelError` (`damaged`)
  init(parsing bytes: [UInt8]) throws {
    var reader = Reader(bytes: bytes)
    guard let form = Self.form(of: bytes) else { throw Reader.damaged }
    self.form = form
    checksum = try reader.bytes(16).hexadecimal
    size = try reader.number(0...Int64(SyncEnvelope.maximumSize))
    let version = try reader.number(1...Int64(Int32.max))
    let number = try reader.number(SyncEnvelope.numbers)
    let revision = try reader.number(SyncEnvelope.revisions)
    let modified = try reader.number(0...StoreClock.latest)
    let created = modified - Self.signed(try reader.number(0...2 * StoreClock.latest))
    guard (0...StoreClock.latest).contains(created) else { throw Reader.damaged }
    metadata = Metadata(
      version: version, number: number,
      content: SyncContent(
        document: Array("{}".utf8), revision: revision, created: created, modified: modified),
      writer: try reader.name(), ancestors: try SyncVersionVector(reading: &reader),
      assets: try (0..<reader.number(0...Int64(SyncEnvelope.maximumAssets))).map { _ in try reader.digest() })
    end = reader.offset
    self.bytes = bytes
  }

  /// The metadata of an envelope.
  func envelope(of key: SyncKey) -> SyncEnvelope {
    SyncEnvelope(
      bytes: bytes, key: key, version: metadata.version, content: metadata.content, writer: metadata.writer,
      number: metadata.number, ancestors: metadata.ancestors, assets: metadata.assets,
      lockedChecksum: checksum)
  }

  /// The form that bytes are stored in; nil for an envelope as it was sent.
  static func form(of bytes: [UInt8]) -> Form? { bytes.first.flatMap { Form(rawValue: $0) } }

  // MARK: Storing

  private static func head(_ form: Form, _ envelope: SyncEnvelope) -> [UInt8] {
    var bytes = [form.rawValue]
    bytes.reserveCapacity(96 + (form == .kept ? envelope.content.document?.count ?? 0 : 0))
    bytes += HexadecimalName.bytes(envelope.checksum)
    let content = envelope.content
    for number in [
      Int64(envelope.bytes.count), envelope.version, envelope.number, content.revision, content.modified,
      unsigned(content.modified - content.created),
    ] {
      append(number, to: &bytes)
    }
    append(name: envelope.writer, to: &bytes)
    envelope.ancestors.append(to: &bytes)
    append(Int64(envelope.assets.count), to: &bytes)
    for asset in envelope.assets { bytes += asset.bytes }
    return bytes
  }

  /// Stores an envelope whose bytes can be made again from its document and the rest of it.
  ///
  /// - Parameter document: that of the local content
  /// - Returns: nil for one with other bytes, as a newer version may write them, for a deletion, and for sensitive content
  static func compact(_ envelope: SyncEnvelope, document: [UInt8]?) -> [UInt8]? {
    guard let own = envelope.content.document, !envelope.isSensitive, !envelope.isLocked,
      envelope.isCanonical
    else { return nil }
    if own == document { return head(.unchanged, envelope) }
    return head(.kept, envelope) + own
  }

  /// The stored form without the document that it keeps, if that is the one of the local content.
  func compacted(document: [UInt8]?) -> [UInt8]? {
    guard form == .kept, let document else { return nil }
    let isSame = bytes.withUnsafeBytes { bytes in
      document.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: bytes[end...]).hasSameBytes(as: $0) }
    }
    guard isSame else { return nil }
    return [Form.unchanged.rawValue] + bytes[1..<end]
  }

  static func seal(_ envelope: SyncEnvelope, _ key: EncryptionKey) -> [UInt8] {
    let head = head(.sealed, envelope)
    return head + key.name + key.seal(envelope.bytes, context: context(head, envelope.key))
  }

  /// Returns an envelope without its document, in a form that is never opened. Deletions stay as they are.
  ///
  /// - Throws: `SatchelError` (`damaged`)
  static func redacted(_ bytes: [UInt8]) throws -> [UInt8] {
    guard form(of: bytes) != nil else {
      let envelope = try SyncEnvelope(parsing: bytes)
      return envelope.content.isDeleted ? bytes : head(.sealed, envelope)
    }
    return try SyncStoredEnvelope(parsing: bytes).redacted
  }

  /// The stored form without the document, which is never opened.
  var redacted: [UInt8] { [Form.sealed.rawValue] + bytes[1..<end] }

  private static func context(_ head: some Sequence<UInt8>, _ entry: SyncKey) -> [UInt8] {
    Array("\(entry)\0".utf8) + head
  }

  // MARK: Opening

  /// Returns the envelope as it was sent; nil when it cannot be made: it was sealed under another key or for another
  /// entry, it was modified, or the local content is no longer what it was.
  ///
  /// - Parameter document: returns that of the local content
  func open(_ entry: SyncKey, key: EncryptionKey?, document: () throws -> [UInt8]?) throws -> SyncEnvelope? {
    switch form {
    case .sealed:
      let name = bytes[end...].prefix(EncryptionKey.nameLength)
      guard let key, name.elementsEqual(key.name) else { return nil }
      return try key.open(bytes[name.endIndex...], context: Self.context(bytes[..<end], entry)).map {
        try SyncEnvelope(parsing: $0)
      }
    case .unchanged: return try document().flatMap { made(of: entry, with: $0) }
    case .kept: return made(of: entry, with: Array(bytes[end...]))
    }
  }

  private func made(of entry: SyncKey, with document: [UInt8]) -> SyncEnvelope? {
    var content = metadata.content
    content.document = document
    let made = SyncEnvelope(
      content, of: entry, version: metadata.version, writer: metadata.writer, number: metadata.number,
      base: nil, ancestors: metadata.ancestors, assets: metadata.assets)
    return made.checksum == checksum && made.bytes.count == size ? made : nil
  }

  // MARK: Any form

  static func isStored(_ bytes: [UInt8]) -> Bool { form(of: bytes) != nil }

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

// MARK: - Numbers and names

extension SyncStoredEnvelope {
  /// Reads the parts of a stored envelope in their order.
  struct Reader {
    static let damaged = SatchelError(.damaged, "envelope: is stored in an unknown format")

    fileprivate let all: [UInt8]
    fileprivate(set) var offset = 1

    fileprivate init(bytes: [UInt8]) { all = bytes }

    mutating func bytes(_ count: Int) throws -> ArraySlice<UInt8> {
      guard count >= 0, count <= all.count - offset else { throw Self.damaged }
      defer { offset += count }
      return all[offset..<offset + count]
    }

    mutating func number(_ range: ClosedRange<Int64>) throws -> Int64 {
      var (value, shift) = (UInt64(0), UInt64(0))
      while true {
        guard offset < all.count, shift < 63 else { throw Self.damaged }
        let byte = all[offset]
        offset += 1
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { break }
        shift += 7
      }
      guard let number = Int64(exactly: value), range.contains(number) else { throw Self.damaged }
      return number
    }

    mutating func digest() throws -> AssetDigest {
      guard let digest = AssetDigest(Array(try bytes(AssetDigest.length))) else { throw Self.damaged }
      return digest
    }

    /// The name of a writer.
    mutating func name() throws -> String {
      let count = try number(0...128)
      if count == 0 { return try bytes(16).hexadecimal }
      let text = String(decoding: try bytes(Int(count)), as: UTF8.self)
      guard SyncEnvelope.isWriter(text) else { throw Self.damaged }
      return text
    }
  }

  fileprivate static func append(_ number: Int64, to bytes: inout [UInt8]) {
    var rest = UInt64(bitPattern: number)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Names of 32 hexadecimal digits, which stores give themselves, take 17 bytes.
  fileprivate static func append(name: String, to bytes: inout [UInt8]) {
    if HexadecimalName.isName(name, digits: 32) {
      bytes.append(0)
      bytes += HexadecimalName.bytes(name)
    } else {
      append(Int64(name.utf8.count), to: &bytes)
      bytes += name.utf8
    }
  }

  /// Differences of times, small ones of either sign as small numbers.
  private static func unsigned(_ difference: Int64) -> Int64 { difference << 1 ^ difference >> 63 }

  private static func signed(_ number: Int64) -> Int64 { number >> 1 ^ -(number & 1) }
}

extension SyncVersionVector {
  fileprivate func append(to bytes: inout [UInt8]) {
    SyncStoredEnvelope.append(Int64(versions.count), to: &bytes)
    for version in versions {
      SyncStoredEnvelope.append(name: version.writer, to: &bytes)
      SyncStoredEnvelope.append(version.number, to: &bytes)
      bytes += HexadecimalName.bytes(version.checksum)
    }
  }

  fileprivate init(reading reader: inout SyncStoredEnvelope.Reader) throws {
    let count = try reader.number(0...Int64(Self.limit))
    self.init(
      try (0..<count).map { _ in
        Version(
          writer: try reader.name(), number: try reader.number(SyncEnvelope.numbers),
          checksum: try reader.bytes(16).hexadecimal)
      })
  }
}
