import SatchelCore
import SatchelJSON

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
