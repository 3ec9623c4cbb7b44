import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage

extension Region {
  /// Gets what is missing or expired of the region: content, then the assets that it refers to.
  ///
  /// Whatever has arrived is stored, so that after a cancellation, a kill or a loss of power the next call goes on with
  /// what is left. An item that fails is in the report and stops no other; the next call tries it again.
  ///
  /// - Parameters:
  ///   - source: called from up to `options.parallel` threads, one of which is the caller's, outside of transactions
  ///   - progress: called after each item, from one thread at a time; returns false to cancel
  /// - Throws: `SatchelError` `.cancelled`; `.full` with the region's name, when the limit of its definition is reached or
  ///   the disk is full; `.notFound` when the region was deleted, `.invalid` in a transaction and for invalid options,
  ///   `.readOnly`, `.io`, `.closed`
  @discardableResult
  public func download(
    from source: any ContentSource, options: RegionDownloadOptions = RegionDownloadOptions(),
    progress: @escaping @Sendable (RegionProgress) -> Bool = { _ in true },
    cancellation: Cancellation = .never
  ) throws -> RegionReport {
    try RegionDownload(self, source, options, progress, cancellation).run(isUpdate: false)
  }

  /// Downloads the region, and asks for what is stored with an entity tag, too, whether it has changed. What is neither
  /// expired nor has a tag is not asked for.
  ///
  /// Parameters and errors are those of `download`.
  @discardableResult
  public func update(
    from source: any ContentSource, options: RegionDownloadOptions = RegionDownloadOptions(),
    progress: @escaping @Sendable (RegionProgress) -> Bool = { _ in true },
    cancellation: Cancellation = .never
  ) throws -> RegionReport {
    try RegionDownload(self, source, options, progress, cancellation).run(isUpdate: true)
  }
}

/// One download of a region, on several threads.
// Unchecked: `lock` guards all that changes.
private final class RegionDownload: @unchecked Sendable {
  private let region: Region
  private let source: any ContentSource
  private let options: RegionDownloadOptions
  private let notify: @Sendable (RegionProgress) -> Bool
  private let cancellation: Cancellation

  private let lock = ConditionLock()
  private var report = RegionReport()
  private var progress = RegionProgress()
  /// Why no further item is begun.
  private var failure: (any Error)?
  /// The bytes that may still come; nil without a limit.
  private var (callBudget, regionBudget): (Int64?, Int64?)
  private var isOverRegionBudget = false
  private var postponed: [RegionAsset] = []

  init(
    _ region: Region, _ source: any ContentSource, _ options: RegionDownloadOptions,
    _ notify: @escaping @Sendable (RegionProgress) -> Bool, _ cancellation: Cancellation
  ) {
    (self.region, self.source, self.options) = (region, source, options)
    (self.notify, self.cancellation) = (notify, cancellation)
  }

  private var database: Database { region.database }

