import SatchelCore
import SatchelJSON
import SatchelStorage

/// Thrown when a mirror's file has content that its store lacks, and is not overwritten.
struct EditedMirror: Error {
  var error: SatchelError
}

extension RecordStore {
  /// Brings a mirror's file up to date. Must not run in a transaction of the thread.
  ///
  /// - Parameter isForced: whether the file is overwritten in any case
  /// - Throws: `EditedMirror`; `SatchelError`
  func updateMirror(_ mirror: RecordMirror, isForced: Bool = false) throws {
    if mirror.mode == .fileFirst, !database.options.isReadOnly {
      // In a transaction, because commits write the file themselves.
      return try transaction { transaction in
        try work(in: transaction).flush()
        try writeMirror(mirror, in: transaction.connection, isForced: isForced)
      }
    }
    try mirror.rewriteLock.withLock {
      // Locked before the collection is read: otherwise another process could write an older one afterwards.
      let file = try AtomicFile(replacing: mirror.path, followsLinks: true, calls: calls)
      var commit: Int64 = 0
      let rewrite = try database.read { connection -> MirrorRewrite? in
        commit = try ChangeLog.newest(connection)
        return try CollectionState.read(mirror.collection, connection).flatMap {
          try MirrorRewrite(mirror, $0, connection: connection, isForced: isForced)
        }
      }
      if let rewrite {
        if rewrite.needsHistoryWrite, !database.options.isReadOnly {
          // Stored before the file is written: a process that dies between both leaves one of two files that
          // the store knows.
          try database.write(isSynced: false) {
            try MirrorTable(connection: $0.connection, collection: mirror.collection, name: mirror.name)
              .write(rewrite.history)
          }
        }
        try rewrite.perform(mirror, file, calls: calls)
      }
      mirror.noteWritten(commit)
    }
  }

  /// Writes the file if it may be older than the last commit.
  ///
  /// - Throws: as `updateMirror`
  func completeMirror(_ mirror: RecordMirror) throws {
    let newest = try database.read { try ChangeLog.newest($0) }
    if !mirror.isWritten(newest) { try updateMirror(mirror) }
  }

  /// Writes a mirror's file as part of a transaction.
  ///
  /// - Parameter isCommitting: whether the transaction changes the collection, and can still fail
  func writeMirror(
    _ mirror: RecordMirror, in connection: Connection, isForced: Bool = false, isCommitting: Bool = false
  ) throws {
    guard let row = try CollectionState.read(mirror.collection, connection),
      let rewrite = try MirrorRewrite(
        mirror, row, connection: connection, isForced: isForced, isCommitting: isCommitting)
    else { return }
    try MirrorTable(connection: connection, collection: mirror.collection, name: mirror.name)
      .write(rewrite.history)
    try rewrite.perform(
      mirror, AtomicFile(replacing: mirror.path, followsLinks: true, calls: calls), calls: calls)
  }

  /// A mirror would have sensitive fields in plain text.
  static func noMirror(_ name: String) -> SatchelError {
    SatchelError(.invalid, "\(name): has sensitive fields, which a mirror's file would have in plain text")
  }

  /// Returns all records of a collection in the form of a mirror.
  static func mirrorRecords(_ connection: Connection, _ row: CollectionState) throws -> [MirrorRecord] {
    var records: [MirrorRecord] = []
    try RecordFetch(connection, row).all { candidate in
      if candidate.isSealed { throw noMirror(row.name) }
      records.append(
        MirrorRecord(
          id: String(decoding: candidate.key, as: UTF8.self), revision: candidate.revision,
          created: candidate.created, modified: candidate.modified, document: Array(candidate.body)))
      return true
    }
    return records
  }
}

/// The text to write to a mirror's file.
struct MirrorRewrite {
  private let text: [UInt8]
  private let replacedDigest: String?
  /// The note for a plain file that is written before its commit.
  private let note: MirrorCommit?
  /// The digests that the store has to record before the file is written.
  let history: MirrorHistory
  /// Whether the store has not recorded them yet.
  let needsHistoryWrite: Bool

