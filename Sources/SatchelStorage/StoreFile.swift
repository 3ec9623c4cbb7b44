/// What a file looks like before SQLite is let near it, so that nothing foreign is ever written to.
enum StoreFile {
  /// "Stch": stands in the header of every store (`application_id`).
  static let applicationID: Int64 = 0x5374_6368

  enum Condition: Equatable {
    case absent
    case empty
    case store
    /// A database without tables and without an owner: a store whose making was cut short.
    case unclaimed
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
    guard status.st_mode & S_IFMT == S_IFREG else { return .foreign("not a regular file") }
    if status.st_size == 0 { return .empty }
    let header = try DatabaseFile(path).read(min(100, Int(status.st_size)), at: 0)
    let magic = Array("SQLite format 3\u{0}".utf8)
    guard !header.isEmpty, header.starts(with: magic.prefix(header.count)) else {
      return .foreign("not a SQLite database")
    }
    guard header.count == 100 else { return .damaged("cut short inside its header") }
    return judge(header, size: Int64(status.st_size), hasLog: hasLog(path))
  }

  private static func judge(_ header: [UInt8], size: Int64, hasLog: Bool) -> Condition {
    func number(_ offset: Int) -> Int64 { header[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) } }
    let stated = Int64(header[16]) << 8 | Int64(header[17])
    let pageSize = stated == 1 ? 65536 : stated
    let pages = number(28)
    // The page count in the header counts only when both change counters agree (SQLite file format, 1.3.7);
    // while there is a log, it may hold the pages that seem to be missing.
    let isValid = number(24) == number(92)
    if isValid, !hasLog, pageSize > 0, size < pages * pageSize {
      return .damaged("cut short: \(size) bytes of \(pages * pageSize)")
    }
    let owner = number(68)
    if owner == applicationID { return .store }
    // Our first page, before it says whose it is: ready for incremental vacuum (52), without schema (40) or
    // version (60). A log beside it would be another program's.
    let isFirstPage = size == pageSize && number(52) > 0 && number(40) == 0 && number(60) == 0 && !hasLog
    return owner == 0 && isFirstPage ? .unclaimed : .foreign("a SQLite database that Satchel did not make")
  }

  /// Whether SQLite left a log with content beside the file.
  static func hasLog(_ path: String) -> Bool {
    var status = stat()
    return stat(path + "-wal", &status) == 0 && status.st_size > 0
  }

  /// The directory that holds the file at `path`.
  static func directory(of path: String) -> String {
    path.lastIndex(of: "/").map { path[..<$0].isEmpty ? "/" : String(path[..<$0]) } ?? "."
  }

  private static func directoryExists(of path: String) -> Bool {
    var status = stat()
    return stat(directory(of: path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Renames a file and what SQLite keeps beside it, out of the way of a new store.
  ///
  /// - Returns: where the file went.
  static func setAside(_ path: String, time: Int64) throws -> String {
    var target = "\(path).set-aside-\(time)"
    var attempt = 1
    while access(target, F_OK) == 0 {
      attempt += 1
      target = "\(path).set-aside-\(time)-\(attempt)"
    }
    for suffix in ["", "-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
      guard rename(path + suffix, target + suffix) == 0 else {
        let reason = String(cString: strerror(errno))
        bringBack(target, to: path)
        throw SatchelError(.io, "\(path)\(suffix): cannot be set aside: \(reason)")
      }
    }
    return target
  }

  /// Undoes `setAside`, as far as that can be.
  static func bringBack(_ target: String, to path: String) {
    for suffix in ["", "-wal", "-shm"] where access(target + suffix, F_OK) == 0 {
      _ = rename(target + suffix, path + suffix)
    }
  }
}
