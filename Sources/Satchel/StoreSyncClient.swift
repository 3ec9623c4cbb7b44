import SatchelAssets
import SatchelCore
import SatchelDocuments
import SatchelSync
import SatchelState
import SatchelStorage

/// The subjects of a store that its sync log synchronizes: records, and state that is marked for it.
struct StoreSyncClient: SyncLogClient {
  let records: RecordSyncClient
  let state: StateSyncClient
  private let storage: AssetStore

  var assets: (any AssetStorage)? { storage }

  init(_ records: RecordStore, _ assets: AssetStore, _ state: @escaping @Sendable () -> StateStore) {
    storage = assets
    self.records = RecordSyncClient(records)
    self.state = StateSyncClient(records, state)
  }

  func collections(_ connection: Connection) throws -> [String] {
    try records.collections(connection) + [SyncKey.state]
  }

  func content(of key: SyncKey, isEncrypted: Bool, _ connection: Connection) throws -> SyncOutgoing? {
    var content =
      key.isState
      ? try state.content(of: key, isEncrypted: isEncrypted, connection)
      : try records.content(of: key, isEncrypted: isEncrypted, connection)
    if let document = content?.content.document {
      let references = try document.withUnsafeBytes { try AssetReferences(in: $0) }
      content?.assets = try references.kept(by: storage, connection)
    }
    return content
  }

  func document(of key: SyncKey, _ connection: Connection) throws -> [UInt8]? {
    key.isState ? nil : try records.document(of: key, connection)
  }

  func ids(
    of collection: String, after position: SyncIDs.Position?, limit: Int, _ connection: Connection
  ) throws -> SyncIDs {
    collection == SyncKey.state
      ? try state.ids(after: position, limit: limit, connection)
      : try records.ids(of: collection, after: position, limit: limit, connection)
  }

  func decide(
    _ entries: [SyncUndecided], isLast: Bool, in transaction: Transaction
  ) throws -> SyncDecisions {
    // State comes last.
    let count = entries.firstIndex { $0.key.isState } ?? entries.count
    var made = SyncDecisions(decisions: [])
    if count > 0 { made = try records.decide(Array(entries[..<count]), in: transaction) }
    if count < entries.count {
      let ofState = try state.decide(Array(entries[count...]), in: transaction)
      made.decisions += ofState.decisions
      made.failures += ofState.failures
    }
    return made
  }

  func keepLost(_ keys: [SyncKey], in transaction: Transaction) throws {
    try records.keepLost(keys.filter { !$0.isState }, in: transaction)
  }

  func sensitiveCollections(_ connection: Connection) throws -> Set<String> {
    try records.sensitiveCollections(connection)
  }

  func waiting(for keys: [SyncKey], in transaction: Transaction) throws -> [SyncKey] {
    try records.waiting(for: keys, in: transaction)
  }
}

extension SyncKey {
  fileprivate var isState: Bool { collection == Self.state }
}
