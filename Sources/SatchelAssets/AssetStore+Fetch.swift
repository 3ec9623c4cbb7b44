import SatchelCore
import SatchelJSON
import SatchelStorage

/// A request to the host's function that fetches assets.
public struct AssetRequest: Sendable {
  /// An http or https URL of a document. Where it leads is not known: the function decides on redirects and on addresses
  /// that it does not ask.
  public var url: String
  /// The ETag of the bytes that the store has; nil when it has none.
  public var etag: String?
  /// The SHA-256 that the reference states; other bytes are refused. Nil where it states none.
  public var sha256: String?
  /// The maximum size in bytes; more are refused.
  public var maxSize: Int64
  /// Whether the caller has cancelled: a function that takes long asks it, and throws `SatchelError` `.cancelled`.
  public var isCancelled: @Sendable () -> Bool = { false }
}

/// The outcome of the host's function that fetches assets.
public enum AssetResponse: Sendable, Equatable {
  /// The bytes were appended to the writer.
  ///
  /// - Parameter etag: for the next request; nil for none
  case fetched(etag: String? = nil)
  /// The bytes are those of the request's ETag (HTTP 304).
  case notModified
}

/// Options of `AssetStore.fetch`.
public struct AssetFetchOptions: Sendable {
  /// The maximum size of one asset in bytes, counted while it is received.
  public var maxSize: Int64 = 64 << 20
  /// The bytes after which no further asset is begun; nil for no limit.
  public var maxBytes: Int64?
  /// Whether URLs that were fetched are asked again, with their ETag.
  public var refreshes = false
  /// Whether URLs that failed are asked before their time.
  public var ignoresBackoff = false
  /// Returns whether to cancel; asked before each asset, and while one is fetched, on the thread that fetches it.
  public var isCancelled: @Sendable () -> Bool = { false }

  public init() {}
}

/// The counts and failures of `AssetStore.fetch`.
public struct AssetFetchReport: Equatable, Sendable, JSONConvertible {
  public struct Failure: Equatable, Sendable, JSONConvertible {
    public var asset: Asset
    public var message: String
    /// When the next attempt is made, in Unix milliseconds; nil where no URL is known.
    public var retryAt: Int64?
    /// The limit that its size exceeds; nil for other failures.
    package var limit: Int64?

    package init(asset: Asset, message: String, retryAt: Int64? = nil, limit: Int64? = nil) {
      (self.asset, self.message, self.retryAt, self.limit) = (asset, message, retryAt, limit)
    }

    public var json: JSONValue {
      ["asset": asset.json, "message": .string(message), "retry_at": retryAt.map { .int($0) } ?? .null]
    }
  }

  /// The assets whose bytes came.
  public var fetched = 0
  public var fetchedBytes: Int64 = 0
  /// Those that were here already, and those that had not changed.
  public var present = 0
  /// Those whose turn comes later: they failed before, or the limit was reached.
  public var waiting = 0
  public var failed: [Failure] = []

  package init() {}

  public var json: JSONValue {
    [
      "fetched": .int(Int64(fetched)), "fetched_bytes": .int(fetchedBytes), "present": .int(Int64(present)),
      "waiting": .int(Int64(waiting)), "failed": .array(failed.map(\.json)),
    ]
  }
}

extension AssetStore {
  /// The host's function that fetches a URL: it appends the bytes to the writer, which refuses more than are allowed.
  public typealias Fetch = (AssetRequest, AssetWriter) throws -> AssetResponse

