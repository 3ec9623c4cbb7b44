import SatchelJSON
import SatchelStorage

/// One record as a query meets it: lent from the statement that reads it.
struct Candidate: ~Copyable {
  let row: Int64
  let key: UnsafeRawBufferPointer
  let revision: Int64
  let created: Int64
  let modified: Int64
  let body: UnsafeRawBufferPointer
  private let status: RecordStatusReader

  /// From a row of `id, key, revision, created, modified, body`.
  init(_ statement: Statement, _ status: RecordStatusReader) throws {
    let revision = try statement.integer(2, in: RecordRow.revisions)
    let (created, modified) = (try statement.integer(3), try statement.integer(4))
    row = statement.anyInteger(0)
    key = statement.bytes(1)
    (self.revision, self.created, self.modified) = (revision, created, modified)
    body = statement.bytes(5)
    self.status = status
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

  /// Throws when the document is no JSON: a file may have been damaged, or written by somebody else. A document that
  /// leaves the library has passed this.
  func checkDocument() throws {
    do {
      try JSONScanner.check(body)
    } catch {
      throw SatchelError(
        .damaged, "record “\(String(decoding: key, as: UTF8.self))”: its document is damaged: \(error)",
        underlying: error)
    }
  }

  /// As a value of its own.
  func record(withDocument: Bool) throws -> Record {
    if withDocument { try checkDocument() }
    return Record(
      id: String(decoding: key, as: UTF8.self), revision: revision, created: created, modified: modified,
      syncStatus: try syncStatus(), body: withDocument ? Array(body) : [])
  }
}
