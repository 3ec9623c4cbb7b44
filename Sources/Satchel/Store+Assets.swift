import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage
import SatchelSync

extension Store {
  /// Gets the bytes of assets from the remote that the store is synchronized with.
  ///
  /// Every part is verified before it is stored. Blocks; other calls do not wait for it.
  ///
  /// - Parameters:
  ///   - assets: those that are here already, and those without a SHA-256, are not asked for
  ///   - remote: the one of the last sync
  ///   - maxBytes: after so many bytes no further asset is begun; nil for no limit
  ///   - retry: how requests are retried
  ///   - cancellation: polled between parts
  ///   - progress: called before each asset with the numbers of those that are done and of all; returns false to cancel
  /// - Throws: `SatchelError` `.invalid` in a batch and for a store that was never synchronized, `.foreign` for another
  ///   remote, `.cancelled`, `.unavailable`, `.unauthorized`, `.readOnly`, `.full`, `.io`, `.closed`. An asset that is not
  ///   in the remote, or is damaged there, is in the report.
  @discardableResult
  public func fetchAssets(
    _ assets: [Asset], from remote: any ObjectStore, maxBytes: Int64? = nil, retry: Retry = Retry(),
    cancellation: Cancellation = .never, progress: BackupProgress = { _, _ in true }
  ) throws -> AssetFetchReport {
    let reader = try assetReader(remote, retry, cancellation)
    var report = AssetFetchReport()
    for (index, asset) in assets.enumerated() {
      guard HostWork.calling("a progress callback", for: self.assets.work, { progress(index, assets.count) })
      else {
        throw SatchelError(.cancelled, "\(path): cancelled by the caller")
      }
      if let maxBytes, report.fetchedBytes >= maxBytes {
        report.waiting += assets.count - index
        break
      }
      try fetch(asset, reader, &report)
    }
    return report
  }

  private func fetch(_ asset: Asset, _ reader: RemoteAssetReader, _ report: inout AssetFetchReport) throws {
    guard try self.assets.state(of: asset) != .here else { return report.present += 1 }
    do {
      guard let digest = asset.digest else {
        throw SatchelError(.notFound, "an asset that only has a URL is not in the remote")
      }
      try reader.fetch(digest)
      report.fetched += 1
      report.fetchedBytes += try self.assets.info(of: asset).size ?? 0
    } catch let error as SatchelError where error.code == .notFound || error.code == .damaged {
      report.failed.append(AssetFetchReport.Failure(asset: asset, message: error.message))
    }
  }

  /// Returns bytes of an asset, from the store or, where it does not have them, from the remote; nothing is stored. A
  /// player seeks in a film by such ranges before it is here.
  ///
  /// - Parameters:
  ///   - offset: of the first byte
  ///   - count: the maximum number of bytes
  ///   - remote: the one of the last sync
  /// - Throws: as `fetchAssets`; `SatchelError` `.notFound` for an asset that is not in the remote, `.damaged`
  public func assetBytes(
    of asset: Asset, from offset: Int64, count: Int, remote: any ObjectStore, retry: Retry = Retry(),
    cancellation: Cancellation = .never
  ) throws -> [UInt8] {
    guard offset >= 0, count >= 0 else {
      throw SatchelError(.invalid, "\(offset < 0 ? "offset" : "count"): must not be negative")
    }
    if try assets.state(of: asset) == .here { return try assets.bytes(of: asset, from: offset, count: count) }
    guard let digest = asset.digest else {
      throw SatchelError(.notFound, "an asset that only has a URL is not in the remote")
    }
    let (end, isTooLong) = offset.addingReportingOverflow(Int64(count))
    return try assetReader(remote, retry, cancellation).read(digest, offset..<(isTooLong ? Int64.max : end))
  }

  private func assetReader(
    _ remote: any ObjectStore, _ retry: Retry, _ cancellation: Cancellation
  ) throws -> RemoteAssetReader {
    try database.refuseNetworkWork("assets cannot be fetched in a batch")
    let identity = try identity(of: remote)
    guard let owner = try syncLog.lastBound() else {
      throw SatchelError(.invalid, "\(path): was never synchronized, and has no assets in a remote")
    }
    guard owner.remote == identity else {
      throw SatchelError(.foreign, "\(path): is synchronized with another remote")
    }
    return try RemoteAssetReader(
      syncLog, with: remote, user: UserID(owner.user), retry: retry, cancellation: cancellation)
  }
}
