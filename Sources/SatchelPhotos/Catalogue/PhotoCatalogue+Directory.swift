import SatchelStorage

extension PhotoCatalogue {
  /// Where a directory keeps its shards.
  private func shards(_ path: String?) throws -> ShardDirectory {
    ShardDirectory(path: try path.map { try DirectoryPath.normalized($0) } ?? directory + "/.photolala")
  }

  /// Imports the files 0.csv to f.csv of a directory; see `importShard`. Each shard is one transaction, and stands
  /// for itself: one whose file cannot be read is reported, and stays as it is, as does one without a file. Where a
  /// manifest.json stands beside them, a file that is not the one that it names is reported, and not imported: it may
  /// have been cut at a row, which nothing else shows. Files that
  /// did not change since they were imported are not read further. All are on the disk when this returns; a loss of
  /// power before may undo the latest.
  ///
  /// Files are read and checked on other threads. Memory: three of them, and 56 bytes for each of their photos.
  ///
  /// - Parameter path: nil for ".photolala" in the catalogue's directory
  /// - Throws: `.notFound` when there is no such file at all, `.invalid` or `.newer` for a manifest that cannot be read, `.full`, `.io`, `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func importDirectory(_ path: String? = nil, policy: SyncPolicy = .remoteWins) throws
    -> DirectoryReport
  {
    let shards = try shards(path)
    let manifest = try shards.manifest()
    var sources: [Shard.Index: String] = [:]
    for record in try records() where record.changes == 0 { sources[record.shard] = record.source }
    let intake = ShardIntake(shards, sources: sources, manifest: manifest)
    defer { intake.stop() }
    var report = DirectoryReport()
    report.hasManifest = manifest != nil
    do {
      for shard in Shard.Index.all { try add(intake.take(shard), of: shard, to: &report, policy) }
    } catch {
      // What is in by now stays.
      try? database.sync()
      throw error
    }
    // Also where nothing changed: whoever imported it may have ended before this.
    try database.sync()
    if report.missing.count == Shard.Index.all.count {
      throw SatchelError(.notFound, "\(shards.path): none of the files 0.csv to f.csv")
    }
    return report
  }

  /// Writes the files 0.csv to f.csv and manifest.json into a directory, in place of those that are there; makes the
  /// directory where there is none. Each file is whole at any time, and left alone when it is as it should be. What
  /// the manifest that is there says beside is kept.
  ///
  /// Two files are written at once, except inside a transaction. Memory: a few hundred KB.
  ///
  /// - Parameter path: nil for ".photolala" in the catalogue's directory
  /// - Throws: `.notFound` when the directory above does not exist, `.readOnly`, `.full`, `.io`, `.closed`, `.damaged`
  @discardableResult
  public func exportDirectory(_ path: String? = nil) throws -> ExportReport {
    let shards = try shards(path)
    let row = try read(otherwise: nil) { try CatalogueTable(connection: $0).row($1) }
    try shards.make()
    let name = row?.agreedUUID ?? row?.uuid ?? CatalogueTable.uuid()
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
    // Last, so that it never tells of files that are not there yet.
    let text = try manifest.serialized()
    let isNew = try shards.write(ShardDirectory.manifest) { sink in try text.withUnsafeBytes(sink) }.isNew
    report.add(ShardDirectory.manifest, isNew: isNew)
    try shards.sync()
    return report
  }

  /// Writes all shards, in any order; gives up with the first that cannot be written.
  private func writeAll(to shards: ShardDirectory) throws -> [(written: Written, isNew: Bool)] {
    let outcomes = Guarded<[Shard.Index: Result<(Written, Bool), any Error>]>([:])
    let hasFailed = Guarded(false)
    // What a transaction has changed so far is seen by its own thread.
    inParallel(Shard.Index.all, limit: database.isWriting ? 1 : 2) { shard in
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
    _ outcome: ShardIntake.Outcome, of shard: Shard.Index, to report: inout DirectoryReport,
    _ policy: SyncPolicy
  ) throws {
    switch outcome {
    case .missing: report.missing.append(shard)
    case .failed(let error):
      report.failed.append(ShardFailure(shard: shard, error: SyncRun.told(error)))
    case .unchanged: report.photos += try record(shard)?.base.photos ?? 0
    case .read(let file, let bytes):
      let (imported, isChanged) = try withExtendedLifetime(bytes) {
        try write(isSynced: false) { transaction, id in
          try importFile(file, into: id, policy: policy, in: transaction)
        }
      }
      report.photos += imported.photos
      report.conflicts += imported.conflicts
      if !imported.rejected.isEmpty { report.rejected[shard] = imported.rejected }
      if isChanged { report.changed.append(shard) }
    }
  }
}
