import SatchelCore
import SatchelJSON
import SatchelStorage

/// The order in which a collection and its mirror are written.
public enum MirrorMode: Sendable {
  /// The store first; the file is written once for the commits of about half a second, on a thread of the
  /// store.
  case storeFirst
  /// The file first, before each commit.
  case fileFirst
}

/// The side that wins where a collection and a mirror's file differ when mirroring begins.
public enum MirrorPreference: Sendable {
  /// The store imports the file's records; records that only the store has are kept.
  case file
  /// The file is written from the store; the previous file is kept in the same directory under another name.
  case store
}

/// The result of attaching a mirror.
public struct MirrorReport: Sendable, Equatable, JSONConvertible {
  /// The number of records that the store imported from the file, or deleted because an interrupted commit
  /// had deleted them.
  public var imported = 0
  /// The path to which the previous file was moved because the store was preferred; nil when there was none.
  public var quarantinePath: String?

  public var json: JSONValue {
    ["imported": .int(Int64(imported)), "quarantined": quarantinePath.map { .string($0) } ?? .null]
  }
}

/// An attached mirror.
final class RecordMirror: Sendable {
  let path: String
  let format: MirrorFormat
  let mode: MirrorMode
  /// The collection's number and name.
  let collection: Int64
  let collectionName: String
  /// The handle that keeps the mirror.
  let owner: ObjectIdentifier
  /// The format of the file.
  let layout: Locked<MirrorLayout>
  /// Serializes rewrites, so that older content never replaces newer content.
  let rewriteLock = ConditionLock()
  /// The file's stamp and digest when the store last had all of its records.
  private let accepted = Locked<(stamp: MirrorImage.Stamp, digest: String)?>(nil)

  /// Whether the last attempt to write the file failed.
  let isFailing = Locked(false)
  /// The number of the newest commit that the file has.
  private let written = Locked<Int64>(-1)

  init(
    path: String, _ format: MirrorFormat, _ mode: MirrorMode, of collection: Int64, named name: String,
    owner: ObjectIdentifier
  ) {
    self.path = path
    self.format = format
    self.mode = mode
    self.collection = collection
    collectionName = name
    self.owner = owner
    layout = Locked(MirrorLayout(new: format))
  }

  /// The last component of the path.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Stores the stamp and digest of a file that may be replaced.
  func accept(_ stamp: MirrorImage.Stamp?, _ digest: String) {
    accepted.withLock { $0 = stamp.map { ($0, digest) } }
  }

  /// Stores the number of the newest commit that the file has.
  func noteWritten(_ commit: Int64) { written.withLock { $0 = max($0, commit) } }

  func isWritten(_ commit: Int64) -> Bool { written.withLock { $0 >= commit } }

  /// Returns the digest of the current file if it is the one that was accepted.
  func acceptedDigest() -> String? {
    guard let stamp = MirrorImage.Stamp.now(path) else { return nil }
    return accepted.withLock { $0.flatMap { $0.stamp == stamp ? $0.digest : nil } }
  }
}
