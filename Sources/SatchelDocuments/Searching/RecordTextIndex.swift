import SatchelCore
import SatchelJSON
import SatchelStorage

/// The full-text index of a collection: the strings at the declared paths of its documents.
///
/// It is made by the first search. From then on, a change or a deletion of a record that it has is noted in the same
/// transaction; new records are added by the next search.
package final class RecordTextIndex: Sendable {
  package static let subject = SubjectSchema(
    name: "texts", migrations: [Migration(version: 1, sql: schema)], needs: [RecordSearchState.subject])

  private static let schema = """
    -- The tokens of the strings at the declared paths, in their order. `rowid` is that of the record.
    CREATE VIRTUAL TABLE record_text USING fts5(c0, c1, c2, c3, c4, c5, c6, c7, tokenize = 'ascii');
    """

  private static let index = TextIndex(
    name: "record_text", content: "records", schema: schema,
    TextIndex.Statements(
      insert: """
        INSERT INTO record_text(rowid, c0, c1, c2, c3, c4, c5, c6, c7) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      delete: "DELETE FROM record_text WHERE rowid = ?",
      all: """
        SELECT rowid, c0, c1, c2, c3, c4, c5, c6, c7 FROM record_text WHERE rowid BETWEEN ? AND ?
        """,
      matches: """
        SELECT rowid, rank FROM record_text WHERE record_text MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rank
        """))

  /// The maximum number of declared paths.
  package static let maxPaths = 8

  private let state: RecordSearchState
  let paths: [DocumentPath]

  /// A record that was found.
  package struct Match {
    package var row: Int64
    /// A higher score is better; comparable within one search.
    package var score: Double
    /// The path of the excerpt's string.
    package var path: String
    /// A part of the text around a word that was found.
    package var excerpt: String
    /// The ranges of the excerpt that match, in bytes of UTF-8.
    package var highlights: [Range<Int>]
  }

  /// - Throws: `.invalid` for an invalid path, and for too many
  package init(collection: Int64, paths: [String]) throws {
    guard (1...Self.maxPaths).contains(paths.count) else {
      throw SatchelError(
        .invalid, "the search of a collection has 1 to \(Self.maxPaths) paths, not \(paths.count)")
    }
    self.paths = try paths.map { try DocumentPath($0) }
    state = RecordSearchState(collection, .text, self.paths)
  }

  // MARK: Writing

  /// Adds a record that was written, or replaces its former text; in the transaction that writes it.
  ///
  /// - Parameters:
  ///   - document: with its sensitive fields as they are stored
  ///   - isKnown: whether the tables are known to exist
  /// - Returns: whether the index was changed
  @discardableResult
  package func changed(
    _ row: Int64, _ document: UnsafeRawBufferPointer, _ connection: Connection, isKnown: Bool = false
  ) throws -> Bool {
    guard try removed(row, connection, isKnown: isKnown) else { return false }
    do {
      try insert(row, document, connection)
    } catch let error as SatchelError where error.mayBeAboutIndex {
      // The next search remakes it.
      try state.clear(connection)
    }
    return true
  }

  /// Removes a record; in the transaction that deletes it.
  ///
  /// - Parameter isKnown: whether the tables are known to exist
  /// - Returns: whether the index was changed
  @discardableResult
  package func removed(_ row: Int64, _ connection: Connection, isKnown: Bool = false) throws -> Bool {
    guard let through = try state.through(connection, isKnown: isKnown), row <= through else { return false }
    do {
      if try Self.index.deleteIfSound(row, connection) { return true }
    } catch let error as SatchelError where error.mayBeAboutIndex {}
    try state.clear(connection)
    return false
  }

  /// Makes FTS5 write what it keeps in memory until a commit, which an index that is damaged would make fail.
  static func complete(_ connection: Connection) throws {
    do {
      try connection.execute("SAVEPOINT record_texts")
      do {
        try connection.execute("RELEASE record_texts")
      } catch {
        try connection.execute("ROLLBACK TO record_texts; RELEASE record_texts")
        throw error
      }
    } catch let error as SatchelError where error.mayBeAboutIndex {
      try discard(connection)
    }
  }

  /// Gives up an index that FTS5 cannot write to, which the next search makes again.
  private static func discard(_ connection: Connection) throws {
    do {
      // Only this makes FTS5 forget what it could not write; until then, newer versions try it in every statement.
      try connection.execute("INSERT INTO record_text(record_text) VALUES('rebuild')")
      try RecordSearchState.clearAll(.text, connection)
    } catch let error as SatchelError where error.mayBeAboutIndex {
      try remake(connection)
    }
  }

  /// Removes all records; the next search adds those that there are then. For a collection that is cleared or dropped,
  /// or declares other paths.
  package func clear(_ connection: Connection) throws { try Self.clear(state.collection, connection) }

  static func clear(_ collection: Int64, _ connection: Connection) throws {
    try RecordSearchState.clear(collection, .text, connection)
    guard try index.exists(connection) else { return }
    do {
      if try !RecordSearchState.hasAny(.text, connection) {
        let isEmpty = try connection.numberIfAny("SELECT rowid FROM record_text LIMIT 1") == nil
        if !isEmpty { try remake(connection) }
        return
      }
      try connection.run(
        "DELETE FROM record_text WHERE rowid BETWEEN ? AND ?", .integer(RecordRow.base(of: collection)),
        .integer(RecordRow.base(of: collection + 1) - 1))
    } catch let error as SatchelError where error.mayBeAboutIndex {
      try remake(connection)
    }
  }

  /// Whether the texts of two versions of a document are the same.
  func hasSameTexts(_ old: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer) -> Bool {
    let (old, new) = (DocumentReader(old), DocumentReader(new))
    return paths.allSatisfy { RecordSearches.isSame($0, old, new) }
  }

  /// Makes the index again, empty, for all collections; the next searches fill it.
  package static func remake(_ connection: Connection) throws {
    try index.remake(connection)
    try RecordSearchState.clearAll(.text, connection)
  }

  static func removeAll(_ connection: Connection) throws {
    if try index.exists(connection) { try remake(connection) }
    try RecordSearchState.clearAll(.text, connection)
  }

  private func insert(_ row: Int64, _ document: UnsafeRawBufferPointer, _ connection: Connection) throws {
    let tokens = tokens(of: document)
    if tokens.contains(where: { !$0.isEmpty }) { try Self.index.insert(row, tokens, connection) }
  }

  private func tokens(of document: UnsafeRawBufferPointer) -> [[UInt8]] {
    var tokens = [[UInt8]](repeating: [], count: Self.maxPaths)
    visitStrings(of: document, paths.indices) { SearchTokenizer.appendTokens(of: $1, to: &tokens[$0]) }
    return tokens
  }

  /// Visits the strings at some of the paths, also in arrays and objects there, without keys.
  private func visitStrings(
    of document: UnsafeRawBufferPointer, _ chosen: Range<Int>,
    _ visit: (_ path: Int, _ text: UnsafeRawBufferPointer) -> Void
  ) {
    let reader = DocumentReader(document)
    for path in chosen {
      guard let found = reader.find(paths[path]) else { continue }
      switch found.kind {
      case .string:
        guard found.isEscaped else {
          visit(path, reader.slice(found))
          continue
        }
        var text = reader.text(found)
        text.withUTF8 { visit(path, UnsafeRawBufferPointer($0)) }
      case .array, .object:
        let bytes = reader.slice(found)
        // A damaged document has no texts; `check` names it.
        guard let tape = try? JSONTape(bytes) else { continue }
        for (index, token) in tape.tokens.enumerated() where token.kind == .string && !token.isKey {
          var text = tape.text(index)
          text.withUTF8 { visit(path, UnsafeRawBufferPointer($0)) }
        }
      default: break
      }
    }
  }

  // MARK: Searching

  /// Makes the empty index in another database.
  static func make(_ connection: Connection) throws { try index.make(connection) }

  /// Adds all records to an index in another database.
  func fill(_ other: Connection, from connection: Connection) throws {
    try connection.each(
      "SELECT id, body FROM record WHERE id > ? AND id <= ?", .integer(state.first), .integer(state.last)
    ) { try insert($0.anyInteger(0), $0.bytes(1), other) }
  }

  /// Whether the index has all records.
  func isCurrent(_ connection: Connection) throws -> Bool { try state.isCurrent(connection) }

  /// Whether there is an index for these paths.
  func isMade(_ connection: Connection) throws -> Bool { try state.through(connection) != nil }

  /// Brings the index of a store that is opened writable up to date.
  package func update(_ database: Database) throws {
    if try database.read({ try state.isCurrent($0) }) { return }
    _ = try Self.index.naming { try database.prepare(Self.subject) }
    try RecordSearchState.update(database, by: updateChunk, remaking: Self.remake)
  }

  /// Adds a number of records.
  ///
  /// - Returns: whether there may be more
  package func updateChunk(_ connection: Connection) throws -> Bool {
    if try state.through(connection) == nil { try clear(connection) }
    return try state.advance(connection) { try insert($0, $1, connection) }
  }

  /// Returns the best matches of the index, the best first; of several with the same score the older record.
  ///
  /// - Parameters:
  ///   - paths: declared ones; nil for all
  ///   - index: where the index is, if not where the records are
  ///   - isWanted: whether a record is to be returned
  /// - Throws: `.invalid` for too many words, and for a path that is not declared
  package func search(
    _ text: String, paths wanted: [String]? = nil, limit: Int, offset: Int = 0, _ connection: Connection,
    index: Connection? = nil, where isWanted: (_ row: Int64) throws -> Bool = { _ in true }
  ) throws -> [Match] {
    let query = try SearchQuery(text)
    let columns = try wanted.map { try $0.map(column) } ?? Array(paths.indices)
    if query.terms.isEmpty || limit <= 0 || columns.isEmpty { return [] }
    let wantedCount = limit.addingReportingOverflow(offset)
    let count = wantedCount.overflow ? Int.max : wantedCount.partialValue
    var matches: [Match] = []
    try Self.index.matches(
      query.expression(in: columns.map { "c\($0)" }), [.integer(state.first), .integer(state.last)],
      index ?? connection
    ) { row, score in
      // Records with the same score as the last one compete with it.
      if matches.count >= count, let last = matches.last, score < last.score { return false }
      if try isWanted(row) {
        matches.append(Match(row: row, score: score, path: "", excerpt: "", highlights: []))
      }
      return true
    }
    matches = matches.ordered { $0.score != $1.score ? $0.score > $1.score : $0.row < $1.row }
    matches = Array(matches.prefix(count).dropFirst(offset))
    for index in matches.indices { try excerpt(&matches[index], query, columns, connection) }
    return matches
  }

  private func column(_ path: String) throws -> Int {
    let path = try DocumentPath(path)
    guard let column = paths.firstIndex(of: path) else {
      throw SatchelError(
        .invalid,
        "“\(path.text)” is not searched; the declared paths are \(paths.map(\.text).joined(separator: ", "))")
    }
    return column
  }

  private func excerpt(
    _ match: inout Match, _ query: SearchQuery, _ columns: [Int], _ connection: Connection
  ) throws {
    guard let body = try RecordTable(connection: connection).body(match.row) else { return }
    var (excerpt, considered) = (SearchExcerpt(query), [Int]())
    body.withUnsafeBytes { bytes in
      for column in columns {
        visitStrings(of: bytes, column..<column + 1) { path, text in
          considered.append(path)
          excerpt.consider(text)
        }
      }
    }
    guard let text = excerpt.text, let chosen = excerpt.chosen else { return }
    match.path = paths[considered[chosen]].text
    match.excerpt = text
    match.highlights = SearchExcerpt.highlights(of: query, in: text)
  }

  // MARK: Checking

  /// Compares the index with its tokens; SQLite requires write access for it.
  ///
  /// - Returns: the defect; nil when it is sound, and for a store without it
  static func fault(_ database: Database) throws -> String? {
    guard try database.has(subject) else { return nil }
    do {
      try database.maintain {
        try $0.run("INSERT INTO record_text(record_text) VALUES('integrity-check')")
      }
    } catch let error as SatchelError where error.code == .damaged {
      return "the search index does not match its tokens"
    }
    return nil
  }

  /// Returns the first defect of the collection's part of the index; nil when it is sound.
  package func fault(_ connection: Connection) throws -> String? {
    try Self.index.fault {
      guard let through = try state.through(connection) else { return nil }
      guard try Self.index.exists(connection) else { return "the search index is missing" }
      var known = try Self.index.rows(
        connection, columns: Self.maxPaths, [.integer(state.first), .integer(state.last)])
      var found: String?
      try connection.each(
        "SELECT id, body FROM record WHERE id > ? AND id <= ?", .integer(state.first), .integer(through)
      ) { row in
        let (id, expected) = (row.anyInteger(0), tokens(of: row.bytes(1)))
        let stored = known.removeValue(forKey: id) ?? [[UInt8]](repeating: [], count: Self.maxPaths)
        if stored != expected, found == nil {
          found = "the search index does not match the text of record row \(id)"
        }
      }
      return found ?? (known.isEmpty ? nil : "the search index has records that do not exist")
    }
  }
}
