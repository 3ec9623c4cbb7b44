import SatchelStorage

/// Which of a collection and its mirror is written first, and believed.
public enum MirrorMode: Sendable {
  /// The store; the file follows each commit.
  case storeFirst
  /// The file; where both differ when mirroring begins, the store is made anew from it.
  case fileFirst
}

/// A mirror that is kept up to date.
struct RecordMirror: Sendable {
  let path: String
  let mode: MirrorMode
  /// Tells which of several handles keeps it.
  let owner: ObjectIdentifier
}
