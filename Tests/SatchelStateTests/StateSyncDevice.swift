import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import SatchelStorage

import SatchelRemote
@testable import SatchelSync
@testable import SatchelState

/// A store in memory whose state is a client of the sync log.
final class StateSyncDevice {
  let store: StateFixture.Opened
  let client: StateSyncClient
  private let sendsSensitive: Bool
  var state: StateStore { store.state }

  static let user = try! UserID("ada")

  init(_ fixture: StateFixture, sendsSensitive: Bool = false) throws {
    store = try fixture.open(":memory:")
    client = StateSyncClient(store.state.context.documents) { [state = store.state] in state }
    self.sendsSensitive = sendsSensitive
  }

  // MARK: Without a log

  static func envelope(_ id: String, _ document: String?, time: Int64 = 0, version: Int64 = 1) throws
    -> SyncEnvelope
  {
    SyncEnvelope(
      SyncContent(document: document.map { Array($0.utf8) }, modified: time),
      of: try SyncKey(SyncKey.state, id), version: version, writer: "other", number: 1, base: nil,
      ancestors: SyncVersionVector())
  }

  static func entry(
    _ id: String, base: SyncEnvelope? = nil, remote: SyncEnvelope?, isChanged: Bool = true,
    isFork: Bool = false
  ) throws -> SyncUndecided {
    SyncUndecided(
      key: try SyncKey(SyncKey.state, id), base: base, remote: remote, isChanged: isChanged, isFork: isFork)
  }

  /// Saves the state, and decides about entries.
  @discardableResult
  func decide(_ entries: SyncUndecided...) throws -> [SyncDecision] {
    try state.flush()
    return try store.database.write { try client.decide(entries, in: $0).decisions }
  }

  /// Returns the document that would be sent; nil for a deletion.
  func document(_ id: String) throws -> String? {
    try state.flush()
    let outgoing = try store.database.read {
      try client.content(of: SyncKey(SyncKey.state, id), isEncrypted: sendsSensitive, $0)
    }
    return outgoing?.content.document.map { String(decoding: $0, as: UTF8.self) }
  }

  func ids(after id: String? = nil, limit: Int = 100) throws -> [String] {
    try state.flush()
    return try store.database.read { try client.ids(after: id.map { .id($0) }, limit: limit, $0).ids }
  }

  // MARK: With a log

  private struct Client: SyncLogClient {
    let state: StateSyncClient

    func collections(_ connection: Connection) throws -> [String] { [SyncKey.state] }

    func content(
      of key: SyncKey, isEncrypted: Bool, _ connection: Connection
    ) throws -> SyncOutgoing? {
      try state.content(of: key, isEncrypted: isEncrypted, connection)
    }

    func ids(
      of collection: String, after position: SyncIDs.Position?, limit: Int, _ connection: Connection
    ) throws -> SyncIDs { try state.ids(after: position, limit: limit, connection) }

    func decide(
      _ entries: [SyncUndecided], isLast: Bool, in transaction: Transaction
    ) throws -> SyncDecisions { try state.decide(entries, in: transaction) }
  }

  private var tables: SyncLogTables { SyncLogTables(store.database, client: Client(state: client)) }

  func bind() throws {
    try tables.bind(remote: "memory", user: Self.user)
    try tables.reconcile()
  }

  @discardableResult
  func sync(_ remote: SyncStore, key: [UInt8]? = nil) throws -> SyncLogReport {
    try state.flush()
    try bind()
    var options = SyncLogOptions()
    options.key = try key.map { try EncryptionKey($0) }
    options.retry = Retry(attempts: 3, base: 0, ceiling: 0)
    options.parallel = 1
    var run = try SyncLogRun(tables, with: remote, user: Self.user, options: options, probe: {})
    return try run.run()
  }

  /// Does the work of a store when its key is set.
  func keyWasSet() throws { try tables.keyWasSet { _ in [] } }

  func status(_ id: String) throws -> SyncStatus? {
    try Array(id.utf8).withUnsafeBytes { id in
      try store.database.read { try SyncStatusReader($0, collection: SyncKey.state).status(id) }
    }
  }
}
