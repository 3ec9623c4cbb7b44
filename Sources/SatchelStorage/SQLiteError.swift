import CSQLite

extension SatchelError {
  /// What SQLite said, in the words of the header.
  init(sqlite code: Int32, on handle: OpaquePointer?, doing what: String) {
    let text = handle.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    var reason = text.map { String(cString: $0) } ?? "error \(code)"
    // SQLite's text is the same for a missing directory and for too many open files; the system knows.
    let number = handle.map(sqlite3_system_errno) ?? 0
    let isOfSystem = code & 0xFF == SQLITE_CANTOPEN || code & 0xFF == SQLITE_IOERR
    if isOfSystem, number != 0 { reason += ": \(String(cString: strerror(number)))" }
    self.init(Self.code(of: code), "\(what): \(reason) (SQLite \(code))")
  }

  private static func code(of sqlite: Int32) -> Code {
    switch sqlite & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    // StoreFile has seen whose file it is before SQLite was let near it: what SQLite then cannot read is ours.
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
    case SQLITE_FULL: .full
    case SQLITE_READONLY, SQLITE_PERM: .readOnly
    case SQLITE_IOERR, SQLITE_CANTOPEN: .io
    case SQLITE_NOMEM: .noMemory
    case SQLITE_INTERRUPT: .cancelled
    case SQLITE_TOOBIG: .invalid
    default: .internal
    }
  }
}
