import SatchelAssets
import SatchelCore
import SatchelJSON

/// A version of a document as it is sent: its content, its writer, and the versions that the writer had seen.
///
/// Its bytes are stored, sent and compared as they are: no two versions have the same bytes, because each
/// contains the name and the number of its writer.
package struct SyncEnvelope: Sendable, Equatable {
  static let format: Int64 = 2
  /// The maximum size of a document in bytes.
  package static let maximumDocument = 32 << 20
  /// The maximum number of assets that a document refers to.
  package static let maximumAssets = 10_000
  /// The maximum size of an envelope: of the document, and 1 MiB for all other members.
  static let maximumSize = maximumDocument + 1 << 20
  /// The numbers of a writer's changes.
  static let numbers: ClosedRange<Int64> = 0...1 << 53
  /// The revisions of documents. A local one may be greater, after one of 2^52 was received: it is sent as 2^52.
  static let revisions: ClosedRange<Int64> = 0...1 << 52
  static let checksumDigits = 32
  static let saltDigits = 32

  package let key: SyncKey
  /// The version of the documents of its collection.
  package let version: Int64
  package private(set) var content: SyncContent
  /// When it was received or sent, in Unix milliseconds: no time in `content` is more than 24 hours later. Nil when
  /// unknown.
  package private(set) var received: Int64?
  /// The name of the store that wrote it.
  package let writer: String
  /// The writer's own number of the change, which it never uses twice for one key.
  package let number: Int64
  package let ancestors: SyncVersionVector
  /// The assets that the document refers to, ascending. They are members of the envelope, so that no device has to know how
  /// a collection refers to assets.
  package let assets: [AssetDigest]
  /// Of sensitive content, 32 random hexadecimal digits: the checksum, which others that were built on it name in plain
  /// text, reveals nothing about it. Nil for content that is not sensitive.
  package let salt: String?
  /// Whether only the metadata is known, because its stored form cannot be opened: the document is an empty object, and
  /// `bytes` are the stored form.
  package let isLocked: Bool
  package let bytes: [UInt8]
  /// The first half of the SHA-256 of the bytes, in hexadecimal digits.
  package let checksum: String

  init(
    bytes: [UInt8], key: SyncKey, version: Int64, content: SyncContent, writer: String, number: Int64,
    ancestors: SyncVersionVector, assets: [AssetDigest] = [], salt: String? = nil,
    lockedChecksum: String? = nil
  ) {
    self.bytes = bytes
    self.key = key
    self.version = version
    self.content = content
    self.writer = writer
    self.number = number
    self.ancestors = ancestors
    self.assets = assets
    self.salt = salt
    isLocked = lockedChecksum != nil
    checksum = lockedChecksum ?? SHA256.digest(bytes).prefix(Self.checksumDigits / 2).hexadecimal
  }

  /// Makes the envelope of a change.
  ///
  /// - Parameters:
  ///   - base: the envelope that it replaces: the new one is never older, whatever the clocks say
  ///   - ancestors: the versions that the content was built on
  ///   - assets: those that the document refers to, ascending
  ///   - salt: of sensitive content, 32 random hexadecimal digits
  package init(
    _ content: SyncContent, of key: SyncKey, version: Int64, writer: String, number: Int64,
    base: SyncEnvelope?, ancestors: SyncVersionVector, assets: [AssetDigest] = [], salt: String? = nil
  ) {
    let assets = content.isDeleted ? [] : assets
    var content = content
    content.modified = max(content.modified, base?.content.modified ?? 0)
    content.revision = min(content.revision, Self.revisions.upperBound)
    self.init(
      bytes: Self.bytes(
        content, of: key, version: version, writer: writer, number: number, ancestors: ancestors,
        assets: assets,
        salt: salt),
      key: key, version: version, content: content, writer: writer, number: number, ancestors: ancestors,
      assets: assets, salt: salt)
  }

  /// Whether its bytes are those that this version writes for its content.
  var isCanonical: Bool {
    bytes
      == Self.bytes(
        content, of: key, version: version, writer: writer, number: number, ancestors: ancestors,
        assets: assets,
        salt: salt)
  }

  /// Whether its content is sensitive: it is stored sealed, and sent in an encrypted log only.
  package var isSensitive: Bool { salt != nil }

  /// The envelope, if more than its metadata is known.
  package var unlessLocked: SyncEnvelope? { isLocked ? nil : self }

  /// Returns the envelope with the times of its content replaced where a clock that was ahead gave them; its bytes stay.
  ///
  /// - Parameter received: when it was received or sent; nil when unknown
  func dated(_ received: Int64?) -> SyncEnvelope {
    guard let received else { return self }
    var envelope = self
    envelope.received = received
    envelope.content = content.credible(at: received)
    return envelope
  }

  /// Whether its writer had seen another envelope of the same key.
  package func isBuilt(on other: SyncEnvelope) -> Bool { ancestors.include(other) }

  /// Whether, as a later entry of the same log, it was certainly not built on another envelope of the key.
  func isFork(of other: SyncEnvelope) -> Bool { ancestors.exclude(other) }

  private static func bytes(
    _ content: SyncContent, of key: SyncKey, version: Int64, writer: String, number: Int64,
    ancestors: SyncVersionVector, assets: [AssetDigest], salt: String?
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity((content.document?.count ?? 0) + 384)
    func add(_ text: String) { bytes.append(contentsOf: text.utf8) }
    add("{\"format\":\(format),\"collection\":\"\(key.collection)\",\"id\":")
    JSONValue.write(key.id, into: &bytes)
    add(",\"version\":\(version),\"n\":\(number),\"revision\":\(content.revision)")
    add(",\"created\":\(content.created),\"modified\":\(content.modified),\"deleted\":\(content.isDeleted)")
    add(",\"writer\":")
    JSONValue.write(writer, into: &bytes)
    add(",\"ancestors\":")
    ancestors.write(into: &bytes)
    if !assets.isEmpty { add(",\"assets\":[\(assets.map { "\"\($0)\"" }.joined(separator: ","))]") }
    if let salt { add(",\"sensitive\":\"\(salt)\"") }
    if let document = content.document {
      add(",\"document\":")
      bytes += document
    }
    add("}")
    return bytes
  }

  /// Whether a string can be the name of a writer: 1 to 128 printable ASCII characters.
  static func isWriter(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}

