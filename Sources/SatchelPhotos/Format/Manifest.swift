import SatchelCore
import SatchelJSON
import SatchelStorage

/// The content of `manifest.json`: the checksum of each shard of a catalogue.
struct Manifest: Sendable, Equatable {
  /// The version that is written.
  static let currentVersion = "6.0"
  /// The maximum number of bytes that are read; a manifest has about 1,500.
  static let maximumSize = 1 << 20

  /// "6.0".
  var version = Manifest.currentVersion
  /// Identifies the catalogue, wherever it is copied to.
  var directoryUUID: String
  /// Unix milliseconds; written to the second. Nil when the manifest has none.
  var lastModified: Int64?
  /// SHA-256 of each shard that has rows: 64 hexadecimal digits in lower case.
  var shardChecksums: [Shard.Index: String] = [:]
  /// Photos in all shards. Nil when the manifest has none.
  var photoCount: Int64?
  /// The JSON object that was read: preserves unknown keys, and the order of all.
  var document = JSONObject()

  init(directoryUUID: String) { self.directoryUUID = directoryUUID }

  /// Whether the account was closed: a member that other programs do not know, and keep.
  var isClosed: Bool {
    get { document[Key.closed] == .bool(true) }
    set { document[Key.closed] = newValue ? .bool(true) : nil }
  }

  /// Returns the checksum of a shard's bytes; of the empty file when the shard is absent.
  func checksum(of shard: Shard.Index) -> String { shardChecksums[shard] ?? Shard.emptyChecksum }

  /// Sets a shard's checksum; the checksum of the empty file removes the shard.
  mutating func setChecksum(_ checksum: String, of shard: Shard.Index) {
    shardChecksums[shard] = checksum == Shard.emptyChecksum ? nil : checksum
  }
}

extension Manifest {
  fileprivate enum Key {
    static let closed = "closed"
    static let version = "version"
    static let directoryUUID = "directory-uuid"
    static let lastModified = "last-modified"
    static let shardChecksums = "shard-checksums"
    static let photoCount = "photo-count"
  }

  /// Reads a manifest. Shards are named "0" to "f", or "10" to "15" in decimal; the date and the count may be
  /// absent; names of shards that do not exist are preserved like unknown keys.
  ///
  /// - Throws: `SatchelError` (`invalid`) that names the key; `newer` for a version after 6.
  init(parsing bytes: UnsafeRawBufferPointer) throws {
    guard bytes.count <= Manifest.maximumSize else {
      throw Manifest.fault("", "\(bytes.count) bytes; at most \(Manifest.maximumSize) are read")
    }
    let value = try naming("manifest.json") { try JSONValue(parsing: bytes) }
    guard let document = value.objectValue else { throw Manifest.fault("", "must be an object") }
    let version = try Manifest.version(document[Key.version])
    guard let uuid = document[Key.directoryUUID]?.stringValue, (1...256).contains(uuid.utf8.count) else {
      throw Manifest.fault(Key.directoryUUID, "must be a string of 1 to 256 bytes")
    }
    self.init(directoryUUID: uuid)
    self.version = version
    self.document = document
    if let date = Manifest.present(document[Key.lastModified]) {
      guard let text = date.stringValue, let time = ISODate.milliseconds(text) else {
        throw Manifest.fault(Key.lastModified, "must be a time of ISO 8601")
      }
      lastModified = time
    }
    if let count = Manifest.present(document[Key.photoCount]) {
      guard let number = count.intValue, number >= 0 else {
        throw Manifest.fault(Key.photoCount, "must be a number of photos")
      }
      photoCount = number
    }
    guard let checksums = document[Key.shardChecksums]?.objectValue else {
      throw Manifest.fault(Key.shardChecksums, "must be an object")
    }
    try readChecksums(checksums)
  }

  /// Whether the bytes are no JSON, and so contain nothing of a manifest: empty, zeros, or only its beginning.
  static func isLost(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { (try? JSONValue(parsing: $0)) == nil }
  }

  /// Reads a manifest; see `init(parsing:)` for borrowed bytes.
  init(parsing bytes: [UInt8]) throws {
    self = try bytes.withUnsafeBytes { try Manifest(parsing: $0) }
  }

  /// Returns the manifest as JSON: keys in the order in which they were read, then those that are new.
  ///
  /// - Throws: `SatchelError` (`invalid`) when the value of an unknown key cannot be written as JSON.
  func serialized() throws -> [UInt8] {
    var object = document
    // A version that was read as a number stays a number while it is unchanged.
    if object[Key.version].flatMap({ try? Manifest.version($0) }) != version {
      object[Key.version] = .string(version)
    }
    object[Key.directoryUUID] = .string(directoryUUID)
    object[Key.lastModified] = lastModified.map { .string(ISODate.string(milliseconds: $0)) }
    var checksums = JSONObject()
    for shard in Shard.Index.all {
      if let checksum = shardChecksums[shard] { checksums[shard.description] = .string(checksum) }
    }
    for (name, value) in document[Key.shardChecksums]?.objectValue ?? JSONObject()
    where Manifest.shard(named: name) == nil {
      checksums[name] = value
    }
    object[Key.shardChecksums] = .object(checksums)
    object[Key.photoCount] = photoCount.map { .int($0) }
    return try naming("manifest.json") { try JSONValue.object(object).serialized() }
  }

  private mutating func readChecksums(_ checksums: JSONObject) throws {
    var seen: [Shard.Index: String] = [:]
    for (name, value) in checksums {
      guard let shard = Manifest.shard(named: name), !value.isNull else { continue }
      let path = "\(Key.shardChecksums)/\(name)"
      guard let text = value.stringValue?.lowercased(), text.utf8.count == 64,
        text.utf8.allSatisfy({ $0 &- 0x30 < 10 || $0 &- 0x61 < 6 })
      else { throw Manifest.fault(path, "not a SHA-256 of 64 hexadecimal digits") }
      if let other = seen[shard], other != text {
        throw Manifest.fault(path, "shard \(shard) is named twice, with different checksums")
      }
      seen[shard] = text
      setChecksum(text, of: shard)
    }
  }

  /// Parses one hexadecimal digit, or "10" to "15".
  private static func shard(named name: String) -> Shard.Index? {
    if let shard = Shard.Index(digit: name) { return shard }
    guard name.utf8.count == 2, name.utf8.first == UInt8(ascii: "1") else { return nil }
    return Int(name).flatMap { Shard.Index($0) }
  }

  /// Returns the version as a string: "6.0" of "6.0", 6.0 and "6" of 6.
  private static func version(_ value: JSONValue?) throws -> String {
    let text: String
    switch value {
    case .string(let string): text = string
    case .int(let number): text = String(number)
    case .double(let number): text = String(number)
    default: throw fault(Key.version, "must be a string or a number")
    }
    guard text.utf8.count <= 32, let major = Int(text.prefix { $0 != "." }), major >= 1 else {
      throw fault(Key.version, "not a version")
    }
    guard major <= 6 else {
      throw SatchelError(.newer, "manifest.json, \(Key.version): \(text) is newer than \(currentVersion)")
    }
    return text
  }

  /// Treats null like an absent key.
  private static func present(_ value: JSONValue?) -> JSONValue? {
    value?.isNull == true ? nil : value
  }

  private static func fault(_ path: String, _ reason: String) -> SatchelError {
    SatchelError(.invalid, "manifest.json\(path.isEmpty ? "" : ", \(path)"): \(reason)")
      .at(subject: Change.Subject.photos.rawValue)
  }
}
