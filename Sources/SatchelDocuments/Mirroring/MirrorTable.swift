import SatchelCore
import SatchelJSON
import SatchelStorage

/// The table of digests of the mirrors' files.
package enum MirrorSchema {
  package static let subject = SubjectSchema(
    name: "mirrors", migrations: [Migration(version: 1, sql: version1)])

  private static let version1 = """
    -- SHA-256 of a mirror's whole file: `last` as it was written last, `before` as it was previously, because
    -- the process may have died between this row and the file. `state` is the digest of the collection's
    -- records, written as a file. `name` is the last component of the mirror's path, because an app's
    -- directory may move.
    CREATE TABLE record_mirror(
      collection INTEGER NOT NULL,
      name TEXT NOT NULL,
      last TEXT NOT NULL,
      before TEXT,
      state TEXT NOT NULL,
      PRIMARY KEY(collection, name)
    ) STRICT, WITHOUT ROWID;
    """
}

/// The digests of the files that a store wrote last to a mirror: the store has all records of a file with one
/// of them.
struct MirrorHistory: Equatable {
  /// SHA-256 of the whole file.
  var last: String?
  var before: String?
  var state: String?

  func knows(_ digest: String) -> Bool { digest == last || digest == before }
}

struct MirrorTable {
  let connection: Connection
  let collection: Int64
  let name: String

  func read() throws -> MirrorHistory {
    guard try Self.isThere(connection) else { return MirrorHistory() }
    return try connection.first(
      "SELECT last, before, state FROM record_mirror WHERE collection = ? AND name = ?", .integer(collection),
      .text(name)
    ) { MirrorHistory(last: $0.text(0), before: $0.textIfAny(1), state: $0.text(2)) } ?? MirrorHistory()
  }

  func write(_ history: MirrorHistory) throws {
    guard let last = history.last, let state = history.state else { return }
    try connection.run(
      "INSERT OR REPLACE INTO record_mirror(collection, name, last, before, state) VALUES(?, ?, ?, ?, ?)",
      .integer(collection), .text(name), .text(last), history.before.map { .text($0) } ?? .null, .text(state))
  }

  /// Deletes the digests of all mirrors: rows of the store may have been lost since they were written.
  static func forgetAll(_ connection: Connection) throws {
    if try isThere(connection) { try connection.run("DELETE FROM record_mirror") }
  }

  /// Deletes the digests of a collection's mirrors.
  static func forget(_ collection: Int64, _ connection: Connection) throws {
    if try isThere(connection) {
      try connection.run("DELETE FROM record_mirror WHERE collection = ?", .integer(collection))
    }
  }

  /// False in a store that was opened read-only and never had a mirror.
  private static func isThere(_ connection: Connection) throws -> Bool {
    try connection.has(table: "record_mirror")
  }
}

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

/// Writes documents into a mirror without white space, so that each record is one line.
struct MirrorDocument: JSONSink {
  private var level = 0
  private var deepest = 0
  private var isObject = false

  /// Appends a document without its white space; numbers and strings keep their bytes.
  ///
  /// - Parameter maximumDepth: the maximum number of levels
  static func append(
    _ document: [UInt8], to text: inout [UInt8], maximumDepth: Int
  ) throws(JSONError) {
    var sink = MirrorDocument()
    let outcome = document.withUnsafeBytes { bytes in
      Result { () throws(JSONError) in try JSONScanner.scan(bytes, into: &sink) }
    }
    try outcome.get()
    guard sink.isObject else { throw JSONError("the document is not an object") }
    guard sink.deepest <= maximumDepth else {
      throw JSONError(
        "a document in a mirror has at most \(maximumDepth) levels", limit: maximumDepth)
    }
    var isText = false
    var isEscaped = false
    for byte in document {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
      } else if byte == UInt8(ascii: "\"") {
        isText = true
      } else if byte <= UInt8(ascii: " ") {
        continue
      }
      text.append(byte)
    }
  }

  mutating func begin(_ kind: JSONKind, at start: Int) {
    if level == 0 { isObject = kind == .object }
    level += 1
    deepest = max(deepest, level)
  }

  mutating func end(_ kind: JSONKind, at end: Int) { level -= 1 }

  mutating func key(_ slice: JSONSlice, isEscaped: Bool) {}

  mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {}
}
