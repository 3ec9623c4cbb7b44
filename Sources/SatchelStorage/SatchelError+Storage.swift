import CSQLite
import SatchelCore
import SatchelJSON

extension SatchelError {
  /// Creates an error from a SQLite result code.
  init(sqlite code: Int32, on handle: OpaquePointer?, doing operation: String) {
    let text = handle.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    var reason = text.map { String(cString: $0) } ?? "error \(code)"
    // SQLite's message is the same for a missing directory and for too many open files; `errno` distinguishes
    // them.
    let number = handle.map(sqlite3_system_errno) ?? 0
    let isOfSystem = code & 0xFF == SQLITE_CANTOPEN || code & 0xFF == SQLITE_IOERR
    if isOfSystem, number != 0 { reason += ": \(String(cString: strerror(number)))" }
    // SQLite tells a full disk from other failures only where it writes.
    let isFull = isOfSystem && (number == ENOSPC || number == EDQUOT)
    self.init(
      isFull ? .full : Self.code(of: code, reason), "\(operation): \(reason) (SQLite \(code))")
  }

  private static func code(of sqlite: Int32, _ reason: String) -> Code {
    switch sqlite & 0xFF {
    // A header that SQLite does not write.
    case SQLITE_ERROR where reason == "unsupported file format": .damaged
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    // StoreFile has identified the file as a store before: content that SQLite cannot read is damaged.
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

extension JSONError: LocatedError {
  package var details: SatchelError.Details {
    SatchelError.Details(
      pointer: pointer, line: position?.line, column: position?.column, limit: limit.map(Int64.init))
  }
}

extension SatchelError.Details {
  /// The members that apply.
  public var json: JSONValue {
    var members = JSONObject()
    let texts =
      [
        "subject": subject, "collection": collection, "id": id, "pointer": pointer,
        "other_collection": otherCollection, "other_id": otherID,
      ] as KeyValuePairs
    for (name, text) in texts { members[name] = text.map { .string($0) } }
    members["line"] = line.map { .int(Int64($0)) }
    members["column"] = column.map { .int(Int64($0)) }
    members["limit"] = limit.map { .int($0) }
    return .object(members)
  }
}

extension SatchelError {
  /// Creates the error for an argument `name` that is not JSON, or not the expected JSON.
  package init(_ error: JSONError, in name: String) {
    self.init(.invalid, "\(name): \(error)", underlying: error)
  }
}

/// Runs `body`, and adds the argument's name to its JSON errors.
package func naming<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as JSONError {
    throw SatchelError(error, in: name)
  }
}

/// Runs `body`, and adds details to its errors.
package func locating<Result>(
  _ details: @autoclosure () -> SatchelError.Details, _ body: () throws -> Result
) throws -> Result {
  do {
    return try body()
  } catch let error as SatchelError {
    throw error.at(details())
  }
}

extension SatchelError {
  /// Whether a quick retry may succeed.
  var isTransient: Bool { (code == .busy || code == .io) && !isBlockedByBatch }

  /// Whether the write waited for another batch of this process.
  package var isBlockedByBatch: Bool { underlying is BatchIsOpen }

  /// Whether the store cannot accept any change at present, as opposed to rejecting this change.
  package var isAboutStore: Bool {
    switch code {
    case .busy, .io, .full, .readOnly, .damaged: true
    default: false
    }
  }

  /// Whether an error is about the store, or cancels the call, rather than about one of the things that are fetched.
  package var endsFetching: Bool {
    switch code {
    case .cancelled, .closed, .readOnly, .busy, .noMemory: true
    case .full: details.limit == nil
    default: false
    }
  }

  /// Whether the change will fail every time it is tried.
  package var isRejection: Bool {
    switch code {
    case .invalid, .notFound, .foreign, .conflict, .constraint, .unauthorized, .internal: true
    default: false
    }
  }
}
