import CSQLite
import SatchelCore

/// A value to bind. Bytes are not copied: they must stay valid until the statement has run.
package enum Binding {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// UTF-8 bytes, bound without a copy.
  case textBytes(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)

  /// NULL for nil.
  package init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }

  /// NULL for nil.
  package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

/// A prepared statement of one connection; one thread uses it at a time.
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
            handle, index, $0.baseAddress ?? Self.emptyAddress, UInt64($0.count), Self.copied,
            UInt8(SQLITE_UTF8))
        }
      }
    case .textBytes(let bytes):
      code = sqlite3_bind_text64(
        handle, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Self.emptyAddress,
        UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
    case .blob(let bytes):
      code = sqlite3_bind_blob64(
        handle, index, bytes.baseAddress ?? UnsafeRawPointer(Self.emptyAddress), UInt64(bytes.count), nil)
    }
    if code != SQLITE_OK { throw connection.error(code, "binding a value") }
  }

  /// Binds a copy of the bytes.
  func bindCopy(_ bytes: [UInt8], at index: Int32) throws {
    let code = bytes.withUnsafeBytes {
      sqlite3_bind_blob64(
        handle, index, $0.baseAddress ?? UnsafeRawPointer(Self.emptyAddress), UInt64($0.count), Self.copied)
    }
    if code != SQLITE_OK { throw connection.error(code, "binding a value") }
  }

  // An address for empty strings; immutable and never freed.
  nonisolated(unsafe) private static let emptyAddress: UnsafePointer<CChar> = {
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
    case let code: throw failure(code)
    }
  }

  /// Resets the statement and its bindings, whose bytes must not be read again.
  package func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  private var sql: String {
    sqlite3_sql(handle).map { "“\(String(cString: $0).prefix(60))…”" } ?? "a statement"
  }

  // Columns of the current row. Bytes are valid until the statement steps on or is reset.

  /// Returns an integer within `range`, by default small enough that sums and small multiples of it cannot
  /// overflow.
  ///
  /// - Throws: `.damaged`, with the table, the column and the row, for an integer outside `range`
  @inline(__always)
  package func integer(_ column: Int32, in range: ClosedRange<Int64> = StoredRange.usual) throws -> Int64 {
    let value = sqlite3_column_int64(handle, column)
    if value >= range.lowerBound, value <= range.upperBound { return value }
    throw outOfRange(column, value, range: range)
  }

  /// Returns an unchecked integer, which the caller may only store, compare or look up: no arithmetic, no
  /// sizes.
  @inline(__always)
  package func anyInteger(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// Returns a Boolean, stored as 0 or 1.
  package func flag(_ column: Int32) -> Bool { sqlite3_column_int64(handle, column) != 0 }

  package func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
  /// Returns the storage class: SQLITE_INTEGER, SQLITE_TEXT, …
  func type(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }
  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
  package func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

  package func integerIfAny(_ column: Int32, in range: ClosedRange<Int64> = StoredRange.usual) throws
    -> Int64?
  {
    isNull(column) ? nil : try integer(column, in: range)
  }

  package func textIfAny(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  // MARK: Damage

  @inline(never)
  private func failure(_ code: Int32) -> SatchelError {
    var error = connection.error(code, "running \(sql)")
    // The SQL is constant and the bindings were checked: an overflowing sum, a duplicate row or malformed
    // JSON comes from the file.
    if [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(code & 0xFF), error.code == .internal {
      error.code = .damaged
    }
    return error
  }

  @inline(never)
  private func outOfRange(_ column: Int32, _ value: Int64, range: ClosedRange<Int64>) -> SatchelError {
    damage(column, "\(value) is outside \(range.lowerBound)...\(range.upperBound)")
  }

  /// Returns the error for an invalid value of the current row.
  package func damage(_ column: Int32, _ reason: String) -> SatchelError {
    SatchelError(.damaged, "\(connection.path): \(location(column)): \(reason)")
  }

  /// Returns the table, column and row of a value of the current row, as far as they are known.
  private func location(_ column: Int32) -> String {
    let name = satchel_column_origin(handle, column) ?? sqlite3_column_name(handle, column)
    guard let name else { return sql }
    guard let table = satchel_column_table(handle, column) else {
      return "\(String(cString: name)) of \(sql)"
    }
    var location = "\(String(cString: table)).\(String(cString: name))"
    // The row's number or name, where the query reads it too.
    for other in 0..<sqlite3_column_count(handle) where other != column {
      guard let origin = satchel_column_origin(handle, other),
        let owner = satchel_column_table(handle, other),
        strcmp(owner, table) == 0
      else { continue }
      let key = String(cString: origin)
      if ["id", "name", "key", "entity_id", "revision", "first", "block"].contains(key) {
        return location + " of \(key) \(text(other).prefix(60))"
      }
    }
    if sqlite3_column_count(handle) == 1 { location += " in \(sql)" }
    return location
  }
}

/// Valid ranges of a store's integers: the file is not trusted, and a number from it must not overflow
/// anything.
package enum StoredRange {
  /// The default: sums of hundreds of such integers, and small multiples of them, fit into 64 bits.
  @inline(__always) package static var usual: ClosedRange<Int64> { -(1 << 53)...1 << 53 }
  /// Counters.
  @inline(__always) package static var count: ClosedRange<Int64> { 0...1 << 53 }
  /// The numbers of counted rows that a recovery keeps: no store reaches the upper bound, and the next ones are in range.
  package static var counted: ClosedRange<Int64> { 0...1 << 52 }
  /// Sizes of strings and blobs in bytes: the maximum of SQLite.
  @inline(__always) package static var length: ClosedRange<Int64> { 0...1 << 31 }
  /// Unix milliseconds and durations: see `StoreClock.latest`.
  @inline(__always) package static var time: ClosedRange<Int64> { 0...1 << 53 }
  /// Hashes, random numbers and the host's numbers, with which nothing is computed.
  @inline(__always) package static var any: ClosedRange<Int64> { .min ... .max }
  @inline(__always) package static var flag: ClosedRange<Int64> { 0...1 }
}

/// The way in which a stored time that is ahead of the clock is stamped, see `Stamping`.
package enum StoredTime: Sendable, Equatable {
  /// It becomes now.
  case stamp
  /// It becomes now plus the duration in another column.
  case expiry(timeToLive: String)
  /// A lower bound of expiries: it becomes now where it is later.
  case earliestExpiry
  /// The times of a group's rows never decrease: it becomes now, or the time of the previous row if that is later.
  case ordered(group: String, number: String)
  /// It stays: a time of a file, of the host or of content, which the store's clock did not give.
  case kept
}

/// The rules for the values of tables, by "table.column"; integers that are not named are in
/// `StoredRange.usual`.
package struct StoredRules: Sendable {
  package var bounds: [String: ClosedRange<Int64>]
  /// Columns that contain JSON.
  package var documents: Set<String>
  /// All columns that contain times.
  package var times: [String: StoredTime]

  package init(
    bounds: [String: ClosedRange<Int64>] = [:], documents: Set<String> = [], times: [String: StoredTime] = [:]
  ) {
    self.bounds = bounds
    self.documents = documents
    self.times = times
  }

  package func merging(_ other: StoredRules) -> StoredRules {
    StoredRules(
      bounds: bounds.merging(other.bounds) { one, _ in one }, documents: documents.union(other.documents),
      times: times.merging(other.times) { one, _ in one })
  }
}