  func run(isUpdate: Bool) throws -> RegionReport {
    let name = region.name
    try database.refuseNetworkWork("region \(name): cannot be downloaded in a transaction")
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only; region \(name) cannot be downloaded")
    }
    guard (1...16).contains(options.parallel) else {
      throw SatchelError(.invalid, "parallel: \(options.parallel) must be 1 to 16")
    }
    if let maxBytes = options.maxBytes, maxBytes < 0 {
      throw SatchelError(.invalid, "max_bytes: \(maxBytes) must not be negative")
    }
    do {
      try getContent(isUpdate: isUpdate)
      let survey = try region.survey()
      try getAssets(survey)
      return try finish()
    } catch var error as SatchelError where error.code == .full && error.details.id == nil {
      error.message = "region \(name): \(error.message)"
      throw error.at(.region(name))
    }
  }

  private func finish() throws -> RegionReport {
    let survey = try region.survey()
    (report.state, report.size) = (survey.state, survey.size)
    if survey.due.isEmpty, survey.size.assetsLeft == 0 {
      try database.write { transaction in
        try RegionTable(connection: transaction.connection).noteDownloaded(
          survey.region.id, now: transaction.now)
      }
    }
    guard isOverRegionBudget, let limit = survey.region.definition.maxBytes else { return report }
    throw SatchelError(
      .full,
      "region \(region.name): its limit of \(limit) bytes is reached, and \(report.waiting) items are left; "
        + "define it with a higher max_bytes"
    ).at(.region(region.name)).at(limit: Int(clamping: limit))
  }

  // MARK: Progress

  /// Whether to begin another item.
  private var goesOn: Bool {
    if cancellation.isCancelled() { stop(cancelled) }
    return lock.withLock { failure == nil }
  }

  private var cancelled: SatchelError {
    SatchelError(.cancelled, "region \(region.name): cancelled by the caller")
  }

  private func stop(_ error: any Error) { lock.withLock { if failure == nil { failure = error } } }

  /// - Parameter change: what was done
  private func advance(_ change: (inout RegionProgress) -> Void) {
    let resource = region.regions.assets.work
    lock.withLock {
      let before = progress
      change(&progress)
      progress.itemsDone = max(progress.itemsDone, before.itemsDone)
      progress.bytesDone = max(progress.bytesDone, before.bytesDone)
      progress.items = max(progress.items, progress.itemsDone)
      progress.bytes = max(progress.bytes, progress.bytesDone)
      guard failure == nil || progress != before else { return }
      if !HostWork.calling("a progress callback", for: resource, { notify(progress) }), failure == nil {
        failure = cancelled
      }
    }
  }

  private func inParallel<Item: Sendable>(
    _ items: [Item], _ limit: Int, _ body: @escaping @Sendable (Item) throws -> Void
  ) throws {
    withWorkers(items, limit: limit) { [self] next in
      while goesOn, let item = next() {
        do { try body(item) } catch { stop(error) }
      }
    }
    if let failure = lock.withLock({ failure }) { throw failure }
  }

  // MARK: Content

  private func getContent(isUpdate: Bool) throws {
    let survey = try region.survey()
    let (row, size) = (survey.region, survey.size)
    let definition = row.definition
    advance {
      $0.itemsDone = size.requests - size.requestsLeft + size.assets
      $0.items = size.requests + size.assets + size.assetsLeft
      $0.bytesDone = size.totalBytes
      $0.bytes = size.totalBytes + size.assetBytesLeft
    }
    let items = isUpdate ? survey.items.filter { $0.isDue || $0.hasETag } : survey.due
    // The sizes are read again now and then: the content is shared between items.
    let (stride, done) = (max(1, items.count / 64), Locked(0))
    try inParallel(items, options.parallel) { [self] item in
      // An item that fails is left: it is not done, as a later download does it.
      let isDone = try get(item, of: row, isUpdate: isUpdate) && item.isLeft
      let count = done.withLock { count in
        count += 1
        return count
      }
      guard count % stride == 0 || count == items.count else {
        return advance { $0.itemsDone += isDone ? 1 : 0 }
      }
      let bytes = try contentBytes(definition)
      advance {
        $0.itemsDone += isDone ? 1 : 0
        $0.bytesDone = bytes + size.assetBytes
      }
      guard let limit = definition.maxBytes, bytes > limit else { return }
      throw SatchelError(
        .full, "region \(region.name): its content has \(bytes) bytes, and its limit is \(limit)"
      ).at(.region(region.name)).at(limit: Int(clamping: limit))
    }
  }

  private func contentBytes(_ definition: RegionDefinition) throws -> Int64 {
    let index = region.catalogue.index
    return try database.read { connection in
      try PinnedContent(of: [definition], in: connection, variants: { try index.view(of: connection) })
        .bytes()
    }
  }

  /// - Returns: whether the source has answered
  private func get(_ item: RegionItem, of row: RegionTable.Row, isUpdate: Bool) throws -> Bool {
    var refresh = options.refresh
    if isUpdate, item.hasETag { refresh.force = true }
    let answer = try region.catalogue.refresh(
      item.location, sections: item.section.map { [$0] }, from: source, options: refresh,
      cancellation: cancellation)
    var (outcome, message) = (RegionTable.Outcome.content, String?.none)
    var isWaiting = false
    if let failed = answer.failed.first {
      (outcome, message) = (.failed, failed.message)
    } else if !answer.notFound.isEmpty {
      outcome = .absent
    } else if let skipped = answer.skipped.first(where: { $0.reason != .fresh }) {
      isWaiting = skipped.reason == .network
      (outcome, message) = (.failed, Self.text(skipped.reason))
    }
    try database.write(isSynced: false) { transaction in
      let table = RegionTable(connection: transaction.connection)
      // Stored content stays in the region, and is asked for again when it expires.
      if outcome != .failed || item.isLeft {
        // A source may have answered that it has nothing before a kill, too.
        if outcome == .content, try !item.isStored(in: transaction.connection) { outcome = .absent }
        try table.set(row.id, item, to: outcome, error: message, now: transaction.now)
      }
    }
    lock.withLock {
      report.requests += answer.requests
      report.contentBytes += answer.bytes
      report.refreshed += answer.refreshed.count
      report.unchanged += answer.unchanged.count
      if outcome == .absent { report.notFound += 1 }
      if isWaiting {
        report.waiting += 1
      } else if let message {
        report.failed.append(RegionFailure(location: item.location, section: item.section, message: message))
      }
    }
    return outcome != .failed
  }

  private static func text(_ reason: RefreshReport.Skipped.Reason) -> String {
    switch reason {
    case .network: "the network holds it back"
    case .busy: "another call was asking for it, and got no answer"
    case .waiting, .fresh: "it failed before, and the time for the next attempt has not come"
    }
  }

  // MARK: Assets

  private func getAssets(_ survey: RegionSurvey) throws {
    let size = survey.size
    advance {
      $0.items = max($0.items, size.requests + size.assets + size.assetsLeft)
      $0.bytesDone = size.totalBytes
      $0.bytes = size.totalBytes + size.assetBytesLeft
    }
    let row = survey.region
    regionBudget = row.definition.maxBytes.map { $0 - size.totalBytes }
    callBudget = options.maxBytes.map { $0 - report.contentBytes }
    let left = survey.assets.filter(\.isLeft)
    try inParallel(left, options.parallel) { [self] in try get($0, of: row, isLast: false) }
    // Those for which the bytes were reserved that others did not need.
    let rest = lock.withLock {
      defer { postponed = [] }
      return postponed
    }
    try inParallel(rest, 1) { [self] in try get($0, of: row, isLast: true) }
  }

  /// Reserves bytes for an asset.
  ///
  /// - Returns: the maximum size of the asset; nil when it does not fit
  private func reserve(_ asset: RegionAsset, _ limit: Int64, isLast: Bool) -> Int64? {
    lock.withLock {
      let budget = min(callBudget ?? .max, regionBudget ?? .max)
      let wanted = asset.size ?? limit
      guard budget > 0, asset.size == nil || wanted <= budget else {
        leave(asset, isLast: isLast)
        return nil
      }
      let reserved = min(wanted, budget)
      callBudget = callBudget.map { $0 - reserved }
      regionBudget = regionBudget.map { $0 - reserved }
      return reserved
    }
  }

  /// Leaves an asset that does not fit to a second pass, and then to a later call. The caller holds `lock`.
  private func leave(_ asset: RegionAsset, isLast: Bool) {
    guard isLast else { return postponed.append(asset) }
    report.waiting += 1
    if regionBudget ?? .max < callBudget ?? .max { isOverRegionBudget = true }
  }

  private func giveBack(_ bytes: Int64) {
    callBudget = callBudget.map { $0 + bytes }
    regionBudget = regionBudget.map { $0 + bytes }
  }

  private func get(_ asset: RegionAsset, of row: RegionTable.Row, isLast: Bool) throws {
    let limit = row.definition.maxAssetSize
    guard let reserved = reserve(asset, limit, isLast: isLast) else { return }
    var fetching = AssetFetchOptions()
    // A stated size may be wrong: what arrives counts.
    (fetching.maxSize, fetching.ignoresBackoff) = (max(1, min(reserved, limit)), true)
    fetching.isCancelled = cancellation.isCancelled
    let answer: AssetFetchReport
    do {
      answer = try region.regions.assets.fetch(
        [asset.asset], options: fetching, using: source.asset(_:into:))
    } catch {
      lock.withLock { giveBack(reserved) }
      throw error
    }
    let failed = answer.failed.first
    let isTooLarge = failed?.limit == fetching.maxSize
    if isTooLarge, fetching.maxSize == limit, asset.source > 0 {
      try database.write(isSynced: false) { transaction in
        try RegionTable(connection: transaction.connection).skip(row.id, source: asset.source, maxSize: limit)
      }
    }
    lock.withLock {
      giveBack(reserved - answer.fetchedBytes)
      report.assets += answer.fetched
      report.assetBytes += answer.fetchedBytes
      if isTooLarge, fetching.maxSize < limit, asset.size == nil {
        // It did not fit into what was left.
        leave(asset, isLast: isLast)
      } else if let failed {
        report.failed.append(RegionFailure(asset: asset.asset, message: failed.message))
      }
    }
    if failed == nil {
      advance {
        $0.itemsDone += 1
        $0.bytesDone += answer.fetchedBytes
      }
    }
  }
}
