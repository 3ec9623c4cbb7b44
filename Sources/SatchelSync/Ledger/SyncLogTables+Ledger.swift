import SatchelCore
import SatchelStorage

/// The calls of a sync: the state of the log, and its phases.
extension SyncLogTables: SyncLogLedger {
  func state() throws -> SyncLogState {
    try database.read { connection in
      var state = try present(connection)
      state.parseHead()
      state.work = try work(connection)
      return state
    }
  }

  /// Reads the state in a transaction.
  ///
  /// - Parameter known: the state as the sync knows it
  func present(_ connection: Connection, known: SyncLogState? = nil) throws -> SyncLogState {
    guard let state = try SyncLogState.read(connection, digestKey: digestKey, known: known) else {
      throw SatchelError(.notFound, "the store is not bound to a sync log")
    }
    try checkBinding(of: state)
    return state
  }

  /// Reads the work that is left. Assets of other generations do not count: nothing but their end
  /// removes them.
  func work(_ connection: Connection) throws -> SyncLogState.Work {
    let (declared, known) = (Set(try client.collections(connection)), try Self.reconciled(connection))
    let found = try connection.first(
      """
      SELECT EXISTS(SELECT 1 FROM sync_entry WHERE in_flight_sequence IS NOT NULL),
      EXISTS(SELECT 1 FROM sync_entry WHERE pending IS NOT NULL AND remote IS NULL AND conflict IS NULL
      AND retry_at IS NULL),
      EXISTS(SELECT 1 FROM sync_asset), EXISTS(SELECT 1 FROM sync_asset
        WHERE generation = (SELECT generation FROM sync_log) AND (suspect IS NOT NULL OR doubt IS NOT NULL)),
      EXISTS(SELECT 1 FROM sync_asset
        WHERE generation = (SELECT generation FROM sync_log) AND unreferenced IS NOT NULL)
      """
    ) {
      (
        hasInFlight: $0.flag(0), hasPending: $0.flag(1), hasAssets: $0.flag(2), hasDoubts: $0.flag(3),
        hasUnreferenced: $0.flag(4)
      )
    }
    return SyncLogState.Work(
      isUnreconciled: declared != known, hasInFlight: found?.hasInFlight ?? false,
      hasUndecided: try undecided(connection, limit: 1) > 0, hasPending: found?.hasPending ?? false,
      hasAssets: found?.hasAssets ?? false, hasUnreferenced: found?.hasUnreferenced ?? false,
      hasDoubts: found?.hasDoubts ?? false)
  }

  /// Sensitive entries are decided by the next sync, which has the key.
  var opens: Binding { .integer(keys == nil && database.keyring.syncEntries == nil ? 0 : 1) }

  /// The number of undecided entries, counted only up to the limit: counting all in each step would take quadratic time.
  func undecided(_ connection: Connection, limit: Int) throws -> Int {
    Int(
      try connection.number(
        """
        SELECT count(*) FROM (SELECT 1 FROM sync_entry WHERE undecided IS NOT NULL AND in_flight_sequence IS NULL
        AND generation = (SELECT generation FROM sync_log)
        AND (? OR remote IS NULL OR substr(remote, 1, 1) <> x'01') LIMIT ?)
        """, opens, .integer(Int64(limit))))
  }

  func reconcile(_ state: inout SyncLogState) throws {
    if let keys { database.keyring.syncEntries = keys.entries }
    guard state.work.isUnreconciled else { return }
    try reconcile()
    state = try self.state()
  }

  /// The rows, with the key that opens those with sensitive content, if it is known.
  func rows(_ connection: Connection) throws -> SyncRowTable {
    SyncRowTable(
      connection: connection, key: keys?.entries ?? database.keyring.syncEntries,
      sensitive: keys == nil ? [] : try client.sensitiveCollections(connection), documents: documents)
  }

  /// An envelope that cannot be opened with the log's key.
  struct Locked: Error {}

  /// Reads envelopes that are sent as they are. Where one cannot be opened, the log is read again first.
  func readingAgain<Result>(
    _ body: (Connection, SyncRowTable) throws -> Result
  ) throws -> Result {
    do {
      return try database.read { try body($0, rows($0)) }
    } catch is Locked {
      try database.write { try Self.readAgain($0.connection) }
      throw SatchelError(.busy, "an entry of the sync log cannot be opened in the store, and is read again")
    }
  }

  /// The collections that were declared when they were last reconciled.
  static func reconciled(_ connection: Connection) throws -> Set<String> {
    var names: Set<String> = []
    try connection.each("SELECT name FROM sync_collection WHERE is_declared = 1") { names.insert($0.text(0)) }
    return names
  }

  func now() throws -> Int64 { database.clock.now() }

  /// Runs `body` in a transaction with the state of the log.
  func changing<Result>(
    from known: SyncLogState? = nil, _ body: (Transaction, SyncRowTable, inout SyncLogState) throws -> Result
  ) throws -> Result {
    try database.write { transaction in
      var state = try present(transaction.connection, known: known)
      return try body(transaction, rows(transaction.connection), &state)
    }
  }

  /// Runs `body` in a transaction with the state of the log, and updates the one that the sync holds.
  func changing<Result>(
    _ held: inout SyncLogState, _ body: (Transaction, SyncRowTable, inout SyncLogState) throws -> Result
  ) throws -> Result {
    let (result, state) = try changing(from: held) { transaction, table, state in
      (try body(transaction, table, &state), state)
    }
    held = state
    return result
  }

  /// Syncs the last transactions to the disk, whatever the store's durability.
  func sync() throws {
    if database.options.durability != .full { try database.sync(always: true) }
  }

  /// Deletes a pending head and its envelopes in flight. Only for a copy of a store: there, changes that
  /// would be sent again count as not sent.
  package func forgetUpload() throws {
    guard try SyncTracker.isBound(database) else { return }
    try changing { transaction, _, state in
      state.upload = nil
      if state.phase == .confirm { state.phase = nil }
      try state.write(transaction.connection)
    }
  }

  static var changedMeanwhile: SatchelError {
    SatchelError(.busy, "another process is synchronizing the same store")
  }

  func continuePhase(_ state: inout SyncLogState) throws -> Bool {
    switch state.phase {
    case nil, .pull: return false
    case .bind:
      try reconcile()
      try changing(&state) { transaction, _, state in
        guard state.phase == .bind else { return }
        state.phase = nil
        try state.write(transaction.connection)
        state.work = try work(transaction.connection)
      }
      return false
    case .rejoin: return try rejoin(&state)
    case .confirm:
      let isOpen = try changing(&state) { transaction, table, state in
        try confirmStep(in: transaction, table, &state)
      }
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
          """
          SELECT attempts FROM sync_entry WHERE id = ? AND key = ?
          AND collection = (SELECT id FROM sync_collection WHERE name = ?)
          """, .integer(failure.row), .text(failure.key.id), .text(failure.key.collection)
        ) { try $0.integer(0, in: 0...1 << 31) }
        guard let attempts else { continue }
        let wait = SyncBackoff.delay(afterFailures: Int(attempts) + 1, random: &random)
        try connection.run(
          "UPDATE sync_entry SET attempts = ?, retry_at = ?, error = ?, error_code = ? WHERE id = ?",
          .integer(min(attempts + 1, 1 << 31)),
          // The next sync sends, or names, sensitive entries again.
          failure.error.code == .unauthorized ? .null : .integer(transaction.now + wait),
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
