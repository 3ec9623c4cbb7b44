import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Keeps the collection also as one JSON file, which is replaced as a whole at each commit, for as long as this value
  /// is kept. Costs grow with the collection.
  ///
  /// A file that is there is compared first. It is written when it has nothing that the store lacks, as after a kill
  /// between a commit and the file; else neither side is changed, unless `prefer` says which wins. A file that this
  /// store wrote last and nobody has changed since never wins.
  ///
  /// A file that cannot follow a commit is told to observers as "@mirror_failed", one that was edited meanwhile, and is
  /// left alone, as "@mirror_edited"; with the file first, the write fails.
  ///
  /// - Parameter prefer: which side wins where both differ; nil refuses
  /// - Throws: `SatchelError` `.invalid` for a path that is none, for a file that differs or cannot be understood, and
  ///   in a transaction; `.io`, `.full`
  @discardableResult
  public func mirror(
    _ path: String, prefer: MirrorPreference? = nil, mode: MirrorMode = .storeFirst
  ) throws -> MirrorReport {
    guard !path.isEmpty, !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
      throw SatchelError(.invalid, "path: empty, of a directory, or holds a NUL")
    }
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "\(name): a mirror cannot be attached in a batch")
    }
    try database.prepare(MirrorSchema.subject)
    let mirror = RecordMirror(path: path, mode: mode, owner: ObjectIdentifier(self))
    var report = MirrorReport()
    let image = try MirrorImage.read(path)
    switch try decision(on: image, mirror) {
    case .write: break
    case .take(let file, let isWhole): report.imported = try take(file, isWhole: isWhole)
    case .refuse(let error, let file):
      switch (prefer, file) {
      case (.file, let file?): report.imported = try take(file, isWhole: false)
      case (.store, _): report.setAside = try MirrorFile.setAside(path, time: database.clock.now())
      default: throw error
      }
    }
    mirror.accept(report.setAside == nil ? image?.stamp : nil, image?.digest ?? "")
    do {
      try attach(mirror)
    } catch {
      if let setAside = report.setAside { MirrorFile.bringBack(setAside, to: path) }
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

  /// Follows the commits from now on, and brings the file up to date.
  private func attach(_ mirror: RecordMirror) throws {
    let before = (mirroring.withLock { $0 }, observation.withLock { $0 })
    mirroring.withLock { $0 = mirror }
    store.setMirror(mirror, of: id)
    do {
      let heard =
        mirror.mode == .storeFirst ? try database.observe { [weak self] change in self?.follow(change) } : nil
      observation.withLock { $0 = heard }
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
    guard change.subject == "records", let mirror = mirroring.withLock({ $0 }) else { return }
    let isMine = change.keys.contains { key in
      key == "*" || key.utf8.elementsEqual(name.utf8) || key.utf8.starts(with: (name + "/").utf8)
    }
    guard isMine else { return }
    do {
      try update(mirror)
    } catch is EditedMirror {
      database.tell(subject: "records", keys: ["@mirror_edited"])
    } catch {
      database.tell(subject: "records", keys: ["@mirror_failed"])
    }
  }

  /// What the collection and its mirror do not have alike.
  ///
  /// - Throws: `SatchelError` `.invalid` without a mirror, and for one that cannot be understood
  public func verifyMirror() throws -> [MirrorDifference] {
    let mirror = try kept()
    return try read { connection, row in
      let file =
        try MirrorFile.read(mirror.path, collection: name)
        ?? MirrorFile(collection: name, version: Int(row.version), records: [])
      return try MirrorFile.compare(store: RecordStore.mirrorRecords(connection, row), mirror: file)
    }
  }

  /// Makes the mirror anew from the collection, whatever the file has.
  ///
  /// - Returns: how many records differed; all of them when the file could not be understood
  @discardableResult
  public func rebuildMirror() throws -> Int {
    let mirror = try kept()
    let records = try read { try RecordStore.mirrorRecords($0, $1) }
    let old = try? MirrorFile.read(mirror.path, collection: name)
    let count = try old.map { try MirrorFile.compare(store: records, mirror: $0).count } ?? records.count
    try update(mirror, isForced: true)
    return count
  }

  /// Makes the collection anew from its mirror, in one transaction: records that the file lacks are deleted.
  ///
  /// - Returns: how many records differed
  /// - Throws: `SatchelError` `.notFound` without a file; `.invalid` for what the collection does not allow
  @discardableResult
  public func rebuildFromMirror() throws -> Int {
    let mirror = try kept()
    guard let file = try MirrorFile.read(mirror.path, collection: name) else {
      throw SatchelError(.notFound, "\(mirror.path): there is no mirror")
    }
    guard file.version == version else {
      throw SatchelError(
        file.version > version ? .newer : .invalid,
        "\(mirror.path): holds records of version \(file.version), not \(version)")
    }
    return try take(file, isWhole: true)
  }

  private func kept() throws -> RecordMirror {
    guard let mirror = mirroring.withLock({ $0 }) else {
      throw SatchelError(.invalid, "\(name): has no mirror")
    }
    return mirror
  }

  // MARK: Taking the file's records

  /// - Parameter isWhole: whether records that the file lacks are deleted
  /// - Returns: how many records were changed
  private func take(_ file: MirrorFile, isWhole: Bool) throws -> Int {
    try store.transaction { _ in
      try write { work, collection in
        try work.flush()
        guard let row = try CollectionRow.read(id, work.connection) else { return 0 }
        let differences = try MirrorFile.compare(
          store: RecordStore.mirrorRecords(work.connection, row), mirror: file
        ).filter { isWhole || $0.kind != .missingInFile }
        let wanted = Dictionary(file.records.map { (Array($0.id.utf8), $0) }, uniquingKeysWith: { $1 })
        for difference in differences {
          try take(wanted[Array(difference.id.utf8)], difference.id, work, collection)
        }
        return differences.count
      }
    }
  }

  /// Makes one record what the mirror has, or nothing.
  private func take(
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
