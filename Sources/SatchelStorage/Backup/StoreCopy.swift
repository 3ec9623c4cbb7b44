import CSQLite
import SatchelCore

/// Copies a consistent snapshot of a database to a new file, which is renamed to its final name only after a
/// check.
struct StoreCopy {
  /// The number of pages between two progress reports: 1 MB.
  private static let step: Int32 = 256
  let target: String
  var vfsName: String?
  var calls = FileCalls.system
  /// Called with the copied pages, and once more during the check of the copy.
  var progress: BackupProgress

  /// Copies the snapshot of `source`, which must be inside a read transaction, so that all steps copy the
  /// same snapshot.
  ///
  /// - Parameter beforeRename: runs when the copy is complete, before it is renamed
  /// - Returns: the numbers of pages and bytes
  func make(from source: Connection, mode: mode_t, beforeRename: () throws -> Void) throws -> (
    pages: Int, bytes: Int64
  ) {
    let file = try AtomicFile(
      replacing: target, mode: mode, followsLinks: true, contention: .fail, calls: calls)
    let part = DatabaseFileNames(file.partPath)
    do {
      let pages = try copy(source, into: part.database)
      try examine(part.database, pages: pages)
      // They are empty; SQLite may have failed to delete them.
      part.removeCompanions()
      let held = try DatabaseFile(part.database, isWritable: true)
      defer { withExtendedLifetime(held) {} }
      let bytes = try held.size
      // `commit` ends by closing a descriptor of the file, which drops the locks of all connections that this
      // process has to it; the file has its final name by then. Until then, no connection gets a lock.
      guard try held.lock() else {
        throw SatchelError(.busy, "\(part.database): another program has locked the copy")
      }
      try file.commit(beforeRename: beforeRename)
      return (pages, bytes)
    } catch {
      part.removeCompanions()
      throw error
    }
  }

  private func copy(_ source: Connection, into part: String) throws -> Int {
    let copy = try Connection(
      path: part, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0, vfsName: vfsName, isDefensive: false)
    // An incomplete copy is worthless, and a complete one is synced at once.
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
    // A store in memory has no WAL; a file needs one.
    guard try copy.number("PRAGMA application_id") == StoreFile.applicationID else {
      throw SatchelError(.foreign, "\(source.path): is not a store")
    }
    try copy.execute("PRAGMA journal_mode = WAL")
    return total
  }

  private var cancelled: SatchelError { SatchelError(.cancelled, "\(target): cancelled by the caller") }

  /// Checks the copy. A copy of damaged pages is discarded, and an earlier backup is kept.
  private func examine(_ part: String, pages: Int) throws {
    let copy = try Connection(
      path: part, flags: SQLITE_OPEN_READONLY, busyTimeout: 0, isImmutable: true, vfsName: vfsName)
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
    throw SatchelError(.damaged, "\(target): the source is damaged: \(finding)")
  }

  /// Whether SQLite's check reports a read error, which it reports like any other finding.
  private static func isAboutDisk(_ finding: String) -> Bool {
    func text(after marker: String) -> Substring? {
      finding.indices.first { finding[$0...].hasPrefix(marker) }.map {
        finding[$0...].dropFirst(marker.count)
      }
    }
    // This message, about the pointer map, has no error code.
    if text(after: "Failed to read ptrmap") != nil { return true }
    guard let digits = text(after: "error code=")?.prefix(while: \.isNumber) else { return false }
    return Int32(digits).map { $0 & 0xFF == SQLITE_IOERR } ?? false
  }
}

/// A closure in an object, which can be passed through C.
private final class InterruptCheck {
  let ask: () -> Bool
  init(_ ask: @escaping () -> Bool) { self.ask = ask }
}

extension Connection {
  /// Runs `body`, and interrupts SQLite in it when `isOver` returns true; it is called many times a second.
  func interrupting<Result>(when isOver: () -> Bool, _ body: () throws -> Result) throws -> Result {
    try withoutActuallyEscaping(isOver) { isOver in
      let check = InterruptCheck(isOver)
      sqlite3_progress_handler(
        handle, 100_000,
        { context in
          guard let context else { return 0 }
          return Unmanaged<InterruptCheck>.fromOpaque(context).takeUnretainedValue().ask() ? 1 : 0
        }, Unmanaged.passUnretained(check).toOpaque())
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      return try withExtendedLifetime(check, body)
    }
  }
}
