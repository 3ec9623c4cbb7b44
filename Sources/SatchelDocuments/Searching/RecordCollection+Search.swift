import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordCollection {
  /// The maximum number of hits of a search that names none.
  public static var defaultSearchLimit: Int { 20 }

  /// Finds records by the words of the texts at the declared paths, in any script.
  ///
  /// All words must occur, each at the beginning of a word of one of the texts, ignoring case and diacritics; Chinese,
  /// Japanese, Thai and other texts without spaces are found anywhere in a run of characters. The index is made by the
  /// first search; from then on it is changed with the records, and each search adds the new ones. One that is damaged,
  /// or of another version of FTS5, is made again. A store that is opened read-only and whose index lacks something is
  /// searched with one in memory, of at most 256 MiB, which is kept until the next commit.
  ///
  /// - Parameters:
  ///   - paths: the declared paths to search; nil for all
  ///   - filter: finds only records that match
  ///   - limit: the maximum number of hits
  ///   - offset: the number of hits to skip
  /// - Returns: the best first; of several with the same score the older record
  /// - Throws: `SatchelError` `.invalid` for a collection that declares no texts, for a path that is not declared, for
  ///   too many words, and for an invalid filter; `.busy` while another transaction keeps new records from being added;
  ///   `.full` when a read-only store needs a larger index in memory
  public func search(
    _ text: String, in paths: [String]? = nil, where filter: RecordFilter? = nil,
    limit: Int = RecordCollection.defaultSearchLimit, offset: Int = 0
  ) throws -> [RecordSearchHit] {
    var search = RecordSearch(text)
    (search.paths, search.filter, search.limit, search.offset) = (paths, filter, limit, offset)
    var hits: [RecordSearchHit] = []
    try each(search) { candidate, match in hits.append(try match.hit(candidate)) }
    return hits
  }

  /// Appends the hits as a JSON array in the form of the public interfaces.
  ///
  /// - Parameter query: `{"text", "paths", "where", "limit", "offset"}`
  package func writeSearch(json query: JSONValue, into bytes: inout [UInt8]) throws {
    try write(RecordSearch(json: query), into: &bytes) { _, _ in }
  }

  /// Appends the hits of a search, and calls `visit` with each.
  func write(
    _ search: RecordSearch, into bytes: inout [UInt8],
    _ visit: (borrowing Candidate, RecordTextIndex.Match) throws -> Void
  ) throws {
    bytes.append(UInt8(ascii: "["))
    try each(search) { candidate, match in
      try visit(candidate, match)
      try candidate.writeHit(into: &bytes)
      try match.write(into: &bytes)
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: "]"))
  }

  func each(
    _ search: RecordSearch, _ visit: (borrowing Candidate, RecordTextIndex.Match) throws -> Void
  ) throws {
    for (name, count) in [("limit", search.limit), ("offset", search.offset)] where count < 0 {
      throw SatchelError(.invalid, "\(name): \(count) is negative")
    }
    try withTextIndex { connection, row, texts, index in
      let run = try QueryRun(self, connection, row: row)
      let filter = try run.unexpired(search.filter).map { try CompiledFilter($0, run.rules.types) }
      if let filter { try run.check(filter) }
      let matches = try texts.search(
        search.text, paths: search.paths, limit: search.limit, offset: search.offset, connection,
        index: index
      ) { row in
        guard let filter else { return true }
        return try run.fetch.one(row) { try filter.matches($0) } ?? false
      }
      for match in matches { _ = try run.fetch.one(match.row) { try visit($0, match) } }
    }
  }

  /// Returns the index of texts.
  ///
  /// - Throws: `.invalid` where none are declared
  private func texts(_ row: CollectionState) throws -> RecordTextIndex {
    if let texts = try row.rules.searches?.texts { return texts }
    throw SatchelError(
      .invalid, "\(name): no texts are searched: declare their paths, as in \"search\": [\"title\"]")
  }

  /// Runs `body` with an index that has the texts of all records, and the connection to it.
  private func withTextIndex(
    _ body: (Connection, CollectionState, RecordTextIndex, Connection) throws -> Void
  ) throws {
    if database.options.isReadOnly { return try withReadOnlyTextIndex(body) }
    /// Returns whether the index had all records.
    func run(_ isLast: Bool) throws -> Bool {
      let texts = try read { try self.texts($1) }
      try texts.update(database)
      try noteSearched()
      return try readInterruptibly { connection, row in
        // Others may write in between, and declare other paths.
        let texts = try self.texts(row)
        guard try texts.isCurrent(connection) || isLast && texts.isMade(connection) else { return false }
        try body(connection, row, texts, connection)
        return true
      }
    }
    for attempt in 1...Self.maxAttempts {
      do {
        if try run(attempt == Self.maxAttempts) { return }
      } catch let error as SatchelError where error.isAboutVirtualTable && attempt == 1 {
        // All of it is derived from the documents.
        try database.write(isSynced: false) { try RecordTextIndex.remake($0.connection) }
      }
    }
    throw SatchelError(.busy, "\(name): was declared again while it was searched")
  }

  /// A search that others write during this many times finds what was there before.
  private static let maxAttempts = 4

  /// Makes the writes of the thread's transaction look for the tables, which the search may have created.
  private func noteSearched() throws {
    if database.isInTransaction { try database.join { store.work(in: $0).hasSearches = nil } }
  }

  private func withReadOnlyTextIndex(
    _ body: (Connection, CollectionState, RecordTextIndex, Connection) throws -> Void
  ) throws {
    try readInterruptibly { connection, row in
      let texts = try self.texts(row)
      do {
        if try texts.isCurrent(connection) { return try body(connection, row, texts, connection) }
      } catch let error as SatchelError where error.isAboutVirtualTable {
        // It cannot be made again here.
      }
      try TemporaryTextIndex.with(texts, of: row, connection, in: store.temporaryTexts) {
        try body(connection, row, texts, $0)
      }
    }
  }
}

extension Candidate {
  /// Appends an element of the array that the bytes end with, up to its record.
  func writeHit(into bytes: inout [UInt8]) throws {
    if bytes.last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
    bytes.append(contentsOf: #"{"record":"#.utf8)
    try write(into: &bytes)
  }
}
