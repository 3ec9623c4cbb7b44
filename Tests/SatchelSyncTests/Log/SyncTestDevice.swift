import SatchelCore
import SatchelStorage

import SatchelRemote
@testable import SatchelSync

/// A store in memory with documents, and its sync log.
struct SyncTestDevice {
  let database: Database
  let client: SyncTestClient
  let ledger: SyncLogTables

  init(
    _ sizes: SyncSizes = SyncSizes(), ghosts: SyncGhosts = SyncGhosts(), clock: Clock = Clock { 1_000_000 }
  ) throws {
    var options = StoreOptions()
    options.clock = clock
    database = try Database.open(
      path: ":memory:", options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    try database.prepare(SyncLogSchema.subject)
    client = try SyncTestClient(database, ghosts)
    ledger = SyncLogTables(database, client: client, sizes: sizes)
  }

  static let user = try! UserID("somebody")

  static let key = [UInt8](0..<32)

  @discardableResult
  func sync(_ store: any ObjectStore, _ change: (inout SyncLogOptions) -> Void = { _ in }) throws
    -> SyncLogReport
  {
    var run = try run(store, change)
    return try run.run()
  }

  func run(_ store: any ObjectStore, _ change: (inout SyncLogOptions) -> Void = { _ in }) throws -> SyncLogRun
  {
    var options = SyncLogOptions()
    options.retry = Retry(attempts: 3, base: 0, ceiling: 0)
    options.parallel = 1
    change(&options)
    try ledger.bind(remote: "memory", user: Self.user)
    return try SyncLogRun(
      ledger, sizes: ledger.sizes, with: store, user: Self.user, options: options, probe: {})
  }

  // Single calls of a sync, each from a state that is read for it.

  func changes() throws -> SyncChanges {
    var state = try ledger.state()
    return try ledger.changes(&state, AssetContext())
  }

  func begin(_ upload: SyncLogState.PendingUpload, _ changes: SyncChanges) throws -> Bool {
    var state = try ledger.state()
    return try ledger.begin(upload, changes, at: &state)
  }

  func complete(_ pull: SyncPull, _ head: SyncHead, _ etag: ETag) throws -> Bool {
    var state = try ledger.state()
    return try ledger.complete(pull, at: head, etag: etag, state: &state)
  }

  func continuePhase() throws -> Bool {
    var state = try ledger.state()
    return try ledger.continuePhase(&state)
  }

  func status(_ id: String) throws -> SyncStatus? {
    try Array(id.utf8).withUnsafeBytes { id in
      try database.read { try SyncStatusReader($0, collection: "things").status(id) }
    }
  }

  /// The rows of the valid generation: the sequence, and the envelope, by key.
  func entries() throws -> [SyncKey: (sequence: Int64, envelope: [UInt8])] {
    try database.read { connection in
      var ids: [Int64] = []
      try connection.each(
        "SELECT id FROM sync_entry WHERE generation = (SELECT generation FROM sync_log) AND seq IS NOT NULL"
      ) { ids.append($0.anyInteger(0)) }
      var found: [SyncKey: (sequence: Int64, envelope: [UInt8])] = [:]
      for id in ids {
        guard let row = try SyncRowTable(connection: connection, documents: client.document).row(id),
          let sequence = row.sequence
        else {
          continue
        }
        found[row.key] = (sequence: sequence, envelope: row.entry ?? [])
      }
      return found
    }
  }

  func check() throws -> [StoreFinding] {
    try SyncLogCheck.check(database, documents: ledger.documents)
  }

  /// All that the store knows of its sync log, and the documents.
  func dump() throws -> [String] { try Self.dump(database) }

  static func dump(_ database: Database) throws -> [String] {
    try database.read { connection in
      var lines: [String] = []
      for sql: StaticString in [
        """
        SELECT quote(epoch) || quote(log) || quote(number) || quote(etag) || quote(head) || quote(digest) || quote(count)
        || quote(bytes) || quote(generation) || quote(next_generation) || quote(previous) || quote(phase)
        || quote(pending_upload) || quote(pending_upload_base) || quote(compactions) FROM sync_log
        """,
        """
        SELECT quote(key) || quote(generation) || quote(seq) || quote(remote) || quote(base) || quote(pending)
        || quote(in_flight_sequence) || quote(undecided) || quote(attempts) FROM sync_entry ORDER BY id
        """,
        "SELECT quote(writer) || quote(replaced) || quote(sequence) FROM sync_writer",
        "SELECT quote(collection) || quote(key) || quote(document) FROM test_document ORDER BY collection, key",
      ] {
        try connection.each(sql) { lines.append($0.text(0)) }
      }
      return lines
    }
  }

  func number(_ sql: StaticString) throws -> Int64 { try database.read { try $0.number(sql) } }
}
