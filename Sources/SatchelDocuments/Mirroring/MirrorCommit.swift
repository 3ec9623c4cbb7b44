import SatchelCore
import SatchelJSON
import SatchelStorage

/// A note next to a plain mirror that is written before each commit: a plain file cannot contain which file
/// it replaced, as one with a checksum does.
///
/// It is written before the mirror, so that after a crash at any time the store recognises a file whose
/// commit was never made from one that another program has written.
struct MirrorCommit {
  /// SHA-256 of the mirror's file.
  let file: String
  /// SHA-256 of the file that it replaced.
  let previous: String

  static func path(of mirror: String) -> String { mirror + ".commit" }

  init(file: String, previous: String) {
    self.file = file
    self.previous = previous
  }

  /// Reads the note about a file; nil when there is none.
  init?(of image: MirrorImage, _ path: String) {
    guard let (bytes, _) = try? MirrorFile.contents(of: Self.path(of: path)),
      case .object(let note)? = try? JSONValue(parsing: bytes), note["file"]?.stringValue == image.digest,
      let previous = note["previous"]?.stringValue
    else { return nil }
    self.init(file: image.digest, previous: previous)
  }

  func write(of mirror: String, _ calls: FileCalls) throws {
    let note: JSONValue = ["file": .string(file), "previous": .string(previous)]
    var target = try AtomicFile(replacing: Self.path(of: mirror), calls: calls)
    try note.serialized().withUnsafeBytes { try target.append($0) }
    // The mirror is renamed next, in the same directory, which is synced then.
    try target.commit(syncsDirectory: false)
  }
}
