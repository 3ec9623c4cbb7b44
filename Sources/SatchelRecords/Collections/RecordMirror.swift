import SatchelJSON
import SatchelStorage

/// Which of a collection and its mirror is written first.
public enum MirrorMode: Sendable {
  /// The store; the file follows each commit.
  case storeFirst
  /// The file, before each commit; what it has and the store lacks, the store takes when mirroring begins.
  case fileFirst
}

/// Which of a collection and a mirror's file wins where both differ when mirroring begins.
public enum MirrorPreference: Sendable {
  /// The store takes what the file has; records that only the store has stay.
  case file
  /// The file is written from the store; as it was, it is kept beside it under another name.
  case store
}

/// What attaching a mirror did.
public struct MirrorReport: Sendable, Equatable {
  /// Records that the store took from the file, or deleted because an interrupted commit had.
  public var imported = 0
  /// Where the file is that the store was preferred to; nil when there was none.
  public var setAside: String?

  public var json: JSONValue {
    ["imported": .int(Int64(imported)), "set_aside": setAside.map { .string($0) } ?? .null]
  }
}

/// A mirror that is kept up to date.
final class RecordMirror: Sendable {
  let path: String
  let mode: MirrorMode
  /// Tells which of several handles keeps it.
  let owner: ObjectIdentifier
  /// One rewrite at a time: none may put an older state in the place of a newer one.
  let turn = Monitor()
  /// The file as it was when it was last found to have nothing that the store lacks.
  private let accepted = Guarded<(stamp: MirrorImage.Stamp, digest: String)?>(nil)

  init(path: String, mode: MirrorMode, owner: ObjectIdentifier) {
    self.path = path
    self.mode = mode
    self.owner = owner
  }

  /// The last component of its path.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Remembers the file, which may be replaced from now on.
  func accept(_ stamp: MirrorImage.Stamp?, _ digest: String) {
    accepted.withLock { $0 = stamp.map { ($0, digest) } }
  }

  /// The digest of the file that is there, if it is the one that was accepted.
  func acceptedDigest() -> String? {
    guard let stamp = MirrorImage.Stamp.now(path) else { return nil }
    return accepted.withLock { $0.flatMap { $0.stamp == stamp ? $0.digest : nil } }
  }
}
