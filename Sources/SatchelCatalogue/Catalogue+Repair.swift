import SatchelCore
import SatchelStorage

extension Catalogue {
  /// Restores the consistency of the catalogue's tables after rows were lost or changed: recomputes counts
  /// and indexes from the sections and the entities' content.
  ///
  /// - Parameter lost: the tables of which rows or values are known to be lost
  package func repair(lost: Set<String> = []) throws {
    try database.write { transaction in
      let connection = transaction.connection
      try Self.removeMisfits(connection)
      // Nothing finds what belongs to a place whose row was lost.
      try connection.execute(
        """
        WITH known AS (SELECT 0 UNION SELECT id FROM place)
        DELETE FROM context WHERE country NOT IN known OR adminarea NOT IN known OR locality NOT IN known
        OR sublocality NOT IN known OR coordinate NOT IN known;
        DELETE FROM entity WHERE place > 0 AND place NOT IN (SELECT id FROM place);
        """)
      if try !lost.isDisjoint(with: Self.headers) || Self.lacksSections(connection) {
        try Self.forgetAnswers(connection)
      }
      try connection.mend(Self.rules)
      if try connection.has(table: "region") {
        try RegionTable(connection: connection).removeUnreadable()
        try connection.mend(RegionSchema.invariants)
      }
      try listContexts(connection)
      let (references, counts) = try recount(connection)
      if try restoreLost(references, connection) || lost.contains("entity"),
        try Self.lacksNested(connection)
      {
        try Self.forgetAnswers(connection)
      }
      try connection.run("UPDATE entity SET reference_count = 0")
      for (row, count) in references {
        try connection.run(
          "UPDATE entity SET reference_count = ? WHERE id = ?", .integer(count), .integer(row))
      }
      for (section, counts) in counts {
        try connection.run(
          """
          UPDATE section SET in_global = ?, in_country = ?, in_adminarea = ?, in_locality = ?, in_sublocality = ?,
          in_coordinate = ? WHERE id = ?
          """, .integer(counts[0]), .integer(counts[1]), .integer(counts[2]), .integer(counts[3]),
          .integer(counts[4]), .integer(counts[5]), .integer(section))
      }
      try relist(in: transaction)
      try SearchIndex.remove(connection)
      try PositionIndex(connection: connection).clear()
      try PositionIndex.mergeIfNeeded(database, in: transaction)
      // The next write that finds many entities missing from the index merges them.
      try connection.run("DELETE FROM entity_index")
      try connection.run("DELETE FROM setting WHERE key = 'indexed_through'")
    }
  }

  /// The tables that say which sections there are: nothing else does when their rows are lost.
  private static let headers = ["place", "context", "section", "section_content"]

  /// Removes contents whose placeholders do not fit them, or cannot be those of entities: the section is lost, or the
  /// entity's content is missing.
  private static func removeMisfits(_ connection: Connection) throws {
    var (sections, entities) = ([Int64](), [Int64]())
    try connection.each("SELECT section, placeholders, template FROM section_content") { row in
      let isSound =
        PlaceholderCoding.isSection(row.bytes(1), of: row.bytes(2))
        && PlaceholderCoding.decodeSection(row.bytes(1)).allSatisfy {
          StoredRange.counted.contains($0.target.entity) && $0.target.entity > 0
        }
      if !isSound { sections.append(row.anyInteger(0)) }
    }
    try connection.each(
      "SELECT entity, placeholders, body FROM entity_content WHERE placeholders IS NOT NULL"
    ) {
      if !PlaceholderCoding.isEntity($0.bytes(1), of: $0.bytes(2)) { entities.append($0.anyInteger(0)) }
    }
    for row in sections {
      try connection.run("DELETE FROM section_content WHERE section = ?", .integer(row))
    }
    for row in entities { try connection.run("DELETE FROM entity_content WHERE entity = ?", .integer(row)) }
  }

  /// Whether an entity that is nested in another one has no variant. It may be known only there: by the delivery of another
  /// section, which is not asked for as long as its own entities are stored.
  private static func lacksNested(_ connection: Connection) throws -> Bool {
    var known: Set<EntityTarget> = []
    try connection.each("SELECT entity_id, scope FROM entity") {
      guard let scope = Scope(rawValue: Int(clamping: $0.anyInteger(1))) else { return }
      known.insert(EntityTarget(entityID: $0.text(0), scope: scope))
    }
    var lacks = false
    try connection.each("SELECT placeholders FROM entity_content WHERE placeholders IS NOT NULL") { row in
      lacks = lacks || !PlaceholderCoding.decodeEntity(row.bytes(0)).allSatisfy { known.contains($0.target) }
    }
    return lacks
  }

  /// Whether sections, their contexts or their content were lost.
  private static func lacksSections(_ connection: Connection) throws -> Bool {
    try connection.number(
      """
      SELECT EXISTS(SELECT 1 FROM section WHERE id NOT IN (SELECT section FROM section_content)
      OR context NOT IN (SELECT id FROM context))
      OR EXISTS(SELECT 1 FROM section_content WHERE section NOT IN (SELECT id FROM section))
      """) == 1
  }

