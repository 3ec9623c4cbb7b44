import SatchelAssets
import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelRemote
import SatchelStorage
import SatchelSync

/// The assets that `Store.detach` has left in the remote.
public struct StoreDetachReport: Equatable, Sendable, JSONConvertible {
  /// The number of assets that documents refer to and that are only in the remote: they cannot be had before the store is
  /// synchronized with it again.
  public var remoteAssets = 0
  /// The bytes of these.
  public var remoteBytes: Int64 = 0
  /// The assets that were fetched first, if that was asked for.
  public var assets = AssetFetchReport()

  public init() {}

  public var json: JSONValue {
    [
      "remote_assets": .int(Int64(remoteAssets)), "remote_bytes": .int(remoteBytes), "assets": assets.json,
    ]
  }
}

extension Store {
  /// Ends the store's binding to a remote and a user. Local and remote data remain, and the local content still
  /// belongs to the user; open and waiting conflicts are deleted. The next `sync` as the same user binds it again,
  /// and compares everything. Waits for a sync in progress. To end the user's session, see `signOut`.
  ///
  /// - Parameters:
  ///   - remote: the one of the last sync, from which the assets that are only there are fetched first; nil leaves them
  ///   - retry: how requests are retried
  ///   - cancellation: polled between parts
  ///   - progress: called before each asset with the numbers of those that are fetched and of all; returns false to cancel
  /// - Returns: what is only in the remote, also because it could not be read there
  /// - Throws: `SatchelError` `.invalid` in a batch, `.readOnly`, `.closed`, `.io`; with a remote as `fetchAssets`: the
  ///   store is not detached then
  @discardableResult
  public func detach(
    fetchingAssetsFrom remote: (any ObjectStore)? = nil, retry: Retry = Retry(),
    cancellation: Cancellation = .never, progress: BackupProgress = { _, _ in true }
  ) throws -> StoreDetachReport {
    try database.refuseNetworkWork("a store cannot be detached in a batch")
    var report = StoreDetachReport()
    // A store that was never synchronized has none there.
    if let remote, try syncLog.lastBound() != nil {
      let assets = try syncLog.assetsOnlyInRemote().map { Asset($0.digest, size: $0.size) }
      report.assets = try fetchAssets(
        assets, from: remote, retry: retry, cancellation: cancellation, progress: progress)
    }
    try SyncTurns.shared.withTurn(of: syncTurn, .never) {
      let left = try syncLog.assetsOnlyInRemote()
      (report.remoteAssets, report.remoteBytes) = (left.count, left.reduce(0) { $0 + $1.size })
      try database.write { transaction in
        try syncLog.detach()
        try RecordSyncClient(recordStore).detach(in: transaction)
      }
      endContinuousSync("the store was detached from the remote")
    }
    return report
  }
}
