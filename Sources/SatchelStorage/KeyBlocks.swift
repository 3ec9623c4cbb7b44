/// From hashes of 64 bits to rows: one sorted list, cut into blocks that are a row of a table each.
///
/// A row for each entry would cost a search from the table's root and a change of a page for each that is added; here
/// all that fall into a block are added at once, and finding one takes a search among whole numbers.
///
/// The table: `first INTEGER PRIMARY KEY, entries BLOB NOT NULL`. A block has the hashes from `first` up to the next
/// block's; its entries are hash and row, 8 bytes each, little-endian, ascending.
package struct KeyBlocks: Sendable {
  package typealias Entry = (hash: Int64, row: Int64)

  /// What is done to the table; constant texts, as its name cannot be bound.
  package struct Statements: Sendable {
    let find: StaticString
    let next: StaticString
    let put: StaticString
    let delete: StaticString
    let all: StaticString

    /// - Parameters:
    ///   - find: first and entries of the last block that begins at ?1 or before
    ///   - next: where the first block after ?1 begins
    ///   - put: writes a block, ?1 and ?2, in place of the one that begins there
    ///   - delete: takes the block away that begins at ?1
    ///   - all: first and entries of all blocks, in order
    package init(
      find: StaticString, next: StaticString, put: StaticString, delete: StaticString, all: StaticString
    ) {
      (self.find, self.next, self.put, self.delete, self.all) = (find, next, put, delete, all)
    }
  }

  /// Entries of a full block: two of them fill a page.
  static let most = 126
  /// Entries of the blocks that one which is too full is cut into: there is room for some more.
  private static let some = 96

  private let statements: Statements

  package init(_ statements: Statements) { self.statements = statements }

  // MARK: Reading

  /// Visits the rows of a hash until `visit` returns false.
  ///
  /// - Throws: `.damaged` for a block that is none
  package func rows(
    of hash: Int64, _ connection: Connection, visit: (_ row: Int64) throws -> Bool
  ) throws {
    let statement = try connection.prepared(statements.find)
    defer { statement.reset() }
    try statement.bind(.integer(hash), at: 1)
    guard try statement.step() else { return }
    let block = try KeyBlock(statement.bytes(1), connection)
    var index = block.firstIndex(of: hash)
    while index < block.count, block.hash(at: index) == hash {
      guard try visit(block.row(at: index)) else { return }
      index += 1
    }
  }

  /// Visits all entries, in order.
  ///
  /// - Parameter misplaced: called for an entry that does not stand where it would be found
  package func all(
    _ connection: Connection, visit: (Entry) throws -> Void, misplaced: (Entry) -> Void = { _ in }
  ) throws {
    var last: Entry?
    try connection.each(statements.all) { found in
      let (first, block) = (found.anyInteger(0), try KeyBlock(found.bytes(1), connection))
      for index in 0..<block.count {
        let entry = block.entry(at: index)
        if entry.hash < first || last.map({ $0 >= entry }) == true { misplaced(entry) }
        last = entry
        try visit(entry)
      }
    }
  }

  // MARK: Writing

  /// Adds entries; those that are there already stay.
  ///
  /// - Parameter entries: ascending
  package func add(_ entries: [Entry], _ connection: Connection) throws {
    var rest = entries[...]
    while let entry = rest.first {
      let end = try connection.first(statements.next, .integer(entry.hash)) { $0.anyInteger(0) }
      let behind = end.flatMap { end in rest.firstIndex { $0.hash >= end } } ?? rest.endIndex
      let found = try connection.first(statements.find, .integer(entry.hash)) {
        ($0.anyInteger(0), try KeyBlock($0.bytes(1), connection).merged(with: rest[..<behind]))
      }
      let (first, merged) = found ?? (.min, Array(rest[..<behind]))
      try write(merged, first, connection)
      rest = rest[behind...]
    }
  }

  /// Takes an entry out, if it is there.
  package func remove(_ entry: Entry, _ connection: Connection) throws {
    let found = try connection.first(statements.find, .integer(entry.hash)) { found in
      try KeyBlock(found.bytes(1), connection).bytes(without: entry).map { (found.anyInteger(0), $0) }
    }
    guard case (let first, let rest)?? = found else { return }
    if rest.isEmpty { return try connection.run(statements.delete, .integer(first)) }
    try rest.withUnsafeBytes { try connection.run(statements.put, .integer(first), .blob($0)) }
  }

  /// Writes what one block had, as several when it has become too much.
  private func write(_ entries: [Entry], _ first: Int64, _ connection: Connection) throws {
    let parts = entries.count <= Self.most ? 1 : (entries.count + Self.some - 1) / Self.some
    let size = (entries.count + parts - 1) / parts
    var (start, rest) = (first, entries[...])
    while !rest.isEmpty {
      var end = min(rest.startIndex + size, rest.endIndex)
      // Equal hashes stay together.
      while end < rest.endIndex, rest[end].hash == rest[end - 1].hash { end += 1 }
      try KeyBlock.bytes(of: rest[..<end]).withUnsafeBytes {
        try connection.run(statements.put, .integer(start), .blob($0))
      }
      rest = rest[end...]
      start = rest.first?.hash ?? start
    }
  }
}
