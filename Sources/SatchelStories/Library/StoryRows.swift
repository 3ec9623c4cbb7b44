import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads the stories of the index.
struct StoryRows {
  let connection: Connection

  /// The columns of a story, and where they come from.
  private static let columns: StaticString = """
    SELECT story, name, errors, warnings, named_files, title, author, original_source, culture, synopsis, cover,
    minutes, age_range, tags, is_purchased, segments, choices, endings, words, shortest_path, longest_path,
    shortest_time, longest_time, path_count, id, library, language, extra FROM story_file
    """

  /// Returns the story of a row; nil where it has none.
  func story(row: Int64) throws -> StorySummary? {
    let statement = try connection.prepared(" WHERE id = ? AND story IS NOT NULL", after: Self.columns)
    defer { statement.reset() }
    try statement.bind(.integer(row), at: 1)
    return try statement.step() ? Self.summary(statement) : nil
  }

  /// Visits all listed stories of a library by the names of their files.
  func each(in library: Int64, _ visit: (StorySummary) throws -> Void) throws {
    let statement = try connection.prepared(
      " WHERE library = ? AND is_listed = 1 ORDER BY name", after: Self.columns)
    defer { statement.reset() }
    try statement.bind(.integer(library), at: 1)
    while try statement.step() { try visit(Self.summary(statement)) }
  }

  /// Visits the stories of all libraries, listed or not.
  func each(_ visit: (_ story: StorySummary, _ row: Int64, _ library: Int64) throws -> Void) throws {
    let statement = try connection.prepared(" WHERE story IS NOT NULL ORDER BY id", after: Self.columns)
    defer { statement.reset() }
    while try statement.step() {
      try visit(Self.summary(statement), statement.anyInteger(24), statement.anyInteger(25))
    }
  }

  private static func summary(_ row: Statement) throws -> StorySummary {
    func number(_ column: Int32) throws -> Int? { try row.integerIfAny(column).map { Int($0) } }
    func minutes(_ column: Int32) -> Double { Double(row.anyInteger(column)) / 1000 }
    let header = StoryHeader(
      language: row.textIfAny(26), title: row.textIfAny(5), author: row.textIfAny(6),
      originalSource: row.textIfAny(7),
      culturalOrigin: row.textIfAny(8), synopsis: row.textIfAny(9), coverImageName: row.textIfAny(10),
      estimatedReadingMinutes: row.isNull(11) ? nil : row.anyInteger(11), ageRange: row.textIfAny(12),
      tags: try StoryTags.read(row, 13), isPurchased: row.flag(14), extra: try StoryTags.members(row, 27))
    let statistics = StoryStatistics(
      segments: try number(15) ?? 0, choices: try number(16) ?? 0, endings: try number(17) ?? 0,
      words: try number(18) ?? 0, shortestPath: try number(19), longestPath: try number(20),
      shortestMinutes: minutes(21), longestMinutes: minutes(22),
      paths: PathCount(saturated: row.anyInteger(23)))
    var summary = StorySummary(id: row.text(0), file: row.text(1), header: header, statistics: statistics)
    summary.errors = try number(2) ?? 0
    summary.warnings = try number(3) ?? 0
    summary.namedFiles = try number(4) ?? 0
    return summary
  }

  // MARK: Queries

  /// Returns the rows of the stories that match a query, in its order.
  ///
  /// - Parameters:
  ///   - search: the words of the query's search; without words, all stories match it
  ///   - isPurchased: returns whether the story with an id is purchased, from the value in its file
  func matches(
    _ query: StoryQuery, _ search: SearchQuery?, in library: Int64,
    isPurchased: (_ story: String, _ inFile: Bool) -> Bool
  ) throws -> [Int64] {
    var bindings: [Binding] = []
    var order = Self.order(query)
    var source = "story_file AS f INDEXED BY story_file_listed"
    if let search, !search.terms.isEmpty {
      bindings.append(.text(search.expression))
      source =
        "(\(StorySearch.index.matching)) AS found CROSS JOIN story_file AS f ON f.id = found.rowid"
      if query.sort == nil { order = "found.rank\(query.isDescending ? " DESC" : ""), " + order }
    }
    var conditions = "f.library = ? AND f.is_listed = 1"
    bindings.append(.integer(library))
    if let age = query.age {
      conditions += " AND f.lowest_age <= ? AND (f.highest_age IS NULL OR f.highest_age >= ?)"
      bindings += [.integer(Int64(age)), .integer(Int64(age))]
    }
    for facet in query.facets {
      conditions += " AND f.id IN (SELECT file FROM story_facet WHERE library = ? AND kind = ? AND value = ?)"
      bindings += [.integer(library), .integer(facet.kind.rawValue), .text(facet.value)]
    }
    // Purchases are state, which other tables have, or memory.
    let wanted = query.isPurchased
    let limit = wanted == nil ? query.limit.map { Int64($0) } ?? -1 : -1
    bindings += [.integer(limit), .integer(wanted == nil ? Int64(query.offset) : 0)]
    let statement = try connection.compile(
      """
      SELECT f.id, f.story, f.is_purchased FROM \(source) WHERE \(conditions) ORDER BY \(order) LIMIT ? OFFSET ?
      """)
    try statement.bind(bindings)
    var (rows, skipped): ([Int64], Int) = ([], 0)
    while try statement.step() {
      if let wanted {
        if rows.count == query.limit ?? .max { break }
        guard isPurchased(statement.text(1), statement.flag(2)) == wanted else { continue }
        skipped += 1
        if skipped <= query.offset { continue }
      }
      rows.append(statement.anyInteger(0))
    }
    return rows
  }

  /// The order without the relevance for a search; stories with equal keys are sorted by title.
  private static func order(_ query: StoryQuery) -> String {
    let direction = query.isDescending ? " DESC" : ""
    let title =
      "f.title_key\(direction), f.title\(direction), f.story\(direction), f.language\(direction)"
    let ascending = "f.title_key, f.title, f.story, f.language"
    return switch query.sort {
    case nil, .title: title
    case .readingTime: "coalesce(f.minutes, \(Int64.max))\(direction), \(ascending)"
    // An unbounded count is negative.
    case .pathCount: "f.path_count < 0\(direction), f.path_count\(direction), \(ascending)"
    }
  }
}

extension StoryQuery {
  /// The values that a story must have.
  fileprivate var facets: [(kind: StoryFacet, value: String)] {
    var header = StoryHeader()
    (header.tags, header.culturalOrigin, header.ageRange) = (tags, culture, ageRange)
    header.language = language
    return header.facets
  }
}

/// The tags of a story, and the members that are the app's, in one column each: JSON.
enum StoryTags {
  static func text(_ tags: [String]) -> String {
    (try? JSONValue.array(tags.map { .string($0) }).text) ?? "[]"
  }

  static func read(_ row: Statement, _ column: Int32) throws -> [String] {
    if row.bytes(column).count <= 2 { return [] }
    return try value(row, column).arrayValue?.compactMap(\.stringValue) ?? []
  }

  static func members(_ row: Statement, _ column: Int32) throws -> JSONObject {
    row.isNull(column) ? JSONObject() : try value(row, column).objectValue ?? JSONObject()
  }

  private static func value(_ row: Statement, _ column: Int32) throws -> JSONValue {
    do {
      return try JSONValue(parsing: row.bytes(column))
    } catch {
      throw row.damage(column, "is not JSON: \(error)")
    }
  }
}
