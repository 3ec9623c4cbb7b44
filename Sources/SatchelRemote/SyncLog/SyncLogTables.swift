import SatchelCore
import SatchelStorage

/// The tables of a store's sync log, and the subjects whose content it carries.
package struct SyncLogTables: Sendable {
  let database: Database
  let client: any SyncLogClient
  let sizes: SyncSizes
  /// The key of the digest, if the sync log is encrypted.
  var digestKey: HMAC?

  package init(_ database: Database, client: any SyncLogClient) {
    self.init(database, client: client, sizes: SyncSizes())
  }

  init(_ database: Database, client: any SyncLogClient, sizes: SyncSizes) {
    self.database = database
    self.client = client
    self.sizes = sizes
  }

  // MARK: Binding

  /// Binds the store to a remote and a user; what is local becomes pending.
  ///
  /// - Throws: `SatchelError` (`foreign`) when it is bound to another remote or user
  package func bind(remote: String, user: UserID) throws {
    try database.prepare(SyncLogSchema.subject)
    func isBound(_ connection: Connection) throws -> Bool {
      guard let state = try SyncLogState.read(connection) else { return false }
      guard state.remote == remote, state.user == user.text else {
        throw SatchelError(
          .foreign,
          "the store is synchronized with \(state.remote) as \"\(state.user)\": detach it before another remote or user"
        )
      }
      return true
    }
    if try database.read(isBound) { return }
    try database.write { transaction in
      let connection = transaction.connection
      if try isBound(connection) { return }
      try connection.run(
        "INSERT OR IGNORE INTO sync_writer(id, writer, sequence, stamp) VALUES(1, ?, 0, 0)",
        .text(Self.newWriter()))
      try connection.run(
        """
        INSERT INTO sync_log(id, remote, user, digest, count, bytes, generation, next_generation, phase, compactions)
        VALUES(1, ?, ?, ?, 0, 0, 1, 2, ?, 0)
        """, .text(remote), .text(user.text), .text(SyncDigest().text),
        .text(SyncLogState.Phase.bind.rawValue))
    }
  }

  /// Ends the binding. The local content stays; the writer's name and sequence stay in use.
  package func detach() throws {
    guard try database.has(SyncLogSchema.subject) else { return }
    try database.write { transaction in
      for sql: StaticString in [
        "DELETE FROM sync_log", "DELETE FROM sync_entry", "DELETE FROM sync_collection",
      ] {
        try transaction.connection.run(sql)
      }
    }
  }

  /// Gives the store a new name among the writers, because it is a copy of another one: what it sends under the old name
  /// could have numbers that the other one has used.
  package func renameWriter() throws {
    guard try database.has(SyncLogSchema.subject) else { return }
    try database.write { try Self.renameWriter($0.connection) }
  }

  static func renameWriter(_ connection: Connection) throws {
    try connection.run("UPDATE sync_writer SET writer = ?", .text(newWriter()))
  }

  static func writer(_ connection: Connection) throws -> String {
    try connection.first("SELECT writer FROM sync_writer") { $0.text(0) } ?? ""
  }

  private static func newWriter() -> String { SyncName.random() }

  /// Makes the entries of a collection that is declared by now undecided, and its local content pending.
  package func declare(_ collection: String) throws {
    guard try SyncTracking.isBound(database) else { return }
    var last: Int64 = 0
    while true {
      let ids = try database.write { transaction in
        let table = SyncRowTable(connection: transaction.connection)
        guard let id = try table.collection(collection) else { return [Int64]() }
        var ids: [Int64] = []
        try transaction.connection.each(
          """
          SELECT id FROM sync_entry WHERE id > ? AND remote IS NOT NULL AND collection = ? ORDER BY id LIMIT ?
          """, .integer(last), .integer(id), .integer(Int64(sizes.rowsOfStep))
        ) { ids.append(try $0.integer(0)) }
        for id in ids {
          try transaction.connection.run("UPDATE sync_entry SET undecided = 1 WHERE id = ?", .integer(id))
        }
        return ids
      }
      guard let next = ids.last else { break }
      last = next
    }
    try makePending(collection)
  }

  /// Makes the local content of a collection pending, where nothing is known of it.
  func makePending(_ collection: String) throws {
    var last: String?
    repeat {
      last = try database.write { transaction in
        let ids = try client.ids(
          of: collection, after: last, limit: sizes.rowsOfStep, transaction.connection)
        for id in ids {
          let key = try SyncKey(collection, id)
          if try SyncTracking.row(key, transaction.connection) == nil {
            try SyncTracking.note(key, in: transaction)
          }
        }
        return ids.last
      }
    } while last != nil
  }

  /// Names of collections, the number of their entries and the bytes of these.
  package func statistics() throws -> [(collection: String, entries: Int64, bytes: Int64)] {
    guard try SyncTracking.isBound(database) else { return [] }
    return try database.read { connection in
      var found: [(collection: String, entries: Int64, bytes: Int64)] = []
      try connection.each(
        """
        SELECT c.name, count(e.seq), coalesce(sum(e.size), 0) FROM sync_log l
        JOIN sync_entry e ON e.generation = l.generation JOIN sync_collection c ON c.id = e.collection
        GROUP BY c.name ORDER BY c.name
        """
      ) { found.append((collection: $0.text(0), entries: try $0.integer(1), bytes: try $0.integer(2))) }
      return found
    }
  }
}