  /// Gets the bytes of assets that are not here, from their URLs.
  ///
  /// A URL that fails is asked again after a minute at the earliest, then after two, and so on up to a day.
  ///
  /// - Parameters:
  ///   - fetch: fetches one URL; called on this thread, outside of transactions
  ///   - progress: called before each asset with the numbers of those that are done and of all; returns false to cancel
  /// - Throws: `SatchelError` `.cancelled`, also when `fetch` throws that, `.invalid` in a transaction, `.readOnly`,
  ///   `.full`, `.io`, `.closed`. What a single asset fails with is in the report.
  @discardableResult
  public func fetch(
    _ assets: [Asset], options: AssetFetchOptions = AssetFetchOptions(),
    progress: BackupProgress = { _, _ in true },
    using fetch: Fetch
  ) throws -> AssetFetchReport {
    try database.refuseNetworkWork("assets cannot be fetched in a transaction")
    guard options.maxSize > 0 else { throw SatchelError(.invalid, "max_size: must be positive") }
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only")
    }
    var report = AssetFetchReport()
    for (index, asset) in assets.enumerated() {
      guard HostWork.calling("a progress callback", for: work, { progress(index, assets.count) }),
        !options.isCancelled()
      else {
        throw SatchelError(.cancelled, "\(database.path): cancelled by the caller")
      }
      if let maxBytes = options.maxBytes, report.fetchedBytes >= maxBytes {
        report.waiting += assets.count - index
        break
      }
      try self.fetch(asset, options, fetch, &report)
    }
    return report
  }

  private func fetch(
    _ asset: Asset, _ options: AssetFetchOptions, _ fetch: Fetch, _ report: inout AssetFetchReport
  ) throws {
    let isHere = try state(of: asset) == .here
    guard !isHere || options.refreshes && asset.digest == nil else { return report.present += 1 }
    guard let url = try asset.url ?? knownURL(of: asset) else {
      report.failed.append(
        AssetFetchReport.Failure(asset: asset, message: "no URL is known for these bytes", retryAt: nil))
      return
    }
    try flights.begin(url, options.isCancelled)
    defer { flights.end(url) }
    // Another thread may have fetched it meanwhile.
    if !isHere, try state(of: asset) == .here { return report.present += 1 }
    let source = try knownSource(url)
    if !options.ignoresBackoff, let retryAt = source.retryAt, retryAt > database.clock.now() {
      return report.waiting += 1
    }
    do {
      let request = AssetRequest(
        url: url, etag: isHere ? source.etag : nil, sha256: asset.sha256, maxSize: options.maxSize,
        isCancelled: options.isCancelled)
      var response = AssetResponse.notModified
      let put = try put(maxSize: options.maxSize, expecting: asset.digest) { writer in
        let origin = PartialAsset.Origin.url(url, isVerified: asset.digest != nil)
        let partial = isHere ? nil : PartialAsset(writer, origin, limit: options.maxSize, in: self)
        do {
          response = try HostWork.on(flights.work) {
            try HostWork.calling("a fetch function", for: work) { try fetch(request, writer) }
          }
        } catch {
          partial?.keep()
          throw error
        }
        if response == .notModified { throw NotModified() }
      } then: { table, id, transaction in
        try table.noteFetched(url, as: id, response, now: transaction.now)
      }
      report.fetched += 1
      report.fetchedBytes += put.size ?? 0
    } catch is NotModified {
      guard isHere else {
        return try fail(
          asset, url, "the function says that nothing has changed, but the bytes are not here", &report)
      }
      try write { try $0.noteUnchanged(url, now: $1.now) }
      report.present += 1
    } catch let error as SatchelError where error.endsFetching {
      throw error
    } catch {
      // By whatever failure the function has ended early.
      if options.isCancelled() {
        throw SatchelError(.cancelled, "\(database.path): cancelled by the caller")
      }
      let known = error as? SatchelError
      try fail(
        asset, url, known?.message ?? "\(error)", limit: known?.code == .full ? known?.details.limit : nil,
        &report)
    }
  }

  private struct NotModified: Error {}

  private func fail(
    _ asset: Asset, _ url: String, _ message: String, limit: Int64? = nil, _ report: inout AssetFetchReport
  ) throws {
    let retryAt = try write { try $0.noteFailure(url, message, now: $1.now) }
    report.failed.append(
      AssetFetchReport.Failure(asset: asset, message: message, retryAt: retryAt, limit: limit))
  }

  private func knownURL(of asset: Asset) throws -> String? {
    try read { table in
      guard let digest = asset.digest, let row = try table.row(digest) else { return nil }
      return try table.connection.first(
        """
        SELECT url FROM asset_source WHERE asset = ?1 OR id IN
        (SELECT source FROM asset_reference WHERE asset = ?1 AND source > 0) ORDER BY id LIMIT 1
        """, .integer(row.id)
      ) { $0.text(0) }
    } ?? nil
  }

  private func knownSource(_ url: String) throws -> (etag: String?, retryAt: Int64?) {
    let known = try read { table in
      try table.connection.first("SELECT etag, retry_at FROM asset_source WHERE url = ?", .text(url)) {
        (etag: $0.textIfAny(0), retryAt: try $0.integerIfAny(1, in: StoredRange.time))
      }
    }
    return (known ?? nil) ?? (nil, nil)
  }
}

/// The URLs that threads of a store are fetching: each is fetched by one at a time, and the others wait for its bytes.
final class AssetFlights: Sendable {
  private let lock = ConditionLock()
  // Guarded by `lock`.
  nonisolated(unsafe) private var urls: [String] = []

  /// The work of fetching, whose own functions must not wait for it.
  var work: HostWork.Resource { HostWork.Resource(ObjectIdentifier(self)) }

  /// - Throws: `.cancelled`; `.busy` in a function that fetches, perhaps the same URL
  func begin(_ url: String, _ isCancelled: () -> Bool) throws {
    try lock.withLock {
      while urls.contains(where: { $0.hasSameBytes(as: url) }) {
        try HostWork.refuse("\(url) is being fetched, and cannot be fetched again", work)
        if isCancelled() { throw SatchelError(.cancelled, "cancelled by the caller") }
        lock.wait(milliseconds: 20)
      }
      urls.append(url)
    }
  }

  func end(_ url: String) {
    lock.withLock {
      urls.removeAll { $0.hasSameBytes(as: url) }
      lock.signal()
    }
  }
}

extension AssetTable {
  func noteFetched(_ url: String, as id: Int64, _ response: AssetResponse, now: Int64) throws {
    var etag: String?
    if case .fetched(let text) = response { etag = text.flatMap { $0.utf8.count <= 1024 ? $0 : nil } }
    let source = try source(url)
    try connection.run(
      """
      UPDATE asset_source SET asset = ?2, etag = ?3, fetched_at = ?4, attempts = 0, retry_at = NULL, error = NULL
      WHERE id = ?1
      """, .integer(source), .integer(id), Binding(etag), .integer(now))
    try removeTransfer(of: -source)
  }

  func noteUnchanged(_ url: String, now: Int64) throws {
    try connection.run(
      "UPDATE asset_source SET fetched_at = ?2, attempts = 0, retry_at = NULL, error = NULL WHERE url = ?1",
      .text(url), .integer(now))
  }

  /// - Returns: when the next attempt is made: after a minute, then twice as long each time, up to a day
  func noteFailure(_ url: String, _ message: String, now: Int64) throws -> Int64 {
    let id = try source(url)
    let attempts = try connection.number("SELECT attempts FROM asset_source WHERE id = ?", .integer(id))
    let retryAt = now + min(60_000 << min(attempts, 11), 24 * 60 * 60 * 1000)
    try connection.run(
      "UPDATE asset_source SET attempts = ?2, retry_at = ?3, error = ?4 WHERE id = ?1", .integer(id),
      .integer(attempts + 1), .integer(retryAt), .text(String(message.prefix(1000))))
    return retryAt
  }
}
