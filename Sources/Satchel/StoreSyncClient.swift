import SatchelCore
import SatchelRecords
import SatchelRemote
import SatchelState
import SatchelStorage

/// The subjects of a store that its sync log carries: records, and state that is marked for it.
struct StoreSyncClient: SyncLogClient {
  let records: RecordSyncClient

  func collections(_ connection: Connection) throws -> [String] {
    try records.collections(connection)
  }

  func content(of key: SyncKey, _ connection: Connection) throws -> SyncOutgoing? {
    try records.content(of: key, connection)
  }

  func ids(
    of collection: String, after id: String?, limit: Int, _ connection: Connection
  ) throws -> [String] {
    try records.ids(of: collection, after: id, limit: limit, connection)
  }

  func decide(
    _ entries: [SyncUndecided], isLast: Bool, in transaction: Transaction
  ) throws -> [SyncDecision] {
    try records.decide(entries, in: transaction)
  }
}

extension Store {
  var syncLog: SyncLogTables {
    SyncLogTables(database, client: StoreSyncClient(records: RecordSyncClient(recordStore)))
  }
}
