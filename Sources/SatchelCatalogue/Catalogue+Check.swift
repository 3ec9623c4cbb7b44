import SatchelCore
import SatchelJSON
import SatchelStorage

extension Catalogue {
  /// Returns the inconsistencies between the catalogue's rows and counts. Reads all of its tables.
  package func check() throws -> [StoreFinding] {
    var findings = try database.read { connection in
      var check = CatalogueCheck(connection: connection)
      try check.run()
      return try check.findings + checkAssets(connection) + Self.checkRegions(connection)
    }
    do {
      // Compares the index with its tokens; SQLite requires write access for it.
      if try database.has(SearchIndex.subject) {
        try database.maintain {
          try $0.run("INSERT INTO entity_search(entity_search) VALUES('integrity-check')")
        }
      }
    } catch let error as SatchelError where error.code == .damaged {
      findings.append(
        StoreFinding(code: "entity_search", message: "the search index does not match its tokens"))
    }
    return findings
  }
}

extension Catalogue {
  private static func checkRegions(_ connection: Connection) throws -> [StoreFinding] {
    guard try connection.has(table: "region") else { return [] }
    var findings = try connection.findings(of: RegionSchema.invariants)
    try connection.each("SELECT name, definition FROM region ORDER BY name") { row in
      if (try? RegionDefinition(json: JSONValue(parsing: row.bytes(1)))) == nil {
        findings.append(
          StoreFinding(
            code: "region_definition", message: "region \(row.text(0)): its definition cannot be read"))
      }
    }
    return findings
  }

  /// The rules that SQL can express; `CatalogueCheck` has the others.
  static let rules = [
    Invariant(
      "section_context", counted: "% sections have no context",
      offenders: "SELECT 1 FROM section WHERE context NOT IN (SELECT id FROM context)",
      mending: "DELETE FROM section WHERE context NOT IN (SELECT id FROM context)"),
    Invariant(
      "missing_content", each: "section % has no content",
      offenders: "SELECT name FROM section WHERE id NOT IN (SELECT section FROM section_content)",
      mending: "DELETE FROM section WHERE id NOT IN (SELECT section FROM section_content)"),
    Invariant(
      "orphaned_content", counted: "% section contents have no section",
      offenders: "SELECT 1 FROM section_content WHERE section NOT IN (SELECT id FROM section)",
      mending: "DELETE FROM section_content WHERE section NOT IN (SELECT id FROM section)"),
    Invariant(
      "section_content", counted: "% sections share their content",
      offenders: "SELECT 1 FROM section GROUP BY id HAVING count(*) > 1"),
    Invariant(
      "orphaned_content", counted: "% entity contents have no entity",
      offenders: "SELECT 1 FROM entity_content WHERE entity NOT IN (SELECT id FROM entity)",
      mending: "DELETE FROM entity_content WHERE entity NOT IN (SELECT id FROM entity)"),
    Invariant(
      "content_size", each: "entity % has content whose size differs from the stored size",
      offenders: """
        SELECT e.entity_id FROM entity e LEFT JOIN entity_content c ON c.entity = e.id
        WHERE e.size IS NOT length(c.body)
        """,
      mending: "UPDATE entity SET size = (SELECT length(body) FROM entity_content WHERE entity = entity.id)"),
    // A missing block, or one with a time that is too late, hides expired entities from pruning; a time that is too
    // early only costs a read.
    Invariant(
      "expiry_block",
      counted: "% expiry blocks are missing, or have a time later than that of their entities",
      offenders: """
        SELECT 1 FROM (SELECT id / \(EntityTable.blockSize) AS number, min(expires_at) AS earliest FROM entity
        WHERE size IS NOT NULL GROUP BY number) e LEFT JOIN expiry_block b ON b.block = e.number
        WHERE b.earliest IS NULL OR b.earliest > e.earliest
        """,
      mending: """
        DELETE FROM expiry_block;
        INSERT INTO expiry_block(block, earliest)
        SELECT id / \(EntityTable.blockSize) AS number, min(expires_at) FROM entity
        WHERE size IS NOT NULL GROUP BY number
        """),
  ]
}

/// Checks the catalogue's tables: recomputes everything that is derived from other rows, and compares it.
private struct CatalogueCheck {
  let connection: Connection
  var findings: [StoreFinding] = []
  /// The number of sections that reference each entity, by the entity's row.
  private var references: [Int64: Int64] = [:]

  init(connection: Connection) { self.connection = connection }

