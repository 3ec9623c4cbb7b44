import CSQLite

/// Copies one consistent state of a database into a new file, which takes its name only once it is proven sound.
struct StoreCopy {
  /// Pages between two looks at the progress: 1 MB.
  private static let step: Int32 = 256
  /// What is being written stands beside its final place under this name.
  static let partSuffix = ".part"

  let target: String
  var fileSystem: String?
  /// Hears of the copied pages, and once more when the copy has been examined.
  var progress: BackupProgress

  /// Copies what `source` sees. It must be inside a transaction that reads, so that no step sees another state.
  ///
  /// - Parameter place: runs when the copy is ready, before it takes its name
  /// - Returns: pages and bytes
  func make(from source: Connection, mode: mode_t, place: () throws -> Void) throws -> (
    pages: Int, bytes: Int64
  ) {
    let part = target + Self.partSuffix
    let file = try DiskFile(part, O_RDWR | O_CREAT | O_NOFOLLOW, mode: mode)
    // Whoever held the lock may have given the file its final name: then it is no longer ours to write.
    guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0, try file.isAtPath else {
      throw SatchelError(.busy, "\(part): another copy to this place is under way")
    }
    do {
      // A crash may have left some of an earlier one.
      try file.truncate(to: 0)
      let pages = try copy(source, into: part)
      try examine(part, pages: pages)
      // Nothing is in them; SQLite may have failed to remove them.
      for suffix in ["-journal", "-wal", "-shm"] { unlink(part + suffix) }
      try file.sync()
      let bytes = Int64(try file.status().st_size)
      try place()
      guard rename(part, target) == 0 else { throw SatchelError(errno: errno, target) }
      try DiskFile.syncDirectory(of: target)
      return (pages, bytes)
    } catch {
      for suffix in ["", "-journal", "-wal", "-shm"] { unlink(part + suffix) }
      throw error
    }
  }

  private func copy(_ source: Connection, into part: String) throws -> Int {
    let copy = try Connection(
      path: part, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0, fileSystem: fileSystem, isDefensive: false)
    // Until it is whole it is worth nothing, and afterwards it is synced at once.
    try copy.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    guard let backup = sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
      throw copy.error(sqlite3_errcode(copy.handle), "copying")
    }
    var code = SQLITE_OK
    var total = 0
    while code == SQLITE_OK {
      code = sqlite3_backup_step(backup, Self.step)
      total = Int(sqlite3_backup_pagecount(backup))
      guard code == SQLITE_OK || code == SQLITE_DONE else { break }
      if !progress(total - Int(sqlite3_backup_remaining(backup)), total) { code = SQLITE_INTERRUPT }
    }
    let end = sqlite3_backup_finish(backup)
    if code == SQLITE_INTERRUPT { throw cancelled }
    guard code == SQLITE_DONE, end == SQLITE_OK else {
      throw copy.error(code == SQLITE_DONE ? end : code, "copying")
    }
    // A store in memory has no log; as a file it needs one.
    guard try copy.number("PRAGMA application_id") == StoreFile.applicationID else {
      throw SatchelError(.foreign, "\(source.path): not a store")
    }
    try copy.execute("PRAGMA journal_mode = WAL")
    return total
  }

  private var cancelled: SatchelError { SatchelError(.cancelled, "\(target): cancelled by the caller") }

  /// A copy of damaged pages would be damaged: better none, and the earlier one kept.
  private func examine(_ part: String, pages: Int) throws {
    let copy = try Connection(
      path: part, flags: SQLITE_OPEN_READONLY, busyTimeout: 0, isImmutable: true, fileSystem: fileSystem)
    var findings: [String] = []
    do {
      try copy.interrupting(when: { !progress(pages, pages) }) {
        try copy.each("PRAGMA quick_check(1)") { findings.append($0.text(0)) }
      }
    } catch let error as SatchelError where error.code == .cancelled {
      throw cancelled
    }
    guard findings != ["ok"] else { return }
    let finding = findings.first ?? "no answer"
    guard !Self.isAboutDisk(finding) else {
      throw SatchelError(.io, "\(target): the copy cannot be read: \(finding)")
    }
    throw SatchelError(.damaged, "\(target): what was to be copied is damaged: \(finding)")
  }

  /// SQLite's examination tells a disk that cannot be read like any other finding.
  private static func isAboutDisk(_ finding: String) -> Bool {
    func text(behind mark: String) -> Substring? {
      finding.indices.first { finding[$0...].hasPrefix(mark) }.map { finding[$0...].dropFirst(mark.count) }
    }
    // Of a page of the pointer map it does not even tell the number.
    if text(behind: "Failed to read ptrmap") != nil { return true }
    guard let digits = text(behind: "error code=")?.prefix(while: \.isNumber) else { return false }
    return Int32(digits).map { $0 & 0xFF == SQLITE_IOERR } ?? false
  }
}

/// A question that can be handed through C.
private final class Question {
  let ask: () -> Bool
  init(_ ask: @escaping () -> Bool) { self.ask = ask }
}

extension Connection {
  /// Runs `body`, and interrupts what SQLite does in it when `isOver` says so; asked many times a second.
  func interrupting<Result>(when isOver: () -> Bool, _ body: () throws -> Result) throws -> Result {
    try withoutActuallyEscaping(isOver) { isOver in
      let question = Question(isOver)
      sqlite3_progress_handler(
        handle, 100_000,
        { context in
          guard let context else { return 0 }
          return Unmanaged<Question>.fromOpaque(context).takeUnretainedValue().ask() ? 1 : 0
        }, Unmanaged.passUnretained(question).toOpaque())
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      return try withExtendedLifetime(question, body)
    }
  }
}