  /// - Returns: nil when the file is up to date
  /// - Throws: `EditedMirror` for a file that has content that the store lacks
  init?(
    _ mirror: RecordMirror, _ row: CollectionState, connection: Connection, isForced: Bool,
    isCommitting: Bool = false
  ) throws {
    let records = try RecordStore.mirrorRecords(connection, row)
    let known = try MirrorTable(connection: connection, collection: row.id, name: mirror.name).read()
    replacedDigest = try Self.digestOfReplacedFile(
      mirror, known, row: row, records: records, isForced: isForced)
    let layout = mirror.layout.withLock { $0 }
    func text(previous: String?) throws -> [UInt8] {
      let file = MirrorFile(
        collection: row.name, version: Int(row.version), previous: previous, records: records, layout)
      let text = try file.serialized()
      guard text.count <= MirrorFile.maximumSize else {
        throw SatchelError(
          .invalid,
          "\(mirror.path): the collection \(row.name) is too large: a mirror has at most "
            + "\(MirrorFile.maximumSize) bytes"
        ).at(.collection(row.name)).at(limit: MirrorFile.maximumSize)
      }
      return text
    }
    let state = try text(previous: nil)
    let stateDigest = SHA256.digest(state).hexadecimal
    let hasPrevious = isCommitting && layout == .checksummed
    self.text = hasPrevious ? try text(previous: known.last) : state
    let digest = hasPrevious ? SHA256.digest(self.text).hexadecimal : stateDigest
    note =
      isCommitting && !hasPrevious && digest != replacedDigest
      ? known.last.map { MirrorCommit(file: digest, previous: $0) } : nil
    history = MirrorHistory(last: digest, before: replacedDigest, state: stateDigest)
    needsHistoryWrite = known.last != digest
    if replacedDigest == digest {
      mirror.accept(.now(mirror.path), digest)
      if !needsHistoryWrite { return nil }
    }
  }

  /// - Parameter file: replaces the mirror's file
  func perform(_ mirror: RecordMirror, _ file: consuming AtomicFile, calls: FileCalls) throws {
    if replacedDigest != history.last {
      try note?.write(of: mirror.path, calls)
      do {
        try MirrorFile.write(text, to: file)
      } catch {
        // When only the sync of the directory failed, the file is the new one, and was not written by another
        // program.
        if let digest = history.last, (try? MirrorImage.read(mirror.path))?.digest == digest {
          mirror.accept(.now(mirror.path), digest)
        }
        throw error
      }
    }
    mirror.accept(.now(mirror.path), history.last ?? "")
  }

  /// Returns the digest of the file that will be replaced; nil when it does not exist.
  private static func digestOfReplacedFile(
    _ mirror: RecordMirror, _ history: MirrorHistory, row: CollectionState, records: [MirrorRecord],
    isForced: Bool
  ) throws -> String? {
    if let known = mirror.acceptedDigest() { return known }
    guard let image = try MirrorImage.read(mirror.path) else { return nil }
    if isForced { return image.digest }
    let decision = try MirrorDecision(
      image, history, mirror: mirror, collection: row.name, version: Int(row.version), records: { records })
    switch decision {
    case .write: break
    case .reject(let error, _): throw EditedMirror(error: error)
    case .importFile:
      throw EditedMirror(
        error: SatchelError(.invalid, "\(mirror.path): has records that the collection \(row.name) lacks"))
    }
    return image.digest
  }
}

extension MirrorFile {
  /// Renames the file of a mirror, in the same directory. A symbolic link to it stays.
  ///
  /// - Returns: its new path
  static func quarantine(_ path: String, time: Int64) throws -> String {
    let path = try DiskFile.resolvingLinks(path)
    guard var attempt = try contents(of: path).map({ _ in 1 }) else {
      throw SatchelError(.notFound, "\(path): the file was removed meanwhile")
    }
    while attempt <= 1000 {
      let target = "\(path).quarantine-\(time)" + (attempt == 1 ? "" : "-\(attempt)")
      // A hard link first: it does not replace an existing file.
      if link(path, target) == 0 {
        guard unlink(path) == 0 else { throw SatchelError(errno: errno, path) }
        return target
      }
      let code = errno
      guard code == EEXIST else {
        // Some file systems do not support hard links.
        guard access(target, F_OK) != 0, rename(path, target) == 0 else {
          throw SatchelError(errno: code, target)
        }
        return target
      }
      attempt += 1
    }
    throw SatchelError(
      .io, "\(path): cannot be moved aside: files with all of its 1000 names exist; remove some")
  }

  /// Reverts `quarantine`, unless another file was created meanwhile.
  static func moveBack(_ target: String, to path: String) {
    guard access(path, F_OK) != 0, let resolved = try? DiskFile.resolvingLinks(path) else { return }
    _ = rename(target, resolved)
  }
}
