import SatchelJSON
import SatchelStorage

/// A mirror's file has something that its store lacks, and is left alone.
struct EditedMirror: Error {
  var error: SatchelError
}

extension RecordCollection {
  /// Brings a mirror's file up to date.
  ///
  /// - Parameter isForced: whether it is written whatever it has
  /// - Throws: `EditedMirror`; `SatchelError`
  func update(_ mirror: RecordMirror, isForced: Bool = false) throws {
    if mirror.mode == .fileFirst, !database.options.isReadOnly {
      // Takes turns with commits, which write the file themselves.
      return try store.transaction { _ in
        try write { work, _ in
          try work.flush()
          try store.writeMirror(mirror, of: id, in: work.connection, isForced: isForced)
        }
      }
    }
    try mirror.turn.withLock {
      // Before the state is read: another process may not write an older one afterwards.
      let part = try PartFile(replacing: mirror.path)
      guard
        let rewrite = try read({ connection, row in
          try MirrorRewrite(mirror, row, connection, isForced: isForced)
        })
      else { return }
      if rewrite.isNews, !database.options.isReadOnly {
        // Before the file: a process that dies between both leaves one of two files that the store knows.
        try database.write(isSynced: false) {
          try MirrorTable(connection: $0.connection, collection: id, name: mirror.name).write(rewrite.memory)
        }
      }
      try rewrite.perform(mirror, part)
    }
  }
}

extension RecordStore {
  /// Writes a mirror's file as a part of a transaction.
  ///
  /// - Parameter isCommitting: whether the transaction changes the collection, and can still fail
  func writeMirror(
    _ mirror: RecordMirror, of collection: Int64, in connection: Connection, isForced: Bool = false,
    isCommitting: Bool = false
  ) throws {
    guard let row = try CollectionRow.read(collection, connection),
      let rewrite = try MirrorRewrite(
        mirror, row, connection, isForced: isForced, isCommitting: isCommitting)
    else { return }
    try MirrorTable(connection: connection, collection: collection, name: mirror.name).write(rewrite.memory)
    try rewrite.perform(mirror, PartFile(replacing: mirror.path))
  }

  /// All of a collection, as a mirror holds it.
  static func mirrorRecords(_ connection: Connection, _ row: CollectionRow) throws -> [MirrorRecord] {
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

/// What is to be written to a mirror's file.
struct MirrorRewrite {
  private let text: [UInt8]
  private let inPlace: String?
  /// What the store has to remember before the file is written.
  let memory: MirrorMemory
  /// Whether it does not remember that yet.
  let isNews: Bool

  /// - Returns: nil when the file is as it has to be
  /// - Throws: `EditedMirror` for a file that has something of its own
  init?(
    _ mirror: RecordMirror, _ row: CollectionRow, _ connection: Connection, isForced: Bool,
    isCommitting: Bool = false
  ) throws {
    let records = try RecordStore.mirrorRecords(connection, row)
    let known = try MirrorTable(connection: connection, collection: row.id, name: mirror.name).read()
    inPlace = try Self.replaced(mirror, known, row, records, isForced: isForced)
    let file = MirrorFile(collection: row.name, version: Int(row.version), records: records)
    let state = try file.serialized()
    let stateDigest = SHA256.digest(state).hexadecimal
    if isCommitting {
      text = try MirrorFile(
        collection: row.name, version: Int(row.version), previous: known.last, records: records
      ).serialized()
    } else {
      text = state
    }
    let digest = isCommitting ? SHA256.digest(text).hexadecimal : stateDigest
    memory = MirrorMemory(last: digest, before: inPlace, state: stateDigest)
    isNews = known.last != digest
    if inPlace == digest {
      mirror.accept(.now(mirror.path), digest)
      if !isNews { return nil }
    }
  }

  /// - Parameter part: takes the place of the file
  func perform(_ mirror: RecordMirror, _ part: consuming PartFile) throws {
    if inPlace != memory.last { try MirrorFile.write(text, part, to: mirror.path) }
    mirror.accept(.now(mirror.path), memory.last ?? "")
  }

  /// The digest of the file that will be replaced; nil when there is none.
  private static func replaced(
    _ mirror: RecordMirror, _ memory: MirrorMemory, _ row: CollectionRow, _ records: [MirrorRecord],
    isForced: Bool
  ) throws -> String? {
    if let known = mirror.acceptedDigest() { return known }
    guard let image = try MirrorImage.read(mirror.path) else { return nil }
    let decision = try MirrorDecision(
      image, memory, mirror, collection: row.name, version: Int(row.version), records: { records })
    switch decision {
    case _ where isForced: break
    case .write: break
    case .refuse(let error, _): throw EditedMirror(error: error)
    case .take:
      throw EditedMirror(
        error: SatchelError(.invalid, "\(mirror.path): has records that the collection \(row.name) lacks"))
    }
    return image.digest
  }
}

extension MirrorFile {
  /// Gives the file of a mirror another name beside it.
  ///
  /// - Returns: its new path
  static func setAside(_ path: String, time: Int64) throws -> String {
    guard var attempt = try contents(of: path).map({ _ in 1 }) else {
      throw SatchelError(.notFound, "\(path): is gone")
    }
    while attempt <= 1000 {
      let target = "\(path).set-aside-\(time)" + (attempt == 1 ? "" : "-\(attempt)")
      // A second name first: it replaces no other file.
      if link(path, target) == 0 {
        guard unlink(path) == 0 else { throw SatchelError(errno: errno, path) }
        return target
      }
      let code = errno
      guard code == EEXIST else {
        // Some file systems have one name for each file.
        guard access(target, F_OK) != 0, rename(path, target) == 0 else {
          throw SatchelError(errno: code, target)
        }
        return target
      }
      attempt += 1
    }
    throw SatchelError(.io, "\(path): cannot be moved aside: its names are taken")
  }

  /// Undoes `setAside`, as far as that can be.
  static func bringBack(_ target: String, to path: String) {
    if access(path, F_OK) != 0 { _ = rename(target, path) }
  }
}
