import SatchelCore

/// A sorted list of 64-bit hashes and their rows, cut into blocks, each of which is a row of a table.
///
/// A table row for each entry would cost a search from the table's root and a changed page for each added
/// entry; here all entries of a block are added at once, and a look-up is a binary search among integers.
///
/// The table: `first INTEGER PRIMARY KEY, entries BLOB NOT NULL`. A block has the hashes from `first` up to
/// the next block's; its entries are hash and row, 8 bytes each, little-endian, ascending.
package struct KeyBlocks: Sendable {
  package typealias Entry = (hash: Int64, row: Int64)

  /// The statements for the table; constant, since its name cannot be bound.
  package struct Statements: Sendable {
    let find: StaticString
    let next: StaticString
    let put: StaticString
    let delete: StaticString
    let all: StaticString

    /// Creates the statements.
    ///
    /// - Parameters:
    ///   - find: selects first and entries of the last block that begins at ?1 or before
    ///   - next: selects the beginning of the first block after ?1
    ///   - put: writes the block with first ?1 and entries ?2, replacing any that begins there
    ///   - delete: deletes the block that begins at ?1
    ///   - all: selects first and entries of all blocks, in order
    package init(
      find: StaticString, next: StaticString, put: StaticString, delete: StaticString, all: StaticString
    ) {
      (self.find, self.next, self.put, self.delete, self.all) = (find, next, put, delete, all)
    }
  }

  /// The maximum number of entries in a block: two full blocks fill a page.
  static let maxEntries = 126
  /// The number of entries in each part of a split block, which leaves room for more.
  private static let splitEntries = 96

  private let statements: Statements

  package init(_ statements: Statements) { self.statements = statements }

  // MARK: Reading

  /// Visits the rows of a hash until `visit` returns false.
  ///
  /// - Throws: `.damaged` for a malformed block
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
  /// - Parameter misplaced: called for an entry in a position where a look-up does not find it
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

  /// Adds entries; existing ones are kept.
  ///
  /// - Parameter entries: in ascending order
  package func add(_ entries: [Entry], _ connection: Connection) throws {
    var rest = entries[...]
    while let entry = rest.first {
      let end = try connection.first(statements.next, .integer(entry.hash)) { $0.anyInteger(0) }
      let boundary = end.flatMap { end in rest.firstIndex { $0.hash >= end } } ?? rest.endIndex
      let found = try connection.first(statements.find, .integer(entry.hash)) {
        ($0.anyInteger(0), try KeyBlock($0.bytes(1), connection).merged(with: rest[..<boundary]))
      }
      let (first, merged) = found ?? (.min, Array(rest[..<boundary]))
      try write(merged, first, connection: connection)
      rest = rest[boundary...]
    }
  }

  /// Removes an entry if it exists.
  package func remove(_ entry: Entry, _ connection: Connection) throws {
    let found = try connection.first(statements.find, .integer(entry.hash)) { found in
      try KeyBlock(found.bytes(1), connection).bytes(without: entry).map { (found.anyInteger(0), $0) }
    }
    guard case (let first, let rest)?? = found else { return }
    if rest.isEmpty { return try connection.run(statements.delete, .integer(first)) }
    try rest.withUnsafeBytes { try connection.run(statements.put, .integer(first), .blob($0)) }
  }

  /// Writes the entries of a block, split into several when there are too many.
  private func write(_ entries: [Entry], _ first: Int64, connection: Connection) throws {
    let parts =
      entries.count <= Self.maxEntries ? 1 : (entries.count + Self.splitEntries - 1) / Self.splitEntries
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

/// A view of the entries of one block.
struct KeyBlock {
  private static let entrySize = 16

  private let bytes: UnsafeRawBufferPointer
  let count: Int

  /// Creates the view.
  ///
  /// - Throws: `.damaged` when the size is not a multiple of an entry's
  init(_ bytes: UnsafeRawBufferPointer, _ connection: Connection) throws {
    guard bytes.count % Self.entrySize == 0 else {
      throw SatchelError(
        .damaged,
        "\(connection.path): an index of hashes contains a block of \(bytes.count) bytes"
      )
    }
    self.bytes = bytes
    count = bytes.count / Self.entrySize
  }

  @inline(__always)
  func hash(at index: Int) -> Int64 { number(at: index * Self.entrySize) }

  func row(at index: Int) -> Int64 { number(at: index * Self.entrySize + 8) }

  func entry(at index: Int) -> KeyBlocks.Entry { (hash(at: index), row(at: index)) }

  @inline(__always)
  private func number(at offset: Int) -> Int64 {
    Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
  }

  /// Returns the index of the first entry whose hash is at least `hash`.
  func firstIndex(of hash: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self.hash(at: middle) < hash { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns its entries and `others`, both ascending, merged without duplicates.
  func merged(with others: ArraySlice<KeyBlocks.Entry>) -> [KeyBlocks.Entry] {
    var merged: [KeyBlocks.Entry] = []
    merged.reserveCapacity(count + others.count)
    var index = 0
    for other in others {
      while index < count, entry(at: index) < other {
        merged.append(entry(at: index))
        index += 1
      }
      if index < count, entry(at: index) == other { continue }
      merged.append(other)
    }
    while index < count {
      merged.append(entry(at: index))
      index += 1
    }
    return merged
  }

  /// Returns the block's bytes without one entry; nil when it does not contain that entry.
  func bytes(without entry: KeyBlocks.Entry) -> [UInt8]? {
    var index = firstIndex(of: entry.hash)
    while index < count, self.entry(at: index) < entry { index += 1 }
    guard index < count, self.entry(at: index) == entry else { return nil }
    let start = index * Self.entrySize
    var rest = Array(bytes[..<start])
    rest += bytes[(start + Self.entrySize)...]
    return rest
  }

  static func bytes(of entries: ArraySlice<KeyBlocks.Entry>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: entries.count * entrySize) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      for entry in entries {
        bytes.storeBytes(of: entry.hash.littleEndian, toByteOffset: count, as: Int64.self)
        bytes.storeBytes(of: entry.row.littleEndian, toByteOffset: count + 8, as: Int64.self)
        count += entrySize
      }
    }
  }
}
