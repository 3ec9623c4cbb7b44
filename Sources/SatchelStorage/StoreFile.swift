import CSQLite
import SatchelCore

/// Examines a file before SQLite opens it, so that foreign files are never written to.
enum StoreFile {
  /// "Stch": the application id in the header of every store.
  static let applicationID: Int64 = 0x5374_6368

  enum Condition: Equatable {
    case absent
    case empty
    case store
    case foreign(String)
    case damaged(String)
  }

  /// Examines the file at `path`. It is reported as damaged only when two examinations agree: a checkpoint of
  /// another process may run during the first one, which then sees an old size with a new header.
  static func examine(_ path: String) throws -> Condition {
    var found = try inspect(at: path)
    while case .damaged = found {
      let again = try inspect(at: path)
      if again == found { break }
      found = again
    }
    return found
  }

  private static func inspect(at path: String) throws -> Condition {
    var status = stat()
    guard stat(path, &status) == 0 else {
      let code = errno
      if code == ENOENT {
        guard directoryExists(of: path) else {
          throw SatchelError(.notFound, "\(path): its directory does not exist")
        }
        return .absent
      }
      throw SatchelError(.io, "\(path): \(String(cString: strerror(code)))")
    }
    try DiskFile.refuseSpecial(path, status)
    guard status.st_mode & S_IFMT == S_IFREG else { return .foreign("a directory") }
    if status.st_size == 0 { return .empty }
    // SQLite derives the WAL's name from the database's name (https://sqlite.org/howtocorrupt.html, 2.4).
    guard status.st_nlink < 2 else {
      throw SatchelError(
        .invalid,
        "\(path): has \(status.st_nlink) hard links; a store with two names loses changes; copy it instead of linking it"
      )
    }
    let header = try DatabaseFile(path).read(min(100, Int(status.st_size)), at: 0)
    let magic = Array("SQLite format 3\u{0}".utf8)
    guard !header.isEmpty, header.starts(with: magic.prefix(header.count)) else {
      return .foreign("not a SQLite database")
    }
    guard header.count == 100 else { return .damaged("truncated inside its header") }
    return classify(header, size: Int64(status.st_size), hasWALOrJournal: hasWALOrJournal(path))
  }

  private static func classify(_ header: [UInt8], size: Int64, hasWALOrJournal: Bool) -> Condition {
    func number(_ offset: Int) -> Int64 { header[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) } }
    let stated = Int64(header[16]) << 8 | Int64(header[17])
    let pageSize = stated == 1 ? 65536 : stated
    let pages = number(28)
    // The header's page count is valid only when both change counters agree (SQLite file format, 1.3.7). A
    // WAL or a rollback journal may contain the missing pages.
    let isValid = number(24) == number(92)
    if isValid, !hasWALOrJournal, pageSize > 0, size < pages * pageSize {
      return .damaged("truncated: \(size) bytes of \(pages * pageSize)")
    }
    return number(68) == applicationID ? .store : .foreign("a SQLite database that Satchel did not create")
  }

  /// Whether the file has a WAL with content.
  static func hasWAL(_ path: String) -> Bool { hasContent(DatabaseFileNames(resolving: path).wal) }

  /// Whether the file has a WAL or a rollback journal with content.
  static func hasWALOrJournal(_ path: String) -> Bool {
    hasWAL(path) || hasContent(DatabaseFileNames(resolving: path).journal)
  }

  private static func hasContent(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 0
  }

  private static func directoryExists(of path: String) -> Bool {
    var status = stat()
    return stat(DiskFile.directory(of: path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Renames a file, and SQLite's other files of it, to a free quarantine name.
  ///
  /// - Returns: the new path
  static func quarantine(_ path: String, time: Int64) throws -> String {
    try DiskFile.refuseSpecial(path)
    let target = freeName(path, time: time)
    do {
      // First: a new store at the path would take its files for ones that no row names.
      try move(DatabaseFileNames(path).assets, to: DatabaseFileNames(target).assets)
      try move(path, to: target)
      try renameCompanions(of: path, to: target)
    } catch {
      undoQuarantine(target, to: path)
      throw error
    }
    return target
  }

  /// Checkpoints a WAL into its database, which no connection has open. SQLite verifies the checksums of the
  /// frames, and checkpoints when the connection closes. A WAL that cannot be applied stays where it is.
  static func applyWAL(_ path: String) {
    guard hasWAL(path),
      let connection = try? Connection(
        path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0), (try? connection.lockAtPath()) == true
    else { return }
    _ = try? connection.number("PRAGMA schema_version")
  }

  /// Returns a free name for a quarantined file.
  static func freeName(_ path: String, time: Int64) -> String {
    var target = "\(path).quarantine-\(time)"
    var attempt = 1
    while access(target, F_OK) == 0 {
      attempt += 1
      target = "\(path).quarantine-\(time)-\(attempt)"
    }
    return target
  }

  /// Renames SQLite's other files of a database.
  static func renameCompanions(of path: String, to target: String) throws {
    for (from, to) in zip(DatabaseFileNames(path).companions, DatabaseFileNames(target).companions) {
      try move(from, to: to)
    }
  }

  private static func move(_ path: String, to target: String) throws {
    guard access(path, F_OK) == 0, rename(path, target) != 0 else { return }
    throw SatchelError(
      .io, "\(path): cannot be renamed for quarantine: \(String(cString: strerror(errno)))")
  }

  /// Reverts `quarantine` as far as possible.
  static func undoQuarantine(_ target: String, to path: String) {
    let (moved, original) = (DatabaseFileNames(target), DatabaseFileNames(path))
    for (from, to) in zip(moved.all + [moved.assets], original.all + [original.assets])
    where access(from, F_OK) == 0 {
      _ = rename(from, to)
    }
  }
}