/// The content of an entry at one moment.
package struct SyncContent: Sendable, Equatable {
  /// A JSON object as it was written; nil when it was deleted.
  package var document: [UInt8]?
  package var revision: Int64
  /// Unix milliseconds.
  package var created: Int64
  /// Unix milliseconds; of a deletion, its time.
  package var modified: Int64

  package init(document: [UInt8]?, revision: Int64 = 0, created: Int64 = 0, modified: Int64 = 0) {
    self.document = document
    self.revision = revision
    self.created = created
    self.modified = modified
  }

  package var isDeleted: Bool { document == nil }

  /// The content with `now` in the place of times that are ahead.
  package func credible(at now: Int64) -> SyncContent {
    var content = self
    content.created = StoreClock.credible(created, at: now)
    content.modified = StoreClock.credible(modified, at: now)
    return content
  }
}

/// Local content that is sent.
package struct SyncOutgoing: Sendable, Equatable {
  package var content: SyncContent
  /// The version of its collection's documents.
  package var version: Int64
  /// The assets that the document refers to, ascending, each once; at most `SyncEnvelope.maximumAssets`.
  package var assets: [AssetDigest]
  /// Whether the document has sensitive parts.
  package var isSensitive: Bool

  package init(
    content: SyncContent, version: Int64, assets: [AssetDigest] = [], isSensitive: Bool = false
  ) {
    self.content = content
    self.version = version
    self.assets = assets
    self.isSensitive = isSensitive && !content.isDeleted
  }
}

extension SyncEnvelope {
  private static let memberLimit = 64

  /// Reads an envelope as a row has it: of one that could not be opened, the metadata.
  ///
  /// - Throws: `SatchelError`
  init(stored bytes: [UInt8], of key: SyncKey) throws {
    guard SyncStoredEnvelope.isStored(bytes) else {
      self = try SyncEnvelope(parsing: bytes)
      return
    }
    self = try SyncStoredEnvelope(parsing: bytes).envelope(of: key)
  }

  /// Reads an envelope, as untrusted input. Unknown members are ignored.
  ///
  /// - Throws: `SatchelError`: `newer` for another format, `damaged` for everything else
  package init(parsing bytes: [UInt8]) throws {
    guard bytes.count <= Self.maximumSize else {
      throw SatchelError(.damaged, "envelope: has more than \(Self.maximumSize) bytes")
    }
    self = try bytes.withUnsafeBytes {
      try SyncEnvelope(SyncMembers($0, of: "envelope", limit: Self.memberLimit), bytes)
    }
  }

  private init(_ members: SyncMembers, _ bytes: [UInt8]) throws {
    let format = try members.integer("format", 1...Int64.max)
    guard format == Self.format else {
      throw SatchelError(
        format > Self.format ? .newer : .damaged,
        "envelope: /format is \(format), and this version reads \(Self.format)")
    }
    let key: SyncKey
    do {
      key = try SyncKey(members.text("collection", 1...64), members.text("id", 1...255))
    } catch {
      throw SatchelError(.damaged, "envelope: \(error)", underlying: error)
    }
    let writer = try members.text("writer", 1...128)
    guard Self.isWriter(writer) else { throw members.failure("writer", "is not the name of a writer") }
    let time = 0...StoreClock.latest
    let document = members.raw("document")
    guard document?.first ?? UInt8(ascii: "{") == UInt8(ascii: "{") else {
      throw members.failure("document", "is not an object")
    }
    guard try members.flag("deleted") == (document == nil) else {
      throw members.failure("document", document == nil ? "is missing" : "belongs to a deleted entry")
    }
    guard document?.count ?? 0 <= Self.maximumDocument else {
      throw members.failure("document", "has more than \(Self.maximumDocument) bytes")
    }
    self.init(
      bytes: bytes, key: key, version: try members.integer("version", 1...Int64(Int32.max)),
      content: SyncContent(
        document: document.map { Array($0) }, revision: try members.integer("revision", Self.revisions),
        created: try members.integer("created", time), modified: try members.integer("modified", time)),
      writer: writer, number: try members.integer("n", Self.numbers),
      ancestors: try SyncVersionVector(members.object("ancestors", limit: SyncVersionVector.limit)),
      assets: try Self.assets(members, isDeleted: document == nil),
      salt: members.raw("sensitive") == nil ? nil : try members.digits("sensitive", count: Self.saltDigits))
  }

  private static func assets(_ members: SyncMembers, isDeleted: Bool) throws -> [AssetDigest] {
    guard members.raw("assets") != nil else { return [] }
    var assets: [AssetDigest] = []
    for raw in try members.elements("assets", limit: maximumAssets) {
      guard raw.first == UInt8(ascii: "\""), let digest = AssetDigest(SyncMembers.decoded(raw)) else {
        throw members.failure("assets", "has a SHA-256 that is not 64 hexadecimal digits")
      }
      guard assets.last.map({ $0 < digest }) ?? true else {
        throw members.failure("assets", "is not in ascending order")
      }
      assets.append(digest)
    }
    guard assets.isEmpty || !isDeleted else { throw members.failure("assets", "belongs to a deleted entry") }
    return assets
  }
}
