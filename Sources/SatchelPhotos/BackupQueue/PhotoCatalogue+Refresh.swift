import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelSync
import SatchelStorage

extension PhotoCatalogue {
  /// Lists the files that are backed up, and stars the photos that another device has backed up: one request
  /// for 1,000 files. Blocks. Never part of `sync`.
  ///
  /// A photo is backed up when the remote has an object under its MD5 with the size of its row. Photos that
  /// are being uploaded stay as they are, and so does a star that was removed after the upload.
  ///
  /// - Parameters:
  ///   - store: the object store with the files, below `photos/{user}/`
  ///   - queueMissing: whether photos that were uploaded, and that the remote does not have, are queued again
  ///   - progress: called with the progress, never concurrently; false cancels
  /// - Throws: `SatchelError`: `foreign` when the catalogue is synchronized as another user, `invalid` in a
  ///   batch, `unauthorized`, `unavailable`, `cancelled`, `readOnly`
  public func refreshBackups(
    with store: any ObjectStore, user: UserID, queueMissing: Bool = false,
    options: PhotoBackupOptions = PhotoBackupOptions(), progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> PhotoRefreshReport {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): is opened read-only; refreshing writes to it")
    }
    let session = try SyncSession(database, with: store, user: user, options: options, progress: progress)
    return try withBackups(session) { remote in
      var refresh = BackupRefresh(catalogue: self, remote: remote, session: session)
      return try refresh.run(queueMissing: queueMissing)
    }
  }
}

/// The result of `refreshBackups`. The lists have at most `maxListed` elements, the counts include all.
public struct PhotoRefreshReport: Sendable, Equatable, JSONConvertible {
  public static let maxListed = 1000

  /// Photos of the catalogue whose file is in the remote.
  public var photos: Int64 = 0
  /// Photos that this call starred.
  public var starred: Int64 = 0
  /// Objects below the user's prefix that are not files of the catalogue's photos.
  public var unknownCount: Int64 = 0
  /// Photos whose object does not have the size of their row.
  public var damaged: [MD5] = []
  public var damagedCount: Int64 = 0
  /// Photos that were uploaded, and that the remote does not have.
  public var missing: [MD5] = []
  public var missingCount: Int64 = 0
  /// Photos that were queued again.
  public var queued: Int64 = 0
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0

  package init() {}

  /// The report as a JSON object.
  public var json: JSONValue {
    func list(_ photos: [MD5]) -> JSONValue { .array(photos.map { .string($0.description) }) }
    return [
      "photos": .int(photos), "starred": .int(starred), "unknown_count": .int(unknownCount),
      "damaged": list(damaged), "damaged_count": .int(damagedCount), "missing": list(missing),
      "missing_count": .int(missingCount), "queued": .int(queued), "requests": .int(requests),
    ]
  }
}

/// A running refresh: reads the listing page by page, and marks the photos of each page in one transaction.
private struct BackupRefresh {
  let catalogue: PhotoCatalogue
  let remote: BackupRemote
  let session: SyncSession
  private var report = PhotoRefreshReport()
  /// Uploaded photos that the listing has not contained so far.
  private var unseen: Set<MD5> = []

  init(catalogue: PhotoCatalogue, remote: BackupRemote, session: SyncSession) {
    self.catalogue = catalogue
    self.remote = remote
    self.session = session
  }

  mutating func run(queueMissing: Bool) throws -> PhotoRefreshReport {
    try session.report { $0.begin(.files) }
    unseen = try catalogue.read(otherwise: []) {
      try Set(LocalTable(connection: $0, catalogue: $1).photos(.uploaded))
    }
    var position = ListingPosition()
    while !position.isAtEnd {
      let page = try remote.requests.attempt { () throws(ObjectStoreError) in
        try remote.store.list(
          remote.prefix, from: position.continuation, limit: 1000, cancellation: remote.cancellation)
      }
      try position.pass(page)
      try mark(page.entries)
      report.unknownCount += Int64(page.skipped)
      try session.report { $0.done += page.entries.count }
    }
    try findMissing(queueMissing: queueMissing)
    report.requests = session.traffic.requests
    return report
  }

  private mutating func mark(_ entries: [ObjectPage.Entry]) throws {
    var found: [MD5] = []
    try catalogue.read(otherwise: ()) { connection, id in
      let lookup = PhotoLookup(connection: connection, catalogue: id)
      for entry in entries {
        guard let md5 = remote.md5(entry.key), let photo = try lookup.photo(md5) else {
          report.unknownCount += 1
          continue
        }
        unseen.remove(md5)
        guard entry.size == photo.size else {
          report.damagedCount += 1
          if report.damaged.count < PhotoRefreshReport.maxListed { report.damaged.append(md5) }
          continue
        }
        report.photos += 1
        let local = try LocalTable(connection: connection, catalogue: id).row(md5) ?? LocalRow()
        if local.isBackedUpElsewhere { found.append(md5) }
      }
    }
    try catalogue.changeLocal(of: found) { local, _ in
      guard local.isBackedUpElsewhere else { return false }
      if !local.isStarred { report.starred += 1 }
      (local.isStarred, local.backup, local.queued, local.error) = (true, .uploaded, nil, nil)
      return true
    }
  }

  private mutating func findMissing(queueMissing: Bool) throws {
    let missing: [MD5] = try catalogue.read(otherwise: []) { connection, id in
      let lookup = PhotoLookup(connection: connection, catalogue: id)
      return try unseen.sorted().filter { try lookup.photo($0) != nil }
    }
    report.missingCount = Int64(missing.count)
    report.missing = Array(missing.prefix(PhotoRefreshReport.maxListed))
    guard queueMissing else { return }
    try catalogue.changeLocal(of: missing) { local, table in
      guard local.backup == .uploaded else { return false }
      try local.enqueue(in: table)
      report.queued += 1
      return true
    }
  }
}

extension PhotoCatalogue {
  /// Changes local rows in one transaction.
  ///
  /// - Parameter body: returns whether it changed the row
  fileprivate func changeLocal(
    of photos: [MD5], _ body: (inout LocalRow, LocalTable) throws -> Bool
  ) throws {
    if photos.isEmpty { return }
    try write { transaction, id in
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      var changed: [MD5] = []
      for md5 in photos {
        var local = try table.row(md5) ?? LocalRow()
        guard try body(&local, table) else { continue }
        try table.put(md5, local)
        changed.append(md5)
      }
      notify(changed, in: transaction)
    }
  }
}

extension LocalRow {
  /// Whether a file that the remote has was not backed up by this device.
  fileprivate var isBackedUpElsewhere: Bool {
    switch backup {
    case .notBackedUp, .queued, .error: true
    case .uploading, .uploaded: false
    }
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension PhotoCatalogue {
    /// Refreshes on a separate thread, like the blocking form; cancelling the task cancels it.
    public func refreshBackups(
      with store: any ObjectStore, user: UserID, queueMissing: Bool = false,
      options: PhotoBackupOptions = PhotoBackupOptions(), progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> PhotoRefreshReport {
      try await options.onOwnThread { options in
        try self.refreshBackups(
          with: store, user: user, queueMissing: queueMissing, options: options, progress: progress)
      }
    }
  }
#endif
