import SatchelCore
import SatchelJSON
import SatchelStorage

/// The envelopes that content was built on, as a version vector: the latest of each writer.
package struct SyncVersionVector: Sendable, Equatable {
  struct Version: Sendable, Equatable {
    var writer: String
    /// The writer's own number of the change.
    var number: Int64
    var checksum: String
  }

  /// The maximum number of writers; those that were added first are dropped. Within one epoch the sequence then shows
  /// what was built on what; across epochs, what was built on a dropped one counts as a conflict, which loses no data.
  static let limit = 32

  /// The writer that was added last is the last; no writer twice.
  private(set) var versions: [Version] = []

  package init() {}

  init(_ versions: [Version]) { self.versions = versions }

  package init(of envelope: SyncEnvelope) { add(envelope) }

  func version(of writer: String) -> Version? { versions.first { $0.writer == writer } }

  private mutating func add(_ version: Version) {
    if let index = versions.firstIndex(where: { $0.writer == version.writer }) {
      guard versions[index].number < version.number else { return }
      versions.remove(at: index)
    }
    versions.append(version)
    if versions.count > Self.limit { versions.removeFirst(versions.count - Self.limit) }
  }

  mutating func add(_ other: SyncVersionVector) {
    for version in other.versions { add(version) }
  }

  /// Adds an envelope and all that it was built on.
  mutating func add(_ envelope: SyncEnvelope) {
    add(envelope.ancestors)
    add(Version(writer: envelope.writer, number: envelope.number, checksum: envelope.checksum))
  }

  /// Whether an envelope, or a later one of its writer, is among them.
  func include(_ envelope: SyncEnvelope) -> Bool {
    guard let version = version(of: envelope.writer) else { return false }
    return version.number > envelope.number
      || version.number == envelope.number && version.checksum == envelope.checksum
  }

  /// Whether an envelope is certainly not among them: a full vector may have lost its writer.
  func exclude(_ envelope: SyncEnvelope) -> Bool {
    !include(envelope) && (versions.count < Self.limit || version(of: envelope.writer) != nil)
  }

  /// Whether every other version, or a later one of its writer, is among them.
  func cover(_ other: SyncVersionVector) -> Bool {
    other.versions.allSatisfy { version in
      self.version(of: version.writer).map { $0.number > version.number || $0 == version } ?? false
    }
  }

  // MARK: Form

  /// {writer: "number.checksum"}
  func write(into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    for (position, version) in versions.enumerated() {
      if position > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONValue.write(version.writer, into: &bytes)
      bytes.append(UInt8(ascii: ":"))
      JSONValue.write("\(version.number).\(version.checksum)", into: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(into: &bytes)
    return bytes
  }

  init(parsing bytes: UnsafeRawBufferPointer) throws {
    try self.init(SyncMembers(bytes, of: "ancestors", limit: Self.limit))
  }

  init(_ members: SyncMembers) throws {
    for member in members.members {
      let text = try members.text(member.name, 1...64)
      let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard SyncEnvelope.isWriter(member.name), parts.count == 2, let number = Int64(parts[0]),
        SyncEnvelope.numbers.contains(number), parts[0] == "\(number)",
        HexadecimalName.isName(String(parts[1]), digits: SyncEnvelope.checksumDigits)
      else { throw members.failure(String(member.name.prefix(128)), "is not an ancestor") }
      versions.append(Version(writer: member.name, number: number, checksum: String(parts[1])))
    }
  }
}

/// The name of an entry of the sync log: a collection and an id in it. Compared by bytes.
package struct SyncKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The collection of state.
  package static let state = "@state"
  /// The collection of assets: their entries say in which objects their bytes are.
  package static let asset = "@asset"

  package let collection: String
  package let id: String

  /// - Throws: `SatchelError` (`invalid`) for a collection that is not a name of a-z, 0-9 and "_" with at most 64
  ///   characters, or one after "@", and for an id that does not have 1 to 255 bytes or has a control character
  package init(_ collection: String, _ id: String) throws {
    guard Self.isCollection(collection) else {
      throw SatchelError(.invalid, "\"\(collection.prefix(64))\" is not the name of a collection")
    }
    guard Self.isID(id) else {
      throw SatchelError(.invalid, "an id has 1 to 255 bytes and no control characters")
    }
    self.init(validated: collection, id)
  }

  init(validated collection: String, _ id: String) {
    self.collection = collection
    self.id = id
  }

  /// The entry's id in the digest: unique, because the name of a collection has no slash.
  package var description: String { "\(collection)/\(id)" }

  /// Where it is, for errors.
  package var details: SatchelError.Details {
    guard collection == Self.state else {
      return SatchelError.Details(
        subject: Change.Subject.records.rawValue, collection: collection, id: id)
    }
    // Its id is "kind/name".
    let parts = id.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1)
    return SatchelError.Details(
      subject: Change.Subject.state.rawValue, collection: parts.first.map { String($0) ?? "" },
      id: parts.last.map { String($0) ?? "" })
  }

  /// Whether a name can be that of a collection. One that begins with "@" is reserved: where it is not known, its
  /// entries are kept as those of an undeclared collection.
  package static func isCollection(_ name: String) -> Bool {
    let bytes = name.utf8.dropFirst(name.utf8.first == UInt8(ascii: "@") ? 1 : 0)
    guard let first = bytes.first, first &- UInt8(ascii: "a") < 26, name.utf8.count <= 64 else {
      return false
    }
    return bytes.allSatisfy {
      $0 &- UInt8(ascii: "a") < 26 || $0 &- UInt8(ascii: "0") < 10 || $0 == UInt8(ascii: "_")
    }
  }

  package static func isID(_ id: String) -> Bool {
    (1...255).contains(id.utf8.count)
      && !id.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
  }

  package static func == (one: Self, other: Self) -> Bool {
    one.id.utf8.elementsEqual(other.id.utf8) && one.collection.utf8.elementsEqual(other.collection.utf8)
  }

  package static func < (one: Self, other: Self) -> Bool {
    if one.collection.utf8.elementsEqual(other.collection.utf8) {
      return one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
    }
    return one.collection.utf8.lexicographicallyPrecedes(other.collection.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for text in [collection, id] {
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(UInt8(ascii: "/"))
    }
  }
}
