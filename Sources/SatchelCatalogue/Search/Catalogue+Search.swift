import SatchelCore
import SatchelJSON
import SatchelStorage

/// An entity that a search found.
public struct SearchHit: Sendable, Equatable, JSONConvertible {
  /// The section that shows the entity at the location; without a location, the section that its id names.
  public var section: String
  public var entityID: String
  public var displayName: String
  public var scope: Scope
  /// The text of the key of its place; nil for `global`.
  public var place: String?
  /// A part of the text around a word that was found.
  public var excerpt: String
  /// Whether it has expired.
  public var isExpired: Bool
  /// A higher score is better; comparable within one search.
  public var score: Double

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    [
      "section": .string(section), "entity_id": .string(entityID), "display_name": .string(displayName),
      "scope": .string(scope.name), "place": place.map { .string($0) } ?? .null, "excerpt": .string(excerpt),
      "expired": .bool(isExpired), "score": .double(score),
    ]
  }
}

extension Catalogue {
  /// Finds entities by the words of their texts, in any script.
  ///
  /// All words must occur, each at the beginning of a word of the display name or of a string in the content,
  /// ignoring case and diacritics; Chinese, Japanese, Thai and other texts without spaces are found anywhere in
  /// a run of characters. The index is made by the first search, and brought up to date by each one; one that is of
  /// another version of FTS5, or damaged, is made again. A store that is opened read-only and whose index lacks
  /// something is searched with one in memory, of at most 256 MiB, which is kept until the next commit.
  ///
  /// - Parameters:
  ///   - location: finds only what its sections show; nil finds all entities that a section shows somewhere
  ///   - limit: the maximum number of hits
  ///   - allowExpired: whether to find expired entities
  ///   - nearby: see `sections`
  /// - Returns: the best first; of several with the same score in the order of section and entity id
  /// - Throws: `.invalid` for too many words; `.full` when a read-only store needs a larger index in memory
  public func search(
    _ text: String, at location: Location? = nil, limit: Int = 20, allowExpired: Bool = false,
    nearby: Double = Catalogue.defaultNearby
  ) throws -> [SearchHit] {
    guard limit >= 0 else { throw SatchelError(.invalid, "limit: \(limit) is negative") }
    let inheritance = try Inheritance(nearby: nearby)
    let query = try SearchQuery(text)
    if query.terms.isEmpty || limit == 0 { return [] }
    return try withSearchIndex { connection, index in
      let reader = location.map { SectionReader(catalogue: self, connection: connection, location: $0) }
      var search = EntitySearch(
        query: query, index: index, connection: connection, limit: limit, allowsExpired: allowExpired,
        now: database.clock.now())
      search.sections = try reader?.entitySections(inheritance)
      let hits = try search.run()
      if search.foundExpired { database.noteExpiry() }
      return hits
    }
  }

  /// Runs `body` with an index that has the texts of all entities.
  private func withSearchIndex<Result>(_ body: (Connection, SearchIndex) throws -> Result) throws -> Result {
    if database.options.isReadOnly { return try withReadOnlySearchIndex(body) }
    func run() throws -> Result {
      try SearchIndex.update(database)
      return try database.query { try body($0, SearchIndex(connection: $0)) }
    }
    do {
      return try run()
    } catch let error as SatchelError where error.isAboutVirtualTable {
      // All of it is derived from the entities.
      try database.write(isSynced: false) { try SearchIndex.remake($0.connection) }
      return try run()
    }
  }

  private func withReadOnlySearchIndex<Result>(
    _ body: (Connection, SearchIndex) throws -> Result
  ) throws -> Result {
    try database.query { connection in
      let own = SearchIndex(connection: connection)
      do {
        if try own.isCurrent() { return try body(connection, own) }
      } catch let error as SatchelError where error.isAboutVirtualTable {
        // It cannot be made again here.
      }
      return try temporarySearchIndex.withLock { known in
        let current = try TemporarySearchIndex.current(known, connection)
        known = current
        return try body(connection, current.index)
      }
    }
  }
}

extension SectionReader {
  /// Returns the name of the first section that shows each entity, by the entity's row.
  fileprivate func entitySections(_ inheritance: Inheritance) throws -> [Int64: String] {
    var sections: [Int64: String] = [:]
    for found in try visibleSections(inheritance) {
      for placeholder in try SectionTable(connection: connection).placeholders(found.record.id)
      where found.context.coverage.contains(placeholder.target.scope) {
        if sections[placeholder.target.entity] == nil {
          sections[placeholder.target.entity] = found.record.name
        }
      }
    }
    return sections
  }
}

/// Collects the hits of one search.
private struct EntitySearch {
  let query: SearchQuery
  let index: SearchIndex
  let connection: Connection
  let limit: Int
  let allowsExpired: Bool
  let now: Int64
  /// The section of each entity that may be found; nil for all.
  var sections: [Int64: String]?
  var foundExpired = false

  private struct Candidate {
    var record: EntityRecord
    var section: String
    var score: Double

    /// Whether it precedes one with the same score. Strings are compared by bytes, as SQLite does.
    func precedes(_ other: Candidate) -> Bool {
      if score != other.score { return score > other.score }
      for (one, two) in [(section, other.section), (record.entityID, other.record.entityID)]
      where !one.hasSameBytes(as: two) {
        return one.utf8.lexicographicallyPrecedes(two.utf8)
      }
      return (record.scope, record.row) < (other.record.scope, other.record.row)
    }
  }

  mutating func run() throws -> [SearchHit] {
    var found: [Candidate] = []
    let entities = EntityTable(connection: connection)
    try index.matches(query) { row, score in
      // Hits with the same score as the last one compete with it.
      if found.count >= limit, let last = found.last, score < last.score { return false }
      if let candidate = try candidate(row, score: score, entities) { found.append(candidate) }
      return true
    }
    found = found.ordered { $0.precedes($1) }
    return try found.prefix(limit).map { try hit($0, entities) }
  }

  private mutating func candidate(_ row: Int64, score: Double, _ entities: EntityTable) throws -> Candidate? {
    let section = sections?[row]
    if sections != nil, section == nil { return nil }
    guard let record = try entities.record(row), record.size != nil else { return nil }
    if record.isExpired(at: now) {
      foundExpired = true
      guard allowsExpired else { return nil }
    }
    if section == nil {
      let references = try connection.number("SELECT reference_count FROM entity WHERE id = ?", .integer(row))
      guard references > 0 else { return nil }
    }
    return Candidate(
      record: record, section: section ?? EntityID.section(of: record.entityID) ?? "", score: score)
  }

  private func hit(_ candidate: Candidate, _ entities: EntityTable) throws -> SearchHit {
    let record = candidate.record
    return SearchHit(
      section: candidate.section, entityID: record.entityID, displayName: record.displayName,
      scope: record.scope, place: try entities.placeText(of: record), excerpt: try excerpt(record, entities),
      isExpired: record.isExpired(at: now), score: candidate.score)
  }

  /// Returns a part of the string that has most of the words, around the first of them. The display name comes
  /// last: it is shown anyway.
  private func excerpt(_ record: EntityRecord, _ entities: EntityTable) throws -> String {
    var excerpt = SearchExcerpt(query)
    _ = try entities.withContent(of: record.row) { body, _ in
      try SearchIndex.visitStrings(body) { text in
        let isName = String(decoding: text, as: UTF8.self).hasSameBytes(as: record.displayName)
        if !isName { excerpt.consider(text) }
      }
    }
    return excerpt.text ?? record.displayName
  }
}
