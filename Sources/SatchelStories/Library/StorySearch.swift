import SatchelCore
import SatchelStorage

/// A kind of values that stories can be filtered by.
enum StoryFacet: Int64, CaseIterable {
  case tag = 1
  case culture
  case ageRange
  case language

  static var range: ClosedRange<Int64> { 1...Int64(allCases.count) }
}

extension StoryHeader {
  /// The values that the story can be filtered by.
  var facets: [(kind: StoryFacet, value: String)] {
    var facets = tags.map { (kind: StoryFacet.tag, value: $0) }
    if let culturalOrigin { facets.append((.culture, culturalOrigin)) }
    if let ageRange { facets.append((.ageRange, ageRange)) }
    if let language { facets.append((.language, language)) }
    return facets
  }
}

/// The words of titles and synopses, and the facets, by which libraries are searched and filtered.
///
/// All of it follows from the rows of `story_file`.
struct StorySearch {
  static let schema = """
    -- The tokens of titles and synopses, by the row of story_file.
    CREATE VIRTUAL TABLE story_search USING fts5(title, synopsis, tokenize = 'ascii');
    """

  static let index = TextIndex(
    name: "story_search", content: "stories", schema: schema,
    TextIndex.Statements(
      insert: "INSERT INTO story_search(rowid, title, synopsis) VALUES(?, ?, ?)",
      delete: "DELETE FROM story_search WHERE rowid = ?",
      all: "SELECT rowid, title, synopsis FROM story_search",
      // A word of a title weighs ten times one of a synopsis.
      matches: """
        SELECT rowid, rank FROM story_search
        WHERE story_search MATCH ? AND rank MATCH 'bm25(10.0, 1.0)' ORDER BY rank
        """))

  let connection: Connection

  // MARK: Writing

  /// Adds the story of a row.
  func add(_ header: StoryHeader, row: Int64, in library: Int64) throws {
    try Self.index.insert(row, Self.tokens(of: header), connection)
    for facet in header.facets {
      try connection.run(
        "INSERT OR IGNORE INTO story_facet(library, kind, value, file) VALUES(?, ?, ?, ?)", .integer(library),
        .integer(facet.kind.rawValue), .text(facet.value), .integer(row))
    }
  }

  /// Removes the story of a row, if there is one.
  func remove(row: Int64, in library: Int64) throws {
    try Self.index.delete(row, connection)
    guard let known = try StoryRows(connection: connection).story(row: row) else { return }
    for facet in known.header.facets {
      try connection.run(
        "DELETE FROM story_facet WHERE library = ? AND kind = ? AND value = ? AND file = ?",
        .integer(library),
        .integer(facet.kind.rawValue), .text(facet.value), .integer(row))
    }
  }

  /// Makes all of it again, from the rows, in whatever state it is.
  func remake() throws {
    try Self.index.remake(connection)
    try connection.execute("DELETE FROM story_facet")
    try StoryRows(connection: connection).each { summary, row, library in
      try add(summary.header, row: row, in: library)
    }
  }

  static func tokens(of header: StoryHeader) -> [[UInt8]] {
    [header.title, header.synopsis].map { text in
      var (tokens, text): ([UInt8], String) = ([], text ?? "")
      text.withUTF8 { SearchTokenizer.appendTokens(of: UnsafeRawBufferPointer($0), to: &tokens) }
      return tokens
    }
  }

  // MARK: Reading

  /// Returns the distinct values of the listed stories, sorted.
  func values(_ kind: StoryFacet, in library: Int64) throws -> [String] {
    var values: [String] = []
    // Each value is one step in the table, however many stories have it.
    try connection.each(
      """
      WITH RECURSIVE each_value(value) AS (
        SELECT min(value) FROM story_facet WHERE library = ?1 AND kind = ?2
        UNION ALL
        SELECT (SELECT min(f.value) FROM story_facet AS f
          WHERE f.library = ?1 AND f.kind = ?2 AND f.value > each_value.value)
        FROM each_value WHERE value IS NOT NULL)
      SELECT value FROM each_value WHERE value IS NOT NULL AND EXISTS(
        SELECT 1 FROM story_facet AS f CROSS JOIN story_file ON story_file.id = f.file
        WHERE f.library = ?1 AND f.kind = ?2 AND f.value = each_value.value AND story_file.is_listed = 1)
      """, .integer(library), .integer(kind.rawValue)
    ) { values.append($0.text(0)) }
    return values
  }

  // MARK: Checking

  /// Returns the first defect of the full-text index; nil when it is sound.
  func fault() throws -> String? {
    try Self.index.fault {
      var indexed = try Self.index.rows(connection, columns: 2)
      var fault: String?
      try StoryRows(connection: connection).each { summary, row, _ in
        if indexed.removeValue(forKey: row) != Self.tokens(of: summary.header) {
          fault = fault ?? "the search index does not match the texts of \(summary.file)"
        }
      }
      return fault ?? (indexed.isEmpty ? nil : "\(indexed.count) entries of the search index are stale")
    }
  }

  /// Returns the first defect of the facets; nil when they are sound.
  func facetFault() throws -> String? {
    var (fault, count): (String?, Int64) = (nil, 0)
    try StoryRows(connection: connection).each { summary, row, library in
      var seen: Set<StoryName> = []
      for facet in summary.header.facets
      where seen.insert(StoryName("\(facet.kind.rawValue)\(facet.value)")).inserted {
        count += 1
        let known = try connection.number(
          "SELECT count(*) FROM story_facet WHERE library = ? AND kind = ? AND value = ? AND file = ?",
          .integer(library), .integer(facet.kind.rawValue), .text(facet.value), .integer(row))
        if known == 0 { fault = fault ?? "the filters do not have “\(facet.value)” of \(summary.file)" }
      }
    }
    let stale = try connection.number("SELECT count(*) FROM story_facet") - count
    return fault ?? (stale == 0 ? nil : "\(stale) entries of the filters are stale")
  }
}
