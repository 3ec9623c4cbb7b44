import SatchelCore
import SatchelDocuments
import SatchelSync
import SatchelStorage

extension PhotoCatalogue {
  /// Returns the directory of the shards' files.
  private func shards(_ path: String?) throws -> ShardDirectory {
    ShardDirectory(path: try path.map { try DirectoryPath.normalized($0) } ?? directory + "/.photolala")
  }

  /// Imports the files 0.csv to f.csv of a directory; see `importShard`.
  ///
  /// Each shard is a transaction of its own, except in an empty catalogue, where all are one: one whose file cannot be
  /// read is reported and stays unchanged, as does one without a file. Where the directory has a manifest.json, a file that differs from the
  /// manifest is reported and not imported: it may have been truncated between rows, which nothing else
  /// shows. Files that did not change since their import are hashed and skipped. All shards are on disk when
  /// this returns; a loss of power during the import may undo the latest.
  ///
  /// Files are read and parsed on other threads. Memory: three files, and 48 bytes for each of their photos.
  ///
  /// - Parameter path: nil for ".photolala" in the catalogue's directory
  /// - Throws: `.notFound` when the directory has none of these files, `.invalid` or `.newer` for a manifest
  ///   that cannot be read, `.full`, `.io`, `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func importDirectory(_ path: String? = nil, onConflict: ConflictPolicy = .remoteWins) throws
    -> DirectoryReport
  {
    try onConflict.checkForPhotos()
    let shards = try shards(path)
    let manifest = try shards.manifest()
    var sources: [Shard.Index: String] = [:]
    for record in try records() where record.changes == 0 { sources[record.shard] = record.source }
    let loader = ShardFileLoader(shards, sources: sources, manifest: manifest)
    defer { loader.stop() }
    var report = DirectoryReport()
    report.hasManifest = manifest != nil
    func addAll(_ importing: (ShardFile) throws -> (report: ImportReport, isChanged: Bool)) throws {
      for shard in Shard.Index.all { try add(loader.next(shard), of: shard, to: &report, importing) }
    }
    do {
      if try count() == 0 {
        // No transactions in the transaction: pages of one with savepoints stay in memory until the end.
        try write(isSynced: false) { transaction, id in
          try PhotoTable(connection: transaction.connection, catalogue: id).addingMany {
            try addAll { try importFile($0, into: id, onConflict: onConflict, in: transaction) }
          }
        }
      } else {
        try addAll { file in
          try write(isSynced: false) { transaction, id in
            try importFile(file, into: id, onConflict: onConflict, in: transaction)
          }
        }
      }
    } catch {
      // Shards that were imported before the error are kept.
      try? database.sync()
      throw error
    }
    // Also when nothing changed: a process that died may have imported the files without syncing them.
    try database.sync()
    if report.missing.count == Shard.Index.all.count {
      throw SatchelError(.notFound, "\(shards.path): has none of the files 0.csv to f.csv")
    }
    return report
  }

  /// Writes the files 0.csv to f.csv and manifest.json into a directory; creates the directory if necessary.
  ///
  /// Each file is replaced atomically, and left alone when its content is already right. Unknown keys of an
  /// existing manifest are preserved.
  ///
  /// Two files are written at once, except inside a transaction. Memory: a few hundred KB.
  ///
  /// - Parameter path: nil for ".photolala" in the catalogue's directory
  /// - Throws: `.notFound` when the parent directory does not exist, `.readOnly`, `.full`, `.io`, `.closed`,
  ///   `.damaged`
  @discardableResult
  public func exportDirectory(_ path: String? = nil) throws -> ExportReport {
    let shards = try shards(path)
    let row = try read(otherwise: nil) { try CatalogueTable(connection: $0).row($1) }
    try shards.make()
    let name = row?.remoteUUID ?? row?.uuid ?? CatalogueTable.uuid()
    var manifest = (try? shards.manifest()) ?? Manifest(directoryUUID: name)
    manifest.directoryUUID = name
    manifest.lastModified = row?.modified ?? database.clock.now()
    var report = ExportReport()
    for (shard, file) in zip(Shard.Index.all, try writeAll(to: shards)) {
      report.add(shard.fileName, isNew: file.isNew)
      report.photos += file.written.photos
      manifest.setChecksum(file.written.checksum, of: shard)
    }
    manifest.photoCount = report.photos
    // Written last, so that it never names files that do not exist yet.
    let text = try manifest.serialized()
    let isNew = try shards.write(ShardDirectory.manifest) { sink in try text.withUnsafeBytes(sink) }.isNew
    report.add(ShardDirectory.manifest, isNew: isNew)
    try shards.sync()
    return report
  }

  /// Writes all shards, in any order; stops at the first error.
  private func writeAll(to shards: ShardDirectory) throws -> [(written: Written, isNew: Bool)] {
    let outcomes = Locked<[Shard.Index: Result<(Written, Bool), any Error>]>([:])
    let hasFailed = Locked(false)
    // Uncommitted changes of a transaction are visible only on its own thread.
    inParallel(Shard.Index.all, limit: database.isInTransaction ? 1 : 2) { shard in
      if hasFailed.withLock({ $0 }) { return }
      let outcome = Result { try shards.write(shard.fileName) { try self.write(shard, to: $0) } }
      if case .failure = outcome { hasFailed.withLock { $0 = true } }
      outcomes.withLock { $0[shard] = outcome.map { ($0.result, $0.isNew) } }
    }
    let done = outcomes.withLock { $0 }
    return try Shard.Index.all.compactMap { try done[$0]?.get() }
  }

  // MARK: Adding files

  private func records() throws -> [ShardRecord] {
    try read(otherwise: []) { try ShardTable(connection: $0, catalogue: $1).records() }
  }

  private func add(
    _ outcome: ShardFileLoader.Outcome, of shard: Shard.Index, to report: inout DirectoryReport,
    _ importing: (ShardFile) throws -> (report: ImportReport, isChanged: Bool)
  ) throws {
    switch outcome {
    case .missing: report.missing.append(shard)
    case .failed(let error):
      report.failed.append(ShardFailure(shard: shard, error: SatchelError(converting: error)))
    case .unchanged: report.photos += try record(shard)?.photos ?? 0
    case .read(let file, let bytes):
      let (imported, isChanged) = try withExtendedLifetime(bytes) { try importing(file) }
      report.photos += imported.photos
      report.conflicts += imported.conflicts
      if !imported.rejected.isEmpty { report.rejected[shard] = imported.rejected }
      if isChanged { report.changed.append(shard) }
    }
  }
}
