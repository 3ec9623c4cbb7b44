import SatchelCore

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
