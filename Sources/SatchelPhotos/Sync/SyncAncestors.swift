/// The versions that a version of a shard's object is built on, itself included, newest first. Stored in the
/// object's metadata, so that a device recognizes its own upload in what others have built on it before the
/// device learned of the upload's success, and does not treat its changes as lost.
///
/// A version is identified by the version before it, its content and its writer: contents may recur, and two
/// devices may write the same one, but each version is unique.
///
/// The sync log writes ancestors as a version vector, which is not possible here. Other platforms write shards without
/// a writer and a number, so that only content identifies a version. A catalogue is a writer without a name for each
/// copy of its store, which a number needs. And 32 writers do not fit into the 2 KiB of an object's metadata.
struct SyncAncestors: Sendable, Equatable {
  /// The name in the object's metadata.
  static let name = "ancestors"
  private static let maxVersions = 16
  private static let digits = 16

  private var versions: [String]

  /// Parses well-formed versions up to the first that is malformed. Nil gives the ancestors of an object
  /// without this metadata.
  init(_ text: String?) {
    versions = (text ?? "").split(separator: ".", maxSplits: Self.maxVersions).prefix(Self.maxVersions)
      .prefix { $0.utf8.count == Self.digits }.map(String.init)
  }

  var text: String { versions.joined(separator: ".") }

  /// Returns the ancestors of a version that replaces the one with these ancestors and the checksum `before`.
  ///
  /// - Parameter writer: the identifier of the uploading catalogue
  func followed(by checksum: String, before: String, writer: String) -> SyncAncestors {
    let parent = versions.first ?? String(before.prefix(Self.digits))
    let version = Shard.checksum(Array("\(parent).\(checksum).\(writer)".utf8)).prefix(Self.digits)
    var next = self
    next.versions = Array(([String(version)] + versions).prefix(Self.maxVersions))
    return next
  }

  /// Whether the newest version of `other` is an earlier version than this one.
  func follows(_ other: SyncAncestors) -> Bool {
    guard let version = other.versions.first else { return false }
    return versions.dropFirst().contains(version)
  }

  /// Whether the newest version of `other` is among these versions.
  func contains(_ other: SyncAncestors) -> Bool {
    guard let version = other.versions.first else { return false }
    return versions.contains(version)
  }
}
