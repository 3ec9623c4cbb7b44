import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

@testable import SatchelRecords

/// The ledger of a collection in memory: what `RecordLedger` promises, in the fewest words.
final class RecordLedgerModel: SimulatedRecords {
  struct Row: Sendable {
    /// Nil when there never was any content.
    var content: RecordContent?
    var pending: Int64?
    var base: [UInt8]?
    var etag: ETag?
    var sending: RecordSending?
    var conflict: ETag?
    var failure: RecordFailureMark?
  }

  private struct Contents {
    var user: String?
    var rows: [String: Row] = [:]
    var conflicts: [SimulatedConflict] = []
    var nextConflict: Int64 = 1
    var sequence: Int64 = 0
    var complete = 0

    mutating func next() -> Int64 {
      sequence += 1
      return sequence
    }
  }

  private let contents = Locked(Contents())
  let writer: String
  let version: Int64
  /// Documents that this collection does not take.
  let refuses: @Sendable (_ id: String, _ document: [UInt8]?) -> Bool

  init(
    writer: String, version: Int64 = 1,
    refuses: @escaping @Sendable (_ id: String, _ document: [UInt8]?) -> Bool = { _, _ in false }
  ) {
    self.writer = writer
    self.version = version
    self.refuses = refuses
  }

  private func busy(_ id: String) -> SatchelError { SatchelError(.busy, "\(id): changed meanwhile") }

  /// One transaction about one record.
  private func change(_ id: String, _ body: (inout Contents, inout Row) throws -> Void) throws {
    try contents.withLock { contents in
      var (next, row) = (contents, contents.rows[id] ?? Row())
      try body(&next, &row)
      next.rows[id] = row
      contents = next
    }
  }

  private func stamp(_ row: Row) -> RecordStamp {
    RecordStamp(pending: row.pending, etag: row.etag, base: row.base, sending: row.sending?.sequence)
  }

  private func mark(_ id: String, _ row: Row) -> RecordMark {
    RecordMark(
      id: id, etag: row.etag, pending: row.pending, isSending: row.sending != nil, conflict: row.conflict,
      failure: row.failure)
  }

  // MARK: What a host does

  func put(_ id: String, _ document: [UInt8], now: Int64) throws {
    try change(id) { contents, row in
      let old = row.content
      row.content = RecordContent(
        document: document, revision: (old?.revision ?? 0) + 1,
        created: old.flatMap { $0.isDeleted ? nil : $0.created } ?? now, modified: now)
      row.pending = contents.user == nil ? 0 : contents.next()
    }
  }

  func delete(_ id: String, now: Int64) throws {
    contents.withLock { contents in
      guard var row = contents.rows[id], let old = row.content, !old.isDeleted else { return }
      if row.base == nil, row.sending == nil {
        contents.rows[id] = nil
        contents.conflicts.removeAll { $0.record == id && $0.isOpen }
        return
      }
      row.content = RecordContent(
        document: nil, revision: old.revision + 1, created: old.created, modified: now)
      row.pending = contents.next()
      contents.rows[id] = row
    }
  }

  func document(_ id: String) throws -> [UInt8]? {
    contents.withLock { $0.rows[id]?.content?.document }
  }

  func row(_ id: String) -> Row? { contents.withLock { $0.rows[id] } }

  func conflicts() throws -> [SimulatedConflict] { contents.withLock { $0.conflicts } }

  /// Ends an open conflict.
  func resolve(_ conflict: SimulatedConflict, _ document: [UInt8]?, now: Int64) throws {
    try change(conflict.record) { contents, row in
      contents.conflicts.removeAll { $0.id == conflict.id }
      let remote = try RecordEnvelope(parsing: conflict.remote, id: conflict.record)
      row.base = conflict.remote
      row.etag = row.conflict
      row.conflict = nil
      // It was to replace what was there before, so it never will arrive.
      row.sending = nil
      let revision = max(row.content?.revision ?? 0, remote.content.revision) + 1
      row.content = RecordContent(
        document: document, revision: revision, created: remote.content.created, modified: now)
      row.pending = contents.next()
    }
  }

  var completeSyncs: Int { contents.withLock { $0.complete } }
}

extension RecordLedgerModel: RecordLedger {
  func binding() throws -> RecordBinding {
    RecordBinding(user: contents.withLock { $0.user }, writer: writer, version: version)
  }

  func begin(user: UserID) throws {
    try contents.withLock { contents in
      guard contents.user == nil || contents.user == user.text else {
        throw SatchelError(.foreign, "another user's")
      }
      contents.user = user.text
    }
  }

