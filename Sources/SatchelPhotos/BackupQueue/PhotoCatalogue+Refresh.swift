import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelSync
import SatchelStorage

extension PhotoCatalogue {
  /// Lists the files that are backed up, and stars the photos that another device has backed up: one request
  /// for 1,000 files. Blocks. Never part of `sync`.
  ///
  /// A photo is backed up when the remote has an object under its MD5 with the size of its row, and, with
  /// `reading`, with its bytes. Photos that are being uploaded stay as they are, and so does a star that was
  /// removed after the upload.
  ///
  /// - Parameters:
  ///   - store: the object store with the files, below `photos/{user}/`
  ///   - queueMissing: whether photos that were uploaded, and that the remote does not have, or has damaged, are
  ///     queued again where this device has their files
  ///   - reading: whether every file is downloaded and compared with its MD5
  ///   - abortingUploads: whether uploads in parts that were begun more than a week ago are aborted
  ///   - progress: called with the progress, never concurrently; false cancels
  /// - Throws: `SatchelError`: `foreign` when the catalogue is synchronized as another user, `invalid` in a
  ///   batch, `unauthorized`, `unavailable`, `cancelled`, `readOnly`
  public func refreshBackups(
    with store: any ObjectStore, user: UserID, queueMissing: Bool = false, reading: Bool = false,
    abortingUploads: Bool = false, options: PhotoBackupOptions = PhotoBackupOptions(),
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws -> PhotoRefreshReport {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): is opened read-only; refreshing writes to it")
    }
    let session = try SyncSession(database, with: store, user: user, options: options, progress: progress)
    return try withBackups(session) { remote in
      var refresh = BackupRefresh(catalogue: self, remote: remote, session: session, isReading: reading)
      try refresh.findUploads(aborting: abortingUploads)
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
  /// Objects below the user's prefix that are no files of the catalogue's photos, and that no device's index names.
  public var unknown: [String] = []
  public var unknownCount: Int64 = 0
  /// Names of objects whose upload in parts was begun more than a week ago, and neither completed nor aborted before.
  public var uploads: [String] = []
  /// Those of them that this call has aborted.
  public var aborted: Int64 = 0
  /// Photos whose object does not have the size of their row, or their bytes where these were read.
  public var damaged: [MD5] = []
  public var damagedCount: Int64 = 0
  /// Photos that were uploaded, and that the remote does not have.
  public var missing: [MD5] = []
  public var missingCount: Int64 = 0
  /// Photos that were queued again.
  public var queued: Int64 = 0
  /// Requests to the object store, retries included.
  public var requests: Int64 = 0
  /// Bytes of files that were read.
  public var bytesDown: Int64 = 0

  package init() {}

  mutating func addUnknown(_ name: String) {
    unknownCount += 1
    if unknown.count < Self.maxListed { unknown.append(name) }
  }

  mutating func addDamaged(_ md5: MD5) {
    damagedCount += 1
    if damaged.count < Self.maxListed { damaged.append(md5) }
  }

  /// The report as a JSON object.
  public var json: JSONValue {
    func list(_ photos: [MD5]) -> JSONValue { .array(photos.map { .string($0.description) }) }
    return [
      "photos": .int(photos), "starred": .int(starred), "unknown": .array(unknown.map { .string($0) }),
      "unknown_count": .int(unknownCount), "uploads": .array(uploads.map { .string($0) }),
      "aborted": .int(aborted), "damaged": list(damaged), "damaged_count": .int(damagedCount),
      "missing": list(missing),
      "missing_count": .int(missingCount), "queued": .int(queued), "requests": .int(requests),
      "bytes_down": .int(bytesDown),
    ]
  }
}

/// A running refresh: reads the listing page by page, and marks the photos of each page in one transaction.
private struct BackupRefresh {
  let catalogue: PhotoCatalogue
  let remote: BackupRemote
  let session: SyncSession
  let isReading: Bool
  private var report = PhotoRefreshReport()
  /// Uploaded photos that the listing has not contained so far.
  private var unseen: Set<MD5> = []
  private var damaged: [MD5] = []
  /// Films, sidecars and files of other devices: what the indexes name.
  private var indexed: Set<MD5> = []

  init(catalogue: PhotoCatalogue, remote: BackupRemote, session: SyncSession, isReading: Bool) {
    self.catalogue = catalogue
    self.remote = remote
    self.session = session
    self.isReading = isReading
  }

  /// The age of an upload that no device continues any more, in milliseconds.
  private static let maxUploadAge: Int64 = 7 * 24 * 60 * 60 * 1000

  /// Finds uploads in parts that were left unfinished: a store keeps their parts, and charges for them. None where the
  /// store does not list them.
  mutating func findUploads(aborting: Bool) throws {
    guard session.store.listsUploads else { return }
    let uploads: [ObjectUpload]
    do throws(ObjectStoreError) {
      uploads = try remote.requests.attempt { () throws(ObjectStoreError) in
        try session.store.unfinishedUploads(below: remote.prefix, cancellation: remote.cancellation)
      }
    } catch {
      guard error.faultClass == .remote || error.faultClass == .object else { throw error }
      return
    }
    let now = session.store.date ?? catalogue.database.clock.now()
    for upload in uploads {
      guard let begun = ISODate.milliseconds(upload.begun), now - begun > Self.maxUploadAge else { continue }
      if report.uploads.count < PhotoRefreshReport.maxListed {
        report.uploads.append(String(upload.key.text.dropFirst(remote.prefix.text.count)))
      }
      guard aborting else { continue }
      try remote.requests.attempt { () throws(ObjectStoreError) in
        try session.store.abort(upload, cancellation: remote.cancellation)
      }
      report.aborted += 1
    }
  }