// MARK: - The ledger of a sync

extension SyncLogTables: SyncLogLedger {
  func state() throws -> SyncLogState {
    guard let state = try database.read({ try SyncLogState.read($0, digestKey: digestKey) }) else {
      throw SatchelError(.notFound, "the store is not bound to a sync log")
    }
    return state
  }

  func now() throws -> Int64 { try database.read { try database.time($0) } }

  /// Runs `body` in a transaction with the state of the log.
  func changing<Result>(
    _ body: (Transaction, SyncRowTable, inout SyncLogState) throws -> Result
  ) throws -> Result {
    try database.write { transaction in
      guard var state = try SyncLogState.read(transaction.connection, digestKey: digestKey) else {
        throw SatchelError(.notFound, "the store is not bound to a sync log")
      }
      return try body(transaction, SyncRowTable(connection: transaction.connection), &state)
    }
  }

  /// Syncs the last transactions to the disk, whatever the store's durability.
  func sync() throws {
    if database.options.durability != .full { try database.sync(always: true) }
  }

  static var changedMeanwhile: SatchelError {
    SatchelError(.busy, "another process synchronizes the same store")
  }

  func continuePhase() throws -> Bool {
    switch try state().phase {
    case nil, .pull: return false
    case .bind:
      for collection in try database.read({ try client.collections($0) }) { try makePending(collection) }
      try changing { transaction, _, state in
        guard state.phase == .bind else { return }
        state.phase = nil
        try state.write(transaction.connection)
      }
      return false
    case .rejoin: return try rejoin()
    case .confirm:
      let isOpen = try changing { transaction, table, state in try confirmStep(transaction, table, &state) }
      if !isOpen { try sync() }
      return isOpen
    }
  }

  func note(_ failures: [SyncChanges.Failure], _ obsolete: [SyncChanges.Obsolete]) throws {
    if failures.isEmpty, obsolete.isEmpty { return }
    var random = SystemRandomNumberGenerator()
    try database.write { transaction in
      let connection = transaction.connection
      for failure in failures {
        let attempts = try connection.first(
          "SELECT attempts FROM sync_entry WHERE id = ?", .integer(failure.row)
        ) { try $0.integer(0, in: 0...1 << 31) }
        guard let attempts else { continue }
        let wait = SyncBackoff.delay(afterFailures: Int(attempts) + 1, random: &random)
        try connection.run(
          "UPDATE sync_entry SET attempts = ?, retry_at = ?, error = ?, error_code = ? WHERE id = ?",
          .integer(min(attempts + 1, 1 << 31)), .integer(transaction.now + wait),
          .text(failure.error.message), .integer(Int64(failure.error.code.rawValue)), .integer(failure.row))
      }
      for change in obsolete {
        try connection.run(
          """
          DELETE FROM sync_entry WHERE id = ? AND pending = ? AND seq IS NULL AND base IS NULL
          AND in_flight_sequence IS NULL
          """, .integer(change.row), .integer(change.sequence))
      }
    }
  }
}

/// The delay before a change that could not be sent is tried again: after 1 s, 2 s, 4 s and so on, at most an hour, less
/// up to half of it at random.
enum SyncBackoff {
  static let longest: Int64 = 3_600_000

  static func delay(afterFailures attempts: Int, random: inout some RandomNumberGenerator) -> Int64 {
    let shift = max(attempts, 1) - 1
    let whole = shift < 12 ? min(1000 << Int64(shift), longest) : longest
    return whole - Int64.random(in: 0...whole / 2, using: &random)
  }
}