  mutating func run() throws {
    findings += try connection.findings(of: Catalogue.rules)
    try checkPlaces()
    try checkSections()
    try checkInheritance()
    try checkPositions()
    try checkSearch()
    try checkEntities()
    try checkIndex()
  }

  private mutating func report(_ code: String, _ message: String) {
    findings.append(StoreFinding(code: code, message: message))
  }

  // MARK: Places

  private mutating func checkPlaces() throws {
    var identities: [Int64: String] = [:]
    try connection.each("SELECT id, level, identity FROM place") { row in
      identities[row.anyInteger(0)] = "\(row.anyInteger(1)) \(row.text(2))"
    }
    var contexts: [Int64: PlaceChain] = [:]
    try connection.each(
      "SELECT id, country, adminarea, locality, sublocality, coordinate, location FROM context ORDER BY id"
    ) { row in
      let chain = try PlaceChain(row, from: 1)
      contexts[row.anyInteger(0)] = chain
      let location = try? Location(json: JSONValue(parsing: row.bytes(6)))
      let keys = location?.keys.map { "\($0.level.rawValue) \($0.identity)" }
      if keys.map(Set.init) != Set(chain.levels.map { identities[chain[$0]] ?? "" }) {
        report(
          "context_place",
          "context \(row.anyInteger(0)) is stored for places that differ from those of its location")
      }
    }

    // The contexts with global content, each with the revision of its last update.
    var global: Set<[Int64]> = []
    try connection.each(
      """
      SELECT a.context, a.revision FROM context_at a WHERE a.own = 1
      AND EXISTS (SELECT 1 FROM section WHERE context = a.context AND in_global > 0)
      """
    ) { global.insert([$0.anyInteger(0), $0.anyInteger(1)]) }
    var listed: [Int64: (entries: Int, revisions: Set<Int64>)] = [:]
    try connection.each("SELECT place, own, revision, context FROM context_at") { row in
      let (place, context) = (row.anyInteger(0), row.anyInteger(3))
      if place == 0 {
        let isSound = global.remove([context, row.anyInteger(2)]) != nil && !row.flag(1)
        if !isSound { report("context_at", "context \(context) is listed without global content") }
        return
      }
      guard let chain = contexts[context], let level = chain.levels.first(where: { chain[$0] == place }),
        row.flag(1) == (level == chain.levels.first)
      else {
        return report("context_at", "context \(context) is listed at a place that does not contain it")
      }
      listed[context, default: (0, [])].entries += 1
      listed[context]?.revisions.insert(row.anyInteger(2))
    }
    if !global.isEmpty {
      report("context_at", "\(global.count) contexts with global content are not listed as such")
    }
    for (context, chain) in contexts.ordered(by: { $0.key < $1.key }) {
      let found = listed[context]
      if found?.entries ?? 0 != chain.levels.count || found.map({ $0.revisions.count > 1 }) == true {
        report("context_at", "context \(context) is not listed once at each of its places, with one revision")
      }
    }
  }

  // MARK: Sections

  private mutating func checkSections() throws {
    try connection.each(
      """
      SELECT s.name, c.placeholders, c.template, s.in_global, s.in_country, s.in_adminarea, s.in_locality,
      s.in_sublocality, s.in_coordinate FROM section s JOIN section_content c ON c.section = s.id
      """
    ) { row in
      let name = row.text(0)
      let placeholders = PlaceholderCoding.decodeSection(row.bytes(1))
      for entity in Set(placeholders.map(\.target.entity)) { references[entity, default: 0] += 1 }
      if !PlaceholderCoding.isSection(row.bytes(1), of: row.bytes(2)) {
        report("placeholder", "section \(name): its placeholders do not match its content")
      }
      let stored = (3..<9).map { row.anyInteger($0) }
      let counted = PlaceholderCoding.counts(placeholders.map(\.target))
      if stored != counted {
        report("section_counts", "section \(name) has \(counted) entities by scope, not \(stored)")
      }
    }
  }

  private mutating func checkPositions() throws {
    if let fault = try PositionIndex(connection: connection).fault() { report("context_position", fault) }
  }

  private mutating func checkSearch() throws {
    if let fault = try SearchIndex(connection: connection).fault() { report("entity_search", fault) }
  }

