import CSQLite

/// A value to bind. Bytes are lent: they must live until the statement has run.
package enum Binding {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// UTF-8 that is bound without a copy.
  case textBytes(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)
}

/// A prepared statement of one connection; used by one thread at a time, as its connection is.
package final class Statement {
  private let handle: OpaquePointer
  private unowned let connection: Connection

  init(_ handle: OpaquePointer, connection: Connection) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  // SQLITE_TRANSIENT of the C header is a cast that Swift does not import.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

  package func bind(_ bindings: [Binding]) throws {
    for (index, binding) in bindings.enumerated() { try bind(binding, at: Int32(index + 1)) }
  }

  @inline(__always)
  package func bind(_ binding: Binding, at index: Int32) throws {
    let code: Int32
    switch binding {
    case .null: code = sqlite3_bind_null(handle, index)
    case .integer(let value): code = sqlite3_bind_int64(handle, index, value)
    case .real(let value): code = sqlite3_bind_double(handle, index, value)
    case .text(var text):
      code = text.withUTF8 {
        // An empty String may have no address, and a NULL address would bind NULL.
        $0.withMemoryRebound(to: CChar.self) {
          sqlite3_bind_text64(
            handle, index, $0.baseAddress ?? Self.nothing, UInt64($0.count), Self.copied, UInt8(SQLITE_UTF8))
        }
      }
    case .textBytes(let bytes):
      code = sqlite3_bind_text64(
        handle, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Self.nothing,
        UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
    case .blob(let bytes):
      code = sqlite3_bind_blob64(
        handle, index, bytes.baseAddress ?? UnsafeRawPointer(Self.nothing), UInt64(bytes.count), nil)
    }
    if code != SQLITE_OK { throw connection.error(code, "binding a value") }
  }

  /// Binds bytes that need not live on.
  func bindCopy(_ bytes: [UInt8], at index: Int32) throws {
    let code = bytes.withUnsafeBytes {
      sqlite3_bind_blob64(
        handle, index, $0.baseAddress ?? UnsafeRawPointer(Self.nothing), UInt64($0.count), Self.copied)
    }
    if code != SQLITE_OK { throw connection.error(code, "binding a value") }
  }

  // An address for empty texts; immutable and never freed.
  nonisolated(unsafe) private static let nothing: UnsafePointer<CChar> = {
    let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    byte.initialize(to: 0)
    return UnsafePointer(byte)
  }()

  /// Advances to the next row.
  ///
  /// - Returns: whether there is one.
  @inline(__always)
  package func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw connection.error(code, "running \(sql)")
    }
  }

  /// Ends the run, and lets go of what was bound: lent bytes must not be read again.
  package func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  private var sql: String {
    sqlite3_sql(handle).map { "“\(String(cString: $0).prefix(60))…”" } ?? "a statement"
  }

  // Columns of the current row. Bytes are valid until the statement steps on or is reset.

  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  package func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
  package func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

  package func textIfAny(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }
}
