import CSQLite

/// What a file looks like before SQLite is let near it, so that nothing foreign is ever written to.
enum StoreFile {
  /// "Stch": stands in the header of every store (`application_id`).
  static let applicationID: Int64 = 0x5374_6368

  enum Condition: Equatable {
    case absent
    case empty
    case store
    case foreign(String)
    case damaged(String)
  }

  /// Another process may copy its log while this looks, and the size be of before, the header of after: only what looks
  /// damaged twice, and alike, is.
  static func examine(_ path: String) throws -> Condition {
    var found = try look(at: path)
    while case .damaged = found {
      let again = try look(at: path)
      if again == found { break }
      found = again
    }
    return found
  }

  private static func look(at path: String) throws -> Condition {
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
    try refuseSpecial(path, status)
    guard status.st_mode & S_IFMT == S_IFREG else { return .foreign("a directory") }
    if status.st_size == 0 { return .empty }
    // SQLite finds the WAL by the name of the database (https://sqlite.org/howtocorrupt.html, 2.4).
    guard status.st_nlink < 2 else {
      throw SatchelError(
        .invalid,
        "\(path): has \(status.st_nlink) hard links; a store that is opened by two names loses changes: copy it instead"
      )
    }
    let header = try DatabaseFile(path).read(min(100, Int(status.st_size)), at: 0)
    let magic = Array("SQLite format 3\u{0}".utf8)
    guard !header.isEmpty, header.starts(with: magic.prefix(header.count)) else {
      return .foreign("not a SQLite database")
    }
    guard header.count == 100 else { return .damaged("cut short inside its header") }
    return judge(header, size: Int64(status.st_size), hasLeftovers: hasLeftovers(path))
  }

  /// Throws for what is no file or directory: it is never read, written or renamed.
  static func refuseSpecial(_ path: String, _ status: stat) throws {
    let kind: String
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFDIR: return
    case S_IFIFO: kind = "a named pipe"
    case S_IFSOCK: kind = "a socket"
    case S_IFCHR, S_IFBLK: kind = "a device"
    default: kind = "of an unknown kind"
    }
    throw SatchelError(.invalid, "\(path): \(kind), not a file")
  }

  private static func judge(_ header: [UInt8], size: Int64, hasLeftovers: Bool) -> Condition {
    func number(_ offset: Int) -> Int64 { header[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) } }
    let stated = Int64(header[16]) << 8 | Int64(header[17])
    let pageSize = stated == 1 ? 65536 : stated
    let pages = number(28)
    // The page count in the header counts only when both change counters agree (SQLite file format, 1.3.7);
    // while there is a WAL or a journal, it may hold the pages that seem to be missing.
    let isValid = number(24) == number(92)
    if isValid, !hasLeftovers, pageSize > 0, size < pages * pageSize {
      return .damaged("cut short: \(size) bytes of \(pages * pageSize)")
    }
    return number(68) == applicationID ? .store : .foreign("a SQLite database that Satchel did not make")
  }

  /// Whether SQLite left a WAL with content beside the file.
  static func hasLog(_ path: String) -> Bool { hasContent(DatabaseFile.fullPath(of: path) + "-wal") }

  /// Whether SQLite left a WAL or a rollback journal with content beside the file.
  static func hasLeftovers(_ path: String) -> Bool {
    hasLog(path) || hasContent(DatabaseFile.fullPath(of: path) + "-journal")
  }

  private static func hasContent(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 0
  }

  /// The directory that holds the file at `path`.
  static func directory(of path: String) -> String {
    path.lastIndex(of: "/").map { path[..<$0].isEmpty ? "/" : String(path[..<$0]) } ?? "."
  }

  private static func directoryExists(of path: String) -> Bool {
    var status = stat()
    return stat(directory(of: path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// What SQLite appends to the name of a database, for its files.
  private static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// Renames a file and what SQLite keeps beside it, out of the way of a new store.
  ///
  /// - Returns: where the file went.
  static func setAside(_ path: String, time: Int64) throws -> String {
    var status = stat()
    if stat(path, &status) == 0 { try refuseSpecial(path, status) }
    let target = freeName(path, time: time)
    do {
      try move("", of: path, to: target)
      try renameCompanions(of: path, to: target)
    } catch {
      bringBack(target, to: path)
      throw error
    }
    return target
  }

  /// Copies what is sound in a WAL into its database, of which nobody has a connection: SQLite knows by checksums, and
  /// does it when this one closes. What cannot be read stays where it is.
  static func applyWAL(_ path: String) {
    guard hasLog(path),
      let connection = try? Connection(path: path, flags: SQLITE_OPEN_READWRITE, busyTimeout: 0)
    else { return }
    _ = try? connection.number("PRAGMA schema_version")
  }

  /// The name that a file gets that is set aside.
  static func freeName(_ path: String, time: Int64) -> String {
    var target = "\(path).set-aside-\(time)"
    var attempt = 1
    while access(target, F_OK) == 0 {
      attempt += 1
      target = "\(path).set-aside-\(time)-\(attempt)"
    }
    return target
  }

  /// Renames what SQLite keeps beside a database.
  static func renameCompanions(of path: String, to target: String) throws {
    for suffix in suffixes.dropFirst() { try move(suffix, of: path, to: target) }
  }

  private static func move(_ suffix: String, of path: String, to target: String) throws {
    guard access(path + suffix, F_OK) == 0, rename(path + suffix, target + suffix) != 0 else { return }
    throw SatchelError(.io, "\(path)\(suffix): cannot be set aside: \(String(cString: strerror(errno)))")
  }

  /// Undoes `setAside`, as far as that can be.
  static func bringBack(_ target: String, to path: String) {
    for suffix in suffixes where access(target + suffix, F_OK) == 0 {
      _ = rename(target + suffix, path + suffix)
    }
  }
}
