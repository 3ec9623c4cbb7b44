import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Mirrors the collection to a JSON file, which is replaced as a whole, for the lifetime of this object.
  ///
  /// With `.storeFirst`, a thread of the store writes the file once for commits in quick succession: when none
  /// came for half a second, and within about five seconds. `Store.flush()`, `Store.close()`, `verifyMirror()`
  /// and the end of this object complete it. With `.fileFirst`, each commit writes the file before, and takes
  /// time proportional to the size of the collection.
  ///
  /// An existing file is compared with the collection first. It is overwritten when the store has all of its
  /// records, or when this store wrote it last and it was not changed since, as after a kill between a commit
  /// and the write of the file. It is imported when the store has nothing that the file lacks, as when the
  /// collection is empty. Otherwise neither side is changed, unless `prefer` says which one wins.
  ///
  /// Observers are notified of "@mirror_failed" when the file cannot be written after a commit, and of
  /// "@mirror_edited" when it was changed meanwhile and is not overwritten; with `.fileFirst` the write fails
  /// instead.
  ///
  /// - Parameters:
  ///   - prefer: which side wins where both differ; nil throws instead
  ///   - format: of the file; a plain file keeps its layout
  /// - Throws: `SatchelError` `.invalid` for a collection with sensitive fields, for an invalid path, for a file
  ///   that differs or cannot be parsed, for a document that cannot hold the record's id, and in a
  ///   transaction; `.constraint` for records of the file that violate the collection's declaration; `.io`,
  ///   `.full`
  @discardableResult
  public func mirror(
    _ path: String, prefer: MirrorPreference? = nil, format: MirrorFormat = .plain(),
    mode: MirrorMode = .storeFirst
  ) throws -> MirrorReport {
    guard !path.isEmpty, !path.utf8.contains(0), path.utf8.last != UInt8(ascii: "/") else {
      throw SatchelError(.invalid, "path: must name a file, and not contain a NUL")
    }
    guard format != .plain(idMember: "") else {
      throw SatchelError(.invalid, "id_member: must not be empty")
    }
    guard !database.isInTransaction else {
      throw SatchelError(
        .invalid, "\(name): a mirror cannot be attached in a batch; attach it before or after")
    }
    guard try read({ try $1.rules }).sensitive.isEmpty else {
      throw RecordStore.noMirror(name)
    }
    try database.prepare(MirrorSchema.subject)
    let mirror = RecordMirror(path: path, format, mode, of: id, named: name, owner: ObjectIdentifier(self))
    var report = MirrorReport()
    let image = try MirrorImage.read(path)
    if let image { mirror.layout.withLock { $0 = MirrorLayout(of: image.bytes, format) } }
    try checkPlaces(mirror)
    switch (try decision(on: image, mirror), prefer) {
    case (.write, _): break
    case (.importFile(_, isWhole: false), .store), (.reject, .store):
      report.quarantinePath = try MirrorFile.quarantine(path, time: database.clock.now())
    case (.importFile(let file, let isWhole), _): report.imported = try apply(file, isWhole: isWhole)
    case (.reject(_, let file?), .file): report.imported = try apply(file, isWhole: false)
    case (.reject(let error, _), _): throw error
    }
    mirror.accept(report.quarantinePath == nil ? image?.stamp : nil, image?.digest ?? "")
    do {
      try attach(mirror)
    } catch {
      if let quarantine = report.quarantinePath { MirrorFile.moveBack(quarantine, to: path) }
      throw error
    }
    try writeRevisions(to: mirror, imported: report.imported)
    return report
  }

  /// Throws for a document that has another value where the mirror's layout has the id, before anything is
  /// imported.
  private func checkPlaces(_ mirror: RecordMirror) throws {
    let layout = mirror.layout.withLock { $0 }
    guard layout.idMember != nil else { return }
    _ = try read { connection, row in
      try MirrorFile(
        collection: name, version: version, previous: nil,
        records: RecordStore.mirrorRecords(connection, row),
        layout
      ).serialized()
    }
  }

  private func decision(on image: MirrorImage?, _ mirror: RecordMirror) throws -> MirrorDecision {
    try read { connection, row in
      try MirrorDecision(
        image, MirrorTable(connection: connection, collection: id, name: mirror.name).read(), mirror: mirror,
        collection: name, version: Int(row.version)
      ) { try RecordStore.mirrorRecords(connection, row) }
    }
  }

  /// Follows commits from now on, and brings the file up to date.
  private func attach(_ mirror: RecordMirror) throws {
    let before = mirroring.withLock { $0 }
    store.setMirror(mirror, of: id)
    do {
      // Before the file is written, so that no commit is missed.
      if mirror.mode == .storeFirst { try store.follow(mirror) }
      do {
        try store.updateMirror(mirror)
      } catch let edited as EditedMirror {
        throw edited.error
      }
    } catch {
      store.unfollow(mirror, completing: false)
      if let before {
        store.setMirror(before, of: id)
      } else {
        store.dropMirror(of: id, owner: ObjectIdentifier(self))
      }
      throw error
    }
    mirroring.withLock { $0 = mirror }
    if let before { store.unfollow(before, completing: before.path != mirror.path) }
  }

  /// Compares the collection with its mirror, and returns the differences.
  ///
  /// Later commits are written to the file first, unless another program has changed it.
  ///
  /// - Throws: `SatchelError` `.invalid` when no mirror is attached, and for a file that cannot be parsed
  public func verifyMirror() throws -> [MirrorDifference] {
    let mirror = try attachedMirror()
    // When the file cannot be written, the differences are returned.
    if mirror.mode == .storeFirst, !database.isInTransaction { try? store.completeMirror(mirror) }
    return try read { connection, row in
      let file =
        try read(mirror)
        ?? MirrorFile(collection: name, version: Int(row.version), records: [])
      return try MirrorFile.compare(store: RecordStore.mirrorRecords(connection, row), mirror: file)
    }
  }

  private func read(_ mirror: RecordMirror) throws -> MirrorFile? {
    try MirrorFile.read(mirror.path, as: mirror.format, collection: name, version: version)
  }

  /// Overwrites the mirror with the content of the collection.
  ///
  /// - Returns: the number of records that differed; all of them when the file could not be parsed
  @discardableResult
  public func rebuildMirror() throws -> Int {
    let mirror = try attachedMirror()
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "\(name): a mirror cannot be rebuilt in a batch; do it before or after")
    }
    let records = try read { try RecordStore.mirrorRecords($0, $1) }
    let old = try? read(mirror)
    let count = try old.map { try MirrorFile.compare(store: records, mirror: $0).count } ?? records.count
    try store.updateMirror(mirror, isForced: true)
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
    guard let file = try read(mirror) else {
      throw SatchelError(.notFound, "\(mirror.path): the mirror's file does not exist")
    }
    guard file.version == version else {
      throw SatchelError(
        file.version > version ? .newer : .invalid,
        "\(mirror.path): holds records of version \(file.version), not \(version)")
    }
    let count = try apply(file, isWhole: true)
    mirror.layout.withLock { $0 = file.layout }
    if !database.isInTransaction { try writeRevisions(to: mirror, imported: count) }
    return count
  }

  /// Writes the revisions of imported records to the file: a store never gives a revision twice, so that they may
  /// differ from those in the file.
  private func writeRevisions(to mirror: RecordMirror, imported count: Int) throws {
    if count > 0, mirror.format == .checksummed { try store.updateMirror(mirror, isForced: true) }
  }

  private func attachedMirror() throws -> RecordMirror {
    guard let mirror = mirroring.withLock({ $0 }) else {
      throw SatchelError(.invalid, "\(name): has no mirror; attach one first")
    }
    return mirror
  }

  // MARK: Importing the file's records

  /// Imports records in the order of the file.
  ///
  /// - Parameter isWhole: whether records that the file lacks are deleted
  /// - Returns: the number of records that were changed
  private func apply(_ file: MirrorFile, isWhole: Bool) throws -> Int {
    try transaction { work, collection in
      try work.flush()
      guard let row = try CollectionState.read(id, work.connection) else { return 0 }
      let records = try RecordStore.mirrorRecords(work.connection, row)
      let differences = try MirrorFile.compare(store: records, mirror: file)
      var (count, changed) = (0, [[UInt8]: MirrorDifference.Kind]())
      for difference in differences where isWhole || difference.kind != .missingInFile {
        count += 1
        guard difference.kind == .missingInFile else {
          changed[Array(difference.id.utf8)] = difference.kind
          continue
        }
        var key = difference.id
        _ = try key.withUTF8 { try work.delete(UnsafeRawBufferPointer($0), from: collection) }
      }
      // Documents without their ids stay so, where the file's layout has the ids in the documents.
      var bare: Set<[UInt8]> = []
      if let member = file.layout.idMember {
        for record in records where changed[Array(record.id.utf8)] == .differs {
          let hasID = try record.document.withUnsafeBytes { bytes in
            let tape = try JSONTape(bytes)
            return tape.value(of: member, in: tape.root) != nil
          }
          if !hasID { bare.insert(Array(record.id.utf8)) }
        }
      }
      for record in file.records where changed[Array(record.id.utf8)] != nil {
        try apply(
          record, without: bare.contains(Array(record.id.utf8)) ? file.layout.idMember : nil, work,
          in: collection)
      }
      return count
    }
  }

  /// Replaces one record by that of the mirror.
  ///
  /// - Parameter member: a member of the document that is not imported
  private func apply(
    _ record: MirrorRecord, without member: String?, _ work: RecordWork, in collection: CollectionState
  ) throws {
    var document = record.document
    if let member {
      document = try document.withUnsafeBytes { bytes in
        let tape = try JSONTape(bytes)
        var rest: [UInt8] = []
        if let found = tape.value(of: member, in: tape.root) {
          tape.copy(tape.root, without: found, to: &rest)
        }
        return rest
      }
    }
    var key = record.id
    try key.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      try RecordID.check(key, in: name)
      try document.withUnsafeBytes { document in
        try checkDocument(document, key)
        _ = try work.put(key, document, in: collection)
      }
      guard record.revision > 0 else { return }
      try work.setTimes(
        key, revision: record.revision, created: record.created, modified: record.modified, in: collection)
    }
  }
}