  /// Compares the list of the sections that can be inherited with the sections.
  private mutating func checkInheritance() throws {
    var chains: [Int64: PlaceChain] = [:]
    try connection.each("SELECT id, country, adminarea, locality, sublocality, coordinate FROM context") {
      chains[$0.anyInteger(0)] = try PlaceChain($0, from: 1)
    }
    var expected: Set<[String]> = []
    try connection.each(
      """
      SELECT context, hex(name), in_global, in_country, in_adminarea, in_locality, in_sublocality,
      in_coordinate FROM section
      """
    ) { row in
      guard let chain = chains[row.anyInteger(0)] else { return }
      if row.anyInteger(2) > 0 { expected.insert(["0", row.text(1), "\(row.anyInteger(0))"]) }
      for level in chain.inheritedLevels((2..<8).map { row.anyInteger($0) }) {
        expected.insert(["\(chain[level])", row.text(1), "\(row.anyInteger(0))"])
      }
    }
    var stale = 0
    try connection.each("SELECT place, hex(name), context FROM section_at") { row in
      if expected.remove(["\(row.anyInteger(0))", row.text(1), "\(row.anyInteger(2))"]) == nil { stale += 1 }
    }
    if stale > 0 { report("section_at", "\(stale) entries of the list of inherited sections are stale") }
    if !expected.isEmpty {
      report("section_at", "\(expected.count) sections are missing from the list of inherited sections")
    }
  }

  // MARK: Entities

  private mutating func checkEntities() throws {
    try connection.each(
      """
      SELECT e.id, e.entity_id, e.reference_count, c.body, c.placeholders, e.scope, e.place, p.level
      FROM entity e LEFT JOIN entity_content c ON c.entity = e.id LEFT JOIN place p ON p.id = e.place
      """
    ) { row in
      let expected = references.removeValue(forKey: row.anyInteger(0)) ?? 0
      let id = row.text(1)
      if row.anyInteger(2) != expected {
        report(
          "use_count",
          "entity \(id) has the reference count \(row.anyInteger(2)), but \(expected) sections reference it")
      }
      let body = row.bytes(3)
      if !row.isNull(4), !PlaceholderCoding.isEntity(row.bytes(4), of: body) {
        report("placeholder", "entity \(id): its placeholders do not match its content")
      }
      let level = Scope(rawValue: Int(clamping: row.anyInteger(5)))?.level
      if level.map({ Int64($0.rawValue) }) != (row.anyInteger(6) == 0 ? nil : row.anyInteger(7)) {
        report("entity_place", "entity \(id) is stored for a place that its scope does not allow")
      }
    }
    for row in references.keys.ordered() {
      report("dangling_reference", "a section references entity row \(row), which does not exist")
    }
  }

  private mutating func checkIndex() throws {
    let source = VariantRows()
    let (floor, _) = try source.extent(connection)
    var (indexed, isOrdered) = (Set<[Int64]>(), true)
    do {
      try VariantRows.keys.all(connection) {
        indexed.insert([$0.hash, $0.row])
      } misplaced: { _ in
        isOrdered = false
      }
    } catch let error as SatchelError where error.code == .damaged {
      return report("entity_index", error.message)
    }
    if !isOrdered { report("entity_index", "the entity index is not sorted") }
    var missing = 0
    try source.scan(connection, from: 0, through: floor) { hash, row in
      if indexed.remove([hash, row]) == nil { missing += 1 }
    }
    if missing > 0 { report("entity_index", "\(missing) entities are missing from the entity index") }
    if !indexed.isEmpty {
      report("entity_index", "\(indexed.count) entries of the entity index are stale")
    }
  }
}

extension PlaceholderCoding {
  /// Whether the placeholders of a section fit its content.
  static func isSection(_ bytes: UnsafeRawBufferPointer, of content: UnsafeRawBufferPointer) -> Bool {
    let placeholders = decodeSection(bytes)
    return encode(placeholders).count == bytes.count && content.hasPlaceholders(placeholders)
  }

  /// Whether the placeholders of an entity fit its content.
  static func isEntity(_ bytes: UnsafeRawBufferPointer, of content: UnsafeRawBufferPointer) -> Bool {
    let placeholders = decodeEntity(bytes)
    return encode(placeholders).count == bytes.count && content.hasPlaceholders(placeholders)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes have a placeholder at each of these offsets; those of nested entities have no offset.
  fileprivate func hasPlaceholders<Target>(_ placeholders: [Template<Target>.Placeholder]) -> Bool {
    placeholders.allSatisfy { placeholder in
      placeholder.offset == PlaceholderCoding.nested
        || (placeholder.offset < count && placeholder.prefix <= placeholder.offset
          && self[placeholder.offset] == UInt8(ascii: "0"))
    }
  }
}
