/// Which versions of a shard's object an object is built on, itself included, newest first. It travels in the object's
/// metadata, so that a device whose upload was built on by others, before it knew of its success, does not take its
/// own changes for lost ones.
///
/// A version is named after the version before it, its content and its writer: contents may return, and two devices may
/// make the same one, but versions are each another.
struct SyncLineage: Sendable, Equatable {
  /// The name in the metadata.
  static let name = "lineage"
  private static let most = 16
  private static let digits = 16

  private var versions: [String]

  /// Takes what is well formed, up to the first that is not. Without a text it is the lineage of an object whose
  /// writer said nothing.
  init(_ text: String?) {
    versions = (text ?? "").split(separator: ".", maxSplits: Self.most).prefix(Self.most)
      .prefix { $0.utf8.count == Self.digits }.map(String.init)
  }

  var text: String { versions.joined(separator: ".") }

  /// The lineage of a content that replaces one whose checksum is `before`, and whose lineage this is.
  ///
  /// - Parameter writer: names the catalogue whose upload it is
  func followed(by checksum: String, before: String, writer: String) -> SyncLineage {
    let parent = versions.first ?? String(before.prefix(Self.digits))
    let version = Shard.checksum(Array("\(parent).\(checksum).\(writer)".utf8)).prefix(Self.digits)
    var next = self
    next.versions = Array(([String(version)] + versions).prefix(Self.most))
    return next
  }

  /// Whether the version that another lineage ends with is an earlier one than this one.
  func follows(_ other: SyncLineage) -> Bool {
    guard let version = other.versions.first else { return false }
    return versions.dropFirst().contains(version)
  }

  /// Whether the version that another lineage ends with is part of this one.
  func contains(_ other: SyncLineage) -> Bool {
    guard let version = other.versions.first else { return false }
    return versions.contains(version)
  }
}
