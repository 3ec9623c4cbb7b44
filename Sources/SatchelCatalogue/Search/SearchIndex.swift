import SatchelCore
import SatchelJSON
import SatchelStorage

/// The full-text index of the stored entities.
///
/// It is created by the first search, and brought up to date by each search: persisting adds nothing to it,
/// and only records which indexed entities it changed.
package struct SearchIndex {
  package static let subject = SubjectSchema(
    name: "search", migrations: [Migration(version: 1, sql: schema)])

  private static let index = TextIndex(
    name: "entity_search", content: "entities", schema: schema,
    TextIndex.Statements(
      insert: "INSERT INTO entity_search(rowid, name, text) VALUES(?, ?, ?)",
      delete: "DELETE FROM entity_search WHERE rowid = ?",
      all: "SELECT rowid, name, text FROM entity_search",
      // A word of a display name weighs ten times one of the text.
      matches: """
        SELECT rowid, rank FROM entity_search
        WHERE entity_search MATCH ? AND rank MATCH 'bm25(10.0, 1.0)' ORDER BY rank
        """))

  private static let schema = """
    -- The tokens of the display name, and of all strings of the content. `rowid` is that of the entity.
    CREATE VIRTUAL TABLE entity_search USING fts5(name, text, tokenize = 'ascii');
    """

  /// The number of entities that are added in one transaction: others can write in between.
  private static let chunk: Int64 = 8192

  let connection: Connection

  // MARK: State

  private static let through = "SELECT value FROM setting WHERE key = 'searched_through'" as StaticString

  /// Returns the last entity that the index has; nil when there is no index.
  private func indexedThrough() throws -> Int64? {
    try connection.first(Self.through) { $0.anyInteger(0) }
  }

  /// Records that an entity's text changed or was deleted, if the index has it.
  func noteChange(of row: Int64) throws {
    try connection.run(
      """
      INSERT OR IGNORE INTO search_change(entity) SELECT ?1
      WHERE ?1 <= (SELECT value FROM setting WHERE key = 'searched_through')
      """, .integer(row))
  }

  /// Removes an entity whose content is deleted.
  func remove(_ row: Int64) throws {
    guard let through = try indexedThrough(), row <= through else { return }
    try noteChange(of: row)
    // Otherwise the next search rebuilds the index, or removes the entity.
    _ = try Self.index.deleteIfSound(row, connection)
  }

  /// Whether the index has the texts of all entities.
  func isCurrent() throws -> Bool {
    guard let through = try indexedThrough(), try connection.number("SELECT max(id) FROM entity") <= through
    else { return false }
    return try connection.number("SELECT count(*) FROM (SELECT 1 FROM search_change LIMIT 1)") == 0
  }

  // MARK: Updating

  /// Brings the index of a store that is opened writable up to date.
  static func update(_ database: Database) throws {
    if try database.read({ try SearchIndex(connection: $0).isCurrent() }) { return }
    _ = try index.naming { try database.prepare(subject) }
    // The index can be rebuilt, so that it need not be durable when this returns.
    while try database.write(
      isSynced: false, { try SearchIndex(connection: $0.connection).updateChunk() })
    {}
  }

  /// Adds and updates a number of entities.
  ///
  /// - Returns: whether there may be more
  private func updateChunk() throws -> Bool {
    var through: Int64
    if let indexed = try indexedThrough() {
      through = indexed
    } else {
      // Left over from an index whose state was lost.
      try connection.run("DELETE FROM entity_search")
      try connection.run("DELETE FROM search_change")
      through = 0
    }
    var changed: [Int64] = []
    try connection.each("SELECT entity FROM search_change ORDER BY entity LIMIT ?", .integer(Self.chunk)) {
      changed.append(try $0.integer(0))
    }
    var (rows, found) = (changed, Int64(changed.count))
    try connection.each(
      "SELECT id FROM entity WHERE id > ? ORDER BY id LIMIT ?", .integer(through),
      .integer(Self.chunk - found)
    ) {
      let row = try $0.integer(0)
      try RowOrder.check(row, after: through, of: "entity")
      through = row
      rows.append(row)
      found += 1
    }
    for row in changed {
      try Self.index.delete(row, connection)
      try connection.run("DELETE FROM search_change WHERE entity = ?", .integer(row))
      guard connection.changes == 1 else { throw RowOrder.damaged("search_change") }
    }
    for row in rows { try add(row) }
    try connection.run(
      "INSERT INTO setting(key, value) VALUES('searched_through', ?1) ON CONFLICT DO UPDATE SET value = ?1",
      .integer(through))
    return found == Self.chunk
  }

  private func add(_ row: Int64) throws {
    if let tokens = try tokens(of: row) { try insert(tokens, row: row) }
  }

  /// Adds an entity's tokens.
  func insert(_ tokens: [[UInt8]], row: Int64) throws { try Self.index.insert(row, tokens, connection) }

  /// Returns the tokens of an entity's name and text; nil when it has no content.
  func tokens(of row: Int64) throws -> [[UInt8]]? {
    let entities = EntityTable(connection: connection)
    guard let record = try entities.record(row), record.size != nil else { return nil }
    return try entities.withContent(of: row) { body, _ in
      var (name, text): ([UInt8], [UInt8]) = ([], [])
      var displayName = record.displayName
      displayName.withUTF8 { SearchTokenizer.appendTokens(of: UnsafeRawBufferPointer($0), to: &name) }
      try Self.visitStrings(body) { SearchTokenizer.appendTokens(of: $0, to: &text) }
      return [name, text]
    }
  }

  /// Visits the strings of a body, without keys. Nested entities have texts of their own.
  static func visitStrings(_ body: UnsafeRawBufferPointer, _ visit: (UnsafeRawBufferPointer) -> Void) throws {
    // A damaged body has no texts; `check` names it.
    guard let tape = try? JSONTape(body) else { return }
    for (index, token) in tape.tokens.enumerated() where token.kind == .string && !token.isKey {
      if token.isEscaped {
        var text = tape.text(index)
        text.withUTF8 { visit(UnsafeRawBufferPointer($0)) }
      } else {
        visit(UnsafeRawBufferPointer(rebasing: body[Int(token.start)..<Int(token.end)]))
      }
    }
  }

  /// Removes the index, to save space; the next search rebuilds it.
  static func remove(_ connection: Connection) throws {
    guard try SearchIndex(connection: connection).indexedThrough() != nil else { return }
    // A recovered store may have the state of an index whose tables were lost.
    try index.exists(connection) ? remake(connection) : clear(connection)
  }

  /// Makes the index again, empty, whatever version of FTS5 wrote it; the next search fills it.
  static func remake(_ connection: Connection) throws {
    try index.remake(connection)
    try clear(connection)
  }

  /// Creates the empty index in another database.
  func make() throws { try Self.index.make(connection) }

  /// Deletes the state of the index, so that the next search rebuilds it.
  static func clear(_ connection: Connection) throws {
    try connection.run("DELETE FROM setting WHERE key = 'searched_through'")
    try connection.run("DELETE FROM search_change")
  }

  // MARK: Searching

  /// Visits the entities that match, the best first, until `visit` returns false.
  func matches(_ query: SearchQuery, _ visit: (_ row: Int64, _ score: Double) throws -> Bool) throws {
    try Self.index.matches(query.expression, [], connection, visit)
  }

  // MARK: Checking

  /// Returns the first defect of the index; nil when it is sound.
  func fault() throws -> String? { try Self.index.fault { try firstFault() } }

  private func firstFault() throws -> String? {
    guard let through = try indexedThrough() else { return nil }
    guard try Self.index.exists(connection) else {
      return "the search index is missing"
    }
    var indexed = try Self.index.rows(connection, columns: 2)
    var changed: Set<Int64> = []
    try connection.each("SELECT entity FROM search_change") { changed.insert($0.anyInteger(0)) }
    if changed.contains(where: { $0 > through }) {
      return "a change is noted for an entity that is not indexed"
    }
    var rows: [Int64] = []
    try connection.each("SELECT id FROM entity WHERE id <= ?", .integer(through)) {
      rows.append($0.anyInteger(0))
    }
    for row in rows where !changed.contains(row) {
      if indexed.removeValue(forKey: row) != (try tokens(of: row)) {
        return "the search index does not match the text of entity row \(row)"
      }
    }
    let stale = indexed.keys.filter { !changed.contains($0) }
    return stale.isEmpty ? nil : "\(stale.count) entries of the search index are stale"
  }
}
