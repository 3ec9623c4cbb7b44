import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// Keeps the collection also as one JSON file, which is replaced as a whole at each commit, for as long as this value
  /// is kept. Costs grow with the collection.
  ///
  /// A file that cannot follow a commit is told to observers as "@mirror_failed"; with the file first, the write
  /// fails.
  ///
  /// - Throws: `SatchelError` `.invalid` for a path that is none, and a file that cannot be understood; `.io`, `.full`
  public func mirror(_ path: String, mode: MirrorMode = .storeFirst) throws {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SatchelError(.invalid, "path: empty, or holds a NUL")
    }
    let mirror = RecordMirror(path: path, mode: mode, owner: ObjectIdentifier(self))
    let file = try MirrorFile.read(path, collection: name)
    if mode == .fileFirst, file != nil { _ = try rebuild(from: mirror) } else { _ = try write(to: mirror) }
    store.setMirror(mirror, of: id)
    mirroring.withLock { $0 = mirror }
    guard mode == .storeFirst else { return observation.withLock { $0 = nil } }
    let heard = try database.observe { [weak self] change in self?.follow(change) }
    observation.withLock { $0 = heard }
  }

  private func follow(_ change: Change) {
    guard change.subject == "records", let mirror = mirroring.withLock({ $0 }) else { return }
    let isMine = change.keys.contains { key in
      key == "*" || key.utf8.elementsEqual(name.utf8) || key.utf8.starts(with: (name + "/").utf8)
    }
    guard isMine else { return }
    do {
      _ = try write(to: mirror)
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
      let file = try MirrorFile.read(mirror.path, collection: name) ?? empty(row)
      return try MirrorFile.compare(store: store.mirrorRecords(connection, row), mirror: file)
    }
  }

  /// Makes the mirror anew from the collection.
  ///
  /// - Returns: how many records differed; all of them when the file could not be understood
  @discardableResult
  public func rebuildMirror() throws -> Int { try write(to: try kept(), counting: true) }

  /// Makes the collection anew from its mirror, in one transaction.
  ///
  /// - Returns: how many records differed
  /// - Throws: `SatchelError` `.notFound` without a file; `.invalid` for what the collection does not allow
  @discardableResult
  public func rebuildFromMirror() throws -> Int { try rebuild(from: try kept()) }

  private func kept() throws -> RecordMirror {
    guard let mirror = mirroring.withLock({ $0 }) else {
      throw SatchelError(.invalid, "\(name): has no mirror")
    }
    return mirror
  }

  private func empty(_ row: CollectionRow) -> MirrorFile {
    MirrorFile(collection: name, version: Int(row.version), records: [])
  }

  private func write(to mirror: RecordMirror, counting: Bool = false) throws -> Int {
    let (records, version) = try read { (try store.mirrorRecords($0, $1), Int($1.version)) }
    var count = 0
    if counting {
      let old = try? MirrorFile.read(mirror.path, collection: name)
      count = try old.map { try MirrorFile.compare(store: records, mirror: $0).count } ?? records.count
    }
    try MirrorFile(collection: name, version: version, records: records).write(to: mirror.path)
    return count
  }

  private func rebuild(from mirror: RecordMirror) throws -> Int {
    guard let file = try MirrorFile.read(mirror.path, collection: name) else {
      throw SatchelError(.notFound, "\(mirror.path): there is no mirror")
    }
    guard file.version == version else {
      throw SatchelError(
        file.version > version ? .newer : .invalid,
        "\(mirror.path): holds records of version \(file.version), not \(version)")
    }
    return try store.transaction { _ in
      try write { work, collection in
        try work.flush()
        guard let row = try CollectionRow.read(id, work.connection) else { return 0 }
        let differences = try MirrorFile.compare(
          store: store.mirrorRecords(work.connection, row), mirror: file)
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

extension RecordStore {
  /// All of a collection, as a mirror holds it.
  func mirrorRecords(_ connection: Connection, _ row: CollectionRow) throws -> [MirrorRecord] {
    var records: [MirrorRecord] = []
    try RecordFetch(connection, row).all { candidate in
      records.append(
        MirrorRecord(
          id: String(decoding: candidate.key, as: UTF8.self), revision: candidate.revision,
          created: candidate.created, modified: candidate.modified, document: Array(candidate.body)))
      return true
    }
    return records
  }
}