  func marks(from cursor: RecordCursor?, limit: Int) throws -> RecordMarks {
    contents.withLock { contents in
      let rest = contents.rows.keys.sorted().drop { id in cursor.map { id <= $0.text } ?? false }
      let page = rest.prefix(min(limit, 2))
      return RecordMarks(
        marks: page.compactMap { id in contents.rows[id].map { mark(id, $0) } },
        next: page.count < rest.count ? page.last.map { RecordCursor(text: $0) } : nil)
    }
  }

  func marks(of ids: [String]) throws -> [RecordMark?] {
    contents.withLock { contents in ids.map { id in contents.rows[id].map { mark(id, $0) } } }
  }

  func state(of id: String) throws -> RecordState {
    let row = contents.withLock { $0.rows[id] } ?? Row()
    return RecordState(
      id: id, local: row.content, pending: row.pending, base: row.base, etag: row.etag, sending: row.sending,
      conflict: row.conflict, attempts: row.failure?.attempts ?? 0)
  }

  /// Each version adds a member.
  func migrated(_ document: [UInt8], from version: Int64) throws -> [UInt8] {
    var object = try JSONValue(parsing: document).objectValue ?? JSONObject()
    for version in (version + 1)...self.version { object["since_\(version)"] = true }
    return try JSONValue.object(object).serialized()
  }

  func noteSending(_ id: String, sequence: Int64, envelope: [UInt8]) throws {
    try change(id) { _, row in
      guard row.pending == sequence, row.sending == nil else { throw busy(id) }
      row.sending = RecordSending(sequence: sequence, envelope: envelope)
    }
  }

  func forgetSending(_ id: String, sequence: Int64) throws {
    try change(id) { _, row in
      guard row.sending?.sequence == sequence else { throw busy(id) }
      row.sending = nil
    }
  }

  func settle(_ id: String, sequence: Int64, etag: ETag?) throws {
    try change(id) { contents, row in
      guard let sending = row.sending, sending.sequence == sequence else { throw busy(id) }
      row.base = sending.envelope
      row.etag = etag
      if row.pending == sequence { row.pending = nil }
      calm(id, &contents, &row)
    }
  }

  func take(
    _ id: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag, taking: RecordTaking, isLost: Bool
  ) throws {
    // It may look at other records, so not within the change of this one.
    if case .replace(let content) = taking, refuses(id, content.document) {
      throw SatchelError(.invalid, "\(id): refused")
    }
    try change(id) { contents, row in
      guard stamp == self.stamp(row) else { throw busy(id) }
      if isLost, let local = row.content {
        note(id, &contents, row.base, local: local, remote: envelope, isOpen: false)
      }
      switch taking {
      case .replace(let content), .merge(let content):
        var content = content
        content.revision = max((row.content?.revision ?? 0) + 1, content.revision)
        row.content = content
        if case .merge = taking { row.pending = contents.next() } else { row.pending = nil }
      case .keep: break
      case .agree: row.pending = nil
      }
      row.base = envelope
      row.etag = etag
      calm(id, &contents, &row)
    }
  }

  func renew(_ id: String, stamp: RecordStamp) throws {
    try change(id) { contents, row in
      guard stamp == self.stamp(row) else { throw busy(id) }
      row.etag = nil
      row.sending = nil
      row.pending = row.pending ?? contents.next()
    }
  }

  func ask(_ id: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag) throws {
    try change(id) { contents, row in
      guard stamp == self.stamp(row), let local = row.content else { throw busy(id) }
      calm(id, &contents, &row)
      note(id, &contents, row.base, local: local, remote: envelope, isOpen: true)
      row.conflict = etag
    }
  }

  func fail(_ id: String, error: SatchelError, attempts: Int, retryAt: Int64) throws {
    try change(id) { _, row in
      row.failure = RecordFailureMark(attempts: attempts, retryAt: retryAt, message: error.message)
    }
  }

  func finish(isComplete: Bool) throws { contents.withLock { $0.complete += isComplete ? 1 : 0 } }

  /// Nothing is on its way, open or failed any more.
  private func calm(_ id: String, _ contents: inout Contents, _ row: inout Row) {
    row.sending = nil
    row.failure = nil
    row.conflict = nil
    contents.conflicts.removeAll { $0.record == id && $0.isOpen }
  }

  private func note(
    _ id: String, _ contents: inout Contents, _ base: [UInt8]?, local: RecordContent, remote: [UInt8],
    isOpen: Bool
  ) {
    contents.conflicts.append(
      SimulatedConflict(
        id: contents.nextConflict, record: id, isOpen: isOpen, local: local.document, remote: remote,
        base: base
      ))
    contents.nextConflict += 1
  }
}
