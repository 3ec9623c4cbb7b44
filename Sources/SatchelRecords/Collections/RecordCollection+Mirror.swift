import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Mirrors the collection to a JSON file, which is replaced as a whole at each commit, for the lifetime of
  /// this object. Each commit costs time proportional to the size of the collection.
  ///
  /// An existing file is compared with the collection first. It is overwritten when it has nothing that the
  /// store lacks, as after a kill between a commit and the write of the file. Otherwise neither side is
  /// changed, unless `prefer` says which one wins. A file that this store wrote last, and that was not
  /// changed since, never wins.
  ///
  /// Observers are notified of "@mirror_failed" when the file cannot be written after a commit, and of
  /// "@mirror_edited" when it was changed meanwhile and is not overwritten; with `.fileFirst` the write fails
  /// instead.
  ///
  /// - Parameter prefer: which side wins where both differ; nil throws instead
  /// - Throws: `SatchelError` `.invalid` for a collection with sensitive fields, for an invalid path, for a file that differs or cannot be parsed,
  ///   and in a transaction; `.io`, `.full`
  @discardableResult
  public func mirror(
    _ path: String, prefer: MirrorPreference? = nil, mode: MirrorMode = .storeFirst
  ) throws -> MirrorReport {
    guard !path.isEmpty, !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
      throw SatchelError(.invalid, "path: must name a file, and not contain a NUL")
    }
    guard !database.isInTransaction else {
      throw SatchelError(
        .invalid, "\(name): a mirror cannot be attached in a batch; attach it before or after")
    }
    guard try read({ try store.shape(of: $1, $0) }).sensitive.isEmpty else {
      throw RecordStore.noMirror(name)
    }
    try database.prepare(MirrorSchema.subject)
    let mirror = RecordMirror(path: path, mode: mode, owner: ObjectIdentifier(self))
    var report = MirrorReport()
    let image = try MirrorImage.read(path)
    switch try decision(on: image, mirror) {
    case .write: break
    case .importFile(let file, let isWhole): report.imported = try apply(file, isWhole: isWhole)
    case .reject(let error, let file):
      switch (prefer, file) {
      case (.file, let file?): report.imported = try apply(file, isWhole: false)
      case (.store, _): report.quarantinePath = try MirrorFile.quarantine(path, time: database.clock.now())
      default: throw error
      }
    }
    mirror.accept(report.quarantinePath == nil ? image?.stamp : nil, image?.digest ?? "")
    do {
      try attach(mirror)
    } catch {
      if let quarantine = report.quarantinePath { MirrorFile.moveBack(quarantine, to: path) }
      throw error
    }
    return report
  }

  private func decision(on image: MirrorImage?, _ mirror: RecordMirror) throws -> MirrorDecision {
    try read { connection, row in
      try MirrorDecision(
        image, MirrorTable(connection: connection, collection: id, name: mirror.name).read(), mirror,
        collection: name, version: Int(row.version)
      ) { try RecordStore.mirrorRecords(connection, row) }
    }
  }

  /// Observes commits from now on, and brings the file up to date.
  private func attach(_ mirror: RecordMirror) throws {
    let before = (mirroring.withLock { $0 }, observation.withLock { $0 })
    mirroring.withLock { $0 = mirror }
    store.setMirror(mirror, of: id)
    do {
      let subscription =
        mirror.mode == .storeFirst ? try database.observe { [weak self] change in self?.follow(change) } : nil
      observation.withLock { $0 = subscription }
      do {
        try update(mirror)
      } catch let edited as EditedMirror {
        throw edited.error
      }
    } catch {
      mirroring.withLock { $0 = before.0 }
      observation.withLock { $0 = before.1 }
      if let mirror = before.0 {
        store.setMirror(mirror, of: id)
      } else {
        store.dropMirror(of: id, owner: ObjectIdentifier(self))
      }
      throw error
    }
  }

  private func follow(_ change: Change) {
    guard change.concerns(collection: name), let mirror = mirroring.withLock({ $0 }) else { return }
    do {
      try update(mirror)
    } catch is EditedMirror {
      database.notify(.mirrorEdited, of: .records)
    } catch {
      database.notify(.mirrorFailed, of: .records)
    }
  }

  /// Compares the collection with its mirror, and returns the differences.
  ///
  /// - Throws: `SatchelError` `.invalid` when no mirror is attached, and for a file that cannot be parsed
  public func verifyMirror() throws -> [MirrorDifference] {
    let mirror = try attachedMirror()
    return try read { connection, row in
      let file =
        try MirrorFile.read(mirror.path, collection: name)
        ?? MirrorFile(collection: name, version: Int(row.version), records: [])
      return try MirrorFile.compare(store: RecordStore.mirrorRecords(connection, row), mirror: file)
    }
  }

  /// Overwrites the mirror with the content of the collection, whatever the file has.
  ///
  /// - Returns: the number of records that differed; all of them when the file could not be parsed
  @discardableResult
  public func rebuildMirror() throws -> Int {
    let mirror = try attachedMirror()
    let records = try read { try RecordStore.mirrorRecords($0, $1) }
    let old = try? MirrorFile.read(mirror.path, collection: name)
    let count = try old.map { try MirrorFile.compare(store: records, mirror: $0).count } ?? records.count
    try update(mirror, isForced: true)
    return count
  }

  /// Replaces the content of the collection by that of its mirror, in one transaction: records that the file
  /// lacks are deleted.
  ///
  /// - Returns: the number of records that differed
  /// - Throws: `SatchelError` `.notFound` without a file; `.invalid` for a file that cannot be parsed or has
  ///   an older version of the documents, `.newer` for one that has a newer version; `.constraint` for
  ///   records that violate the collection's declaration
  @discardableResult
  public func rebuildFromMirror() throws -> Int {
    let mirror = try attachedMirror()
    guard let file = try MirrorFile.read(mirror.path, collection: name) else {
      throw SatchelError(.notFound, "\(mirror.path): the mirror's file does not exist")
    }
    guard file.version == version else {
      throw SatchelError(
        file.version > version ? .newer : .invalid,
        "\(mirror.path): holds records of version \(file.version), not \(version)")
    }
    return try apply(file, isWhole: true)
  }

  private func attachedMirror() throws -> RecordMirror {
    guard let mirror = mirroring.withLock({ $0 }) else {
      throw SatchelError(.invalid, "\(name): has no mirror; attach one first")
    }
    return mirror
  }

  // MARK: Importing the file's records

  /// - Parameter isWhole: whether records that the file lacks are deleted
  /// - Returns: the number of records that were changed
  private func apply(_ file: MirrorFile, isWhole: Bool) throws -> Int {
    try store.transaction { _ in
      try write { work, collection in
        try work.flush()
        guard let row = try CollectionRow.read(id, work.connection) else { return 0 }
        let differences = try MirrorFile.compare(
          store: RecordStore.mirrorRecords(work.connection, row), mirror: file
        ).filter { isWhole || $0.kind != .missingInFile }
        let wanted = Dictionary(file.records.map { (Array($0.id.utf8), $0) }, uniquingKeysWith: { $1 })
        for difference in differences {
          try apply(wanted[Array(difference.id.utf8)], difference.id, work, collection)
        }
        return differences.count
      }
    }
  }

  /// Replaces one record by that of the mirror, or deletes it when the mirror has none.
  private func apply(
    _ record: MirrorRecord?, _ key: String, _ work: RecordWork, _ collection: WorkingCollection
  ) throws {
    var key = key
    try key.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      guard let record else {
        _ = try work.delete(key, from: collection)
        return
      }
      try RecordID.check(key, in: name)
      try record.document.withUnsafeBytes { document in
        try checkDocument(document, key)
        _ = try work.put(key, document, in: collection)
      }
      try work.setTimes(
        key, revision: record.revision, created: record.created, modified: record.modified, in: collection)
    }
  }
}
