import SatchelCore
import SatchelJSON
import SatchelStorage

/// One record of a query, borrowed from the statement that reads it.
struct Candidate: ~Copyable {
  let row: Int64
  let key: UnsafeRawBufferPointer
  let revision: Int64
  let created: Int64
  let modified: Int64
  /// The document as it is stored: sensitive fields are sealed.
  let body: UnsafeRawBufferPointer
  let isSealed: Bool
  private let status: RecordStatusReader

  /// Creates a candidate from a row of `id, key, revision, created, modified, body, is_sealed`.
  init(_ statement: Statement, _ status: RecordStatusReader) throws {
    let revision = try statement.integer(2, in: RecordRow.revisions)
    let (created, modified) = (try statement.integer(3), try statement.integer(4))
    row = statement.anyInteger(0)
    key = statement.bytes(1)
    (self.revision, self.created, self.modified) = (revision, created, modified)
    body = statement.bytes(5)
    isSealed = statement.flag(6)
    self.status = status
  }

  /// Calls `body` with the document as it was written, which is checked to be JSON.
  ///
  /// - Throws: `.unauthorized` when the key of sensitive fields is not set, `.damaged`
  func plain<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    try checkDocument()
    guard isSealed else { return try body(self.body) }
    return try status.opened(self.body, key).withUnsafeBytes { try body($0) }
  }

  var document: DocumentReader { DocumentReader(body) }

  func syncStatus() throws -> RecordSyncStatus { try status.status(key) }

  func field(_ path: FieldPath) throws -> FieldValue {
    switch path {
    case .document(let path): return document.field(path)
    case .id: return .string(key)
    case .created: return .int(created)
    case .modified: return .int(modified)
    case .revision: return .int(revision)
    case .syncStatus: return .ownedString(Array(try syncStatus().rawValue.utf8))
    }
  }

  /// Checks that the document is JSON: the file may have been damaged, or written by another program. Every
  /// document that leaves the library was checked here.
  func checkDocument() throws {
    do {
      try JSONScanner.check(body)
    } catch {
      throw SatchelError(
        .damaged, "record “\(String(decoding: key, as: UTF8.self))”: its document is damaged: \(error)",
        underlying: error)
    }
  }

  /// Returns a copy that does not borrow from the statement.
  func record(withDocument: Bool) throws -> Record {
    let document = withDocument ? try plain { Array($0) } : []
    return Record(
      id: String(decoding: key, as: UTF8.self), revision: revision, created: created, modified: modified,
      syncStatus: try syncStatus(), body: document)
  }
}