  /// Lets sources be asked for everything: which sections a place has lost is not known, and a source that is asked with
  /// the entity tag of the others would answer that nothing has changed.
  private static func forgetAnswers(_ connection: Connection) throws {
    try connection.run("UPDATE section SET etag = NULL, fetched_at = 0")
    if try connection.has(table: "refresh") { try connection.run("DELETE FROM refresh") }
    if try connection.has(table: "region_item") {
      try connection.run(
        "UPDATE region_item SET outcome = 0, error = 'some of it was lost in a recovery' WHERE outcome = 1")
    }
  }

  /// Inserts an entity without content for each row that was lost and that a section references: so it is listed as
  /// missing and asked for, and no other entity gets the row. Its id is lost as well.
  ///
  /// - Returns: whether there were any
  private func restoreLost(_ references: [Int64: Int64], _ connection: Connection) throws -> Bool {
    var lost: Set<Int64> = []
    for row in references.keys
    where try connection.number("SELECT EXISTS(SELECT 1 FROM entity WHERE id = ?)", .integer(row)) == 0 {
      lost.insert(row)
    }
    if lost.isEmpty { return false }
    var sections: [(id: Int64, name: String, context: Int64)] = []
    try connection.each("SELECT id, name, context FROM section") {
      sections.append(($0.anyInteger(0), $0.text(1), $0.anyInteger(2)))
    }
    for section in sections {
      let targets = try SectionTable(connection: connection).placeholders(section.id).map(\.target)
      for target in targets where lost.contains(target.entity) {
        guard
          let place = try ContextTable(connection: connection).chain(of: section.context)?.place(
            of: target.scope)
        else { continue }
        lost.remove(target.entity)
        try connection.run(
          """
          INSERT INTO entity(id, entity_id, scope, place, time_to_live, expires_at, updated_at, reference_count, source)
          VALUES(?, ?, ?, ?, 0, 0, 0, 0, ?)
          """, .integer(target.entity), .text("\(section.name):lost_\(target.entity)"),
          .integer(Int64(target.scope.rawValue)), .integer(place), .integer(section.context))
      }
    }
    return true
  }

  /// Lists each context at its places again, in the order of their revisions as far as these are known.
  private func listContexts(_ connection: Connection) throws {
    var revisions: [Int64: Int64] = [:]
    try connection.each("SELECT context, max(revision) FROM context_at GROUP BY context") {
      revisions[$0.anyInteger(0)] = try $0.integer(1, in: StoredRange.count)
    }
    try connection.run("DELETE FROM context_at")
    for row in try connection.numbers("SELECT id FROM context") {
      guard let chain = try ContextTable(connection: connection).chain(of: row) else { continue }
      for level in chain.levels {
        try connection.run(
          "INSERT INTO context_at(place, own, revision, context) VALUES(?, ?, ?, ?)", .integer(chain[level]),
          .integer(level == chain.levels.first ? 1 : 0), .integer(revisions[row] ?? 0), .integer(row))
      }
    }
  }

  /// Recomputes which sections can be inherited in each place.
  private func relist(in transaction: Transaction) throws {
    let connection = transaction.connection
    try connection.run("DELETE FROM section_at")
    try connection.run("DELETE FROM context_at WHERE place = 0")
    var sections: [(context: Int64, name: String, counts: [Int64])] = []
    try connection.each(
      """
      SELECT context, name, in_global, in_country, in_adminarea, in_locality, in_sublocality, in_coordinate
      FROM section
      """
    ) { row in
      sections.append((row.anyInteger(0), row.text(1), (2..<8).map { row.anyInteger($0) }))
    }
    let contexts = ContextTable(connection: connection)
    for section in sections {
      guard let chain = try contexts.chain(of: section.context) else { continue }
      try ContextTable.list(
        section.name, of: section.context, chain, counts: section.counts, before: nil, in: transaction)
    }
  }

  /// Returns the reference count of each entity, and for each section the number of its entities by scope.
  private func recount(_ connection: Connection) throws -> (
    references: [Int64: Int64], counts: [Int64: [Int64]]
  ) {
    var references: [Int64: Int64] = [:]
    var counts: [Int64: [Int64]] = [:]
    try connection.each("SELECT section, placeholders FROM section_content") { row in
      let targets = PlaceholderCoding.decodeSection(row.bytes(1)).map(\.target)
      for entity in Set(targets.map(\.entity)) { references[entity, default: 0] += 1 }
      counts[row.anyInteger(0)] = PlaceholderCoding.counts(targets)
    }
    return (references, counts)
  }
}

extension PlaceholderCoding {
  /// Returns the number of a section's entities by the broadest scope at which they are visible.
  static func counts(_ targets: [SectionTarget]) -> [Int64] {
    var scopes: [Int64: Scope] = [:]
    for target in targets {
      scopes[target.entity] = min(scopes[target.entity] ?? target.scope, target.scope)
    }
    var counts = [Int64](repeating: 0, count: Scope.allCases.count)
    for scope in scopes.values { counts[scope.rawValue] += 1 }
    return counts
  }
}