  mutating func run(queueMissing: Bool) throws -> PhotoRefreshReport {
    try session.report { $0.begin(.files) }
    unseen = try catalogue.read(otherwise: []) {
      try Set(LocalTable(connection: $0, catalogue: $1).photos(.uploaded))
    }
    indexed = try filesOfIndexes()
    try remote.list(remote.prefix) { page in
      try mark(page.entries)
      report.unknownCount += Int64(page.skipped)
      try session.report { $0.done += page.entries.count }
    }
    let missing = try findMissing()
    if queueMissing { try queue(missing) }
    try note(.missing, of: missing)
    try note(.damaged, of: damaged)
    report.requests = session.traffic.requests
    report.bytesDown = session.traffic.bytesDown
    return report
  }

  /// Returns the files that other devices' indexes name, and those that this device's would name now.
  private func filesOfIndexes() throws -> Set<MD5> {
    var files: Set<MD5> = []
    let device: String? = try catalogue.read(otherwise: nil) { connection, id in
      try FileTable(connection: connection, catalogue: id).each { file in
        if let row = BackupIndex.Row(file) { files.insert(row.md5) }
      }
      return try IndexTable(connection: connection, catalogue: id, of: session.remote).device()
    }
    try remote.eachIndex(of: session.user, except: device) { files.formUnion($0.lazy.map(\.md5)) }
    return files
  }

  private mutating func mark(_ entries: [ObjectPage.Entry]) throws {
    var whole: [MD5] = []
    try catalogue.read(otherwise: ()) { connection, id in
      let lookup = PhotoLookup(connection: connection, catalogue: id)
      for entry in entries {
        let md5 = remote.md5(entry.key)
        guard let md5, let photo = try lookup.photo(md5) else {
          let isIndexed = md5.map { indexed.contains($0) } ?? false
          if !isIndexed { report.addUnknown(String(entry.key.text.dropFirst(remote.prefix.text.count))) }
          continue
        }
        unseen.remove(md5)
        if entry.size == photo.size { whole.append(md5) } else { addDamaged(md5) }
      }
    }
    if isReading { whole = try read(whole) }
    report.photos += Int64(whole.count)
    try catalogue.changeLocal(of: whole) { local, _ in
      guard local.isBackedUpElsewhere || local.backup == .uploaded && local.error != nil else { return false }
      if !local.isStarred { report.starred += 1 }
      (local.isStarred, local.backup, local.queued, local.error) = (true, .uploaded, nil, nil)
      return true
    }
  }

  private mutating func addDamaged(_ md5: MD5) {
    report.addDamaged(md5)
    damaged.append(md5)
  }

  /// Reads files, several at once.
  ///
  /// - Returns: those that have the bytes of their photos
  private mutating func read(_ photos: [MD5]) throws -> [MD5] {
    let remote = remote
    let results = Locked<[MD5: Result<Bool, any Error>]>([:])
    inParallel(photos, limit: session.parallel) { md5 in
      let result = Result { try remote.isWhole(md5) }
      results.withLock { $0[md5] = result }
    }
    let found = results.withLock { $0 }
    return try photos.filter { md5 in
      let isWhole = try found[md5]?.get() ?? false
      if !isWhole { addDamaged(md5) }
      return isWhole
    }
  }

  private mutating func findMissing() throws -> [MD5] {
    let missing: [MD5] = try catalogue.read(otherwise: []) { connection, id in
      let lookup = PhotoLookup(connection: connection, catalogue: id)
      return try unseen.ordered().filter { try lookup.photo($0) != nil }
    }
    report.missingCount = Int64(missing.count)
    report.missing = Array(missing.prefix(PhotoRefreshReport.maxListed))
    return missing
  }

  /// Queues what the remote does not have, or has damaged: where this device has the file, which another one
  /// does for its own.
  private mutating func queue(_ missing: [MD5]) throws {
    try catalogue.changeLocal(of: (missing + damaged).ordered()) { local, table in
      guard local.backup == .uploaded else { return false }
      try local.enqueue(in: table)
      report.queued += 1
      return true
    }
  }

  /// Records what is wrong in the remote, for `safety`. A run replaces what is damaged, even if its size is right.
  private func note(_ fault: BackupDamage, of photos: [MD5]) throws {
    try catalogue.changeLocal(of: photos) { local, _ in
      guard local.backup == .queued || local.backup == .uploaded else { return false }
      local.error = fault.rawValue
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
      with store: any ObjectStore, user: UserID, queueMissing: Bool = false, reading: Bool = false,
      abortingUploads: Bool = false, options: PhotoBackupOptions = PhotoBackupOptions(),
      progress: (@Sendable (SyncProgress) -> Bool)? = nil
    ) async throws -> PhotoRefreshReport {
      try await options.onOwnThread { options in
        try self.refreshBackups(
          with: store, user: user, queueMissing: queueMissing, reading: reading,
          abortingUploads: abortingUploads, options: options, progress: progress)
      }
    }
  }
#endif
