import SatchelCore
import SatchelJSON

/// Splits the SQL of migrations, constant texts of the library, into statements.
struct SQLReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  /// - Parameter sql: must outlive the reader and the statements
  init(_ sql: UnsafeRawBufferPointer) { bytes = sql }

  /// Returns the next statement, without surrounding comments and without its semicolon.
  mutating func next() -> UnsafeRawBufferPointer? {
    skipBlanks()
    let start = position
    let isTrigger = Self.text(bytes[from: start], begins: "CREATE TRIGGER")
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: ";")
      where !isTrigger || Self.text(bytes[from: max(start, position - 4)], begins: "\nEND"):
        position += 1
        return bytes[start, position - 1]
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        skip(through: bytes[position], after: position + 1)
      case UInt8(ascii: "-") where isComment:
        skip(through: UInt8(ascii: "\n"), after: position)
      default:
        position += 1
      }
    }
    // The last statement, without the blanks after it: a text may lack the semicolon.
    let end = bytes[start...].lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? start
    return end > start ? bytes[start, end] : nil
  }

  private var isComment: Bool { Self.text(bytes[from: position], begins: "--") }

  /// Moves past the next byte of a value, or to the end.
  private mutating func skip(through byte: UInt8, after start: Int) {
    let rest = bytes[from: start]
    let found = rest.baseAddress.flatMap { memchr($0, Int32(byte), rest.count) }
    position = found.map { UnsafeRawPointer($0) - bytes.baseAddress! + 1 } ?? bytes.count
  }

  private mutating func skipBlanks() {
    while position < bytes.count {
      if bytes[position] <= 0x20 {
        position += 1
      } else if isComment {
        skip(through: UInt8(ascii: "\n"), after: position)
      } else {
        return
      }
    }
  }

  /// The object that a statement creates.
  struct Made {
    let name: UnsafeRawBufferPointer
    /// The statement from the name on.
    let sql: UnsafeRawBufferPointer
    let isVirtual: Bool

    /// Whether it is a table of SQLite's R*Tree module; another virtual table is one of FTS5.
    var isRTree: Bool { isVirtual && SQLReader.text(sql[from: name.count], begins: " USING rtree") }

    /// The number of columns of a table of FTS5; its last argument is the tokenizer.
    var textColumns: Int { sql.count { $0 == UInt8(ascii: ",") } }
  }

  /// Returns the object that a statement creates; nil for another statement.
  static func made(by statement: UnsafeRawBufferPointer) -> Made? {
    guard let form = forms.first(where: { text(statement, begins: $0) }) else { return nil }
    var sql = statement[from: form.utf8CodeUnitCount]
    if text(sql, begins: ifNotThere) { sql = sql[from: ifNotThere.utf8CodeUnitCount] }
    let end = sql.firstIndex { $0 == UInt8(ascii: "(") || $0 <= 0x20 } ?? sql.count
    return Made(name: sql[0, end], sql: sql, isVirtual: text(statement, begins: virtualTable))
  }

  /// Whether a text is what is before the name in a statement that creates an object.
  static func isForm(_ bytes: UnsafeRawBufferPointer) -> Bool {
    forms.contains { form in
      guard text(bytes, begins: form) else { return false }
      let rest = bytes[from: form.utf8CodeUnitCount]
      return rest.isEmpty || rest.count == ifNotThere.utf8CodeUnitCount && text(rest, begins: ifNotThere)
    }
  }

  fileprivate static func text(_ bytes: UnsafeRawBufferPointer, begins prefix: StaticString) -> Bool {
    let count = prefix.utf8CodeUnitCount
    return bytes.count >= count
      && bytes[0, count].hasSameBytes(as: UnsafeRawBufferPointer(start: prefix.utf8Start, count: count))
  }

  private static var ifNotThere: StaticString { "IF NOT EXISTS " }
  private static var virtualTable: StaticString { "CREATE VIRTUAL TABLE " }
  private static let forms: [StaticString] = [
    "CREATE TABLE ", "CREATE INDEX ", "CREATE TRIGGER ", "CREATE UNIQUE INDEX ", "CREATE VIEW ", virtualTable,
  ]
}

extension UnsafeRawBufferPointer {
  fileprivate subscript(from start: Int) -> UnsafeRawBufferPointer { self[start, count] }

  fileprivate subscript(start: Int, end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[start..<end])
  }
}

/// Ensures that reading or changing rows in steps terminates in every store. In a damaged index, or one with
/// text that another program wrote as a blob, the rows after a key may begin before it, and the index may
/// refer to other rows of the table.
package enum RowOrder {
  /// - Throws: `.damaged` for a row that does not follow the last one
  package static func check(_ row: Int64, after last: Int64, of table: StaticString) throws {
    guard row > last else { throw damaged(table) }
  }

  /// - Throws: `.damaged` for a key that does not follow the last one in the order of bytes
  package static func check(_ key: String, after last: String, of table: StaticString) throws {
    guard last.utf8.lexicographicallyPrecedes(key.utf8) else { throw damaged(table) }
  }

  /// The error for rows that are in the wrong order in an index, or that differ from their index entries.
  package static func damaged(_ table: StaticString) -> SatchelError {
    SatchelError(.damaged, "\(table): an index and its rows differ")
  }
}
