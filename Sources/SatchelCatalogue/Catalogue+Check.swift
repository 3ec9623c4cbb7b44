import SatchelJSON
import SatchelStorage

extension Catalogue {
  /// Findings in the catalogue's tables: rows and counts that contradict each other. Reads all of them.
  package func check() throws -> [StoreFinding] {
    try database.read { connection in
      var check = CatalogueCheck(connection: connection)
      try check.run()
      return check.findings
    }
  }
}

/// Examines the catalogue's tables: everything that is derived from other rows is derived again and compared.
private struct CatalogueCheck {
  let connection: Connection
  var findings: [StoreFinding] = []
  /// The number of sections that refer to an entity, by the entity's row.
  private var references: [Int64: Int64] = [:]

  init(connection: Connection) { self.connection = connection }

  mutating func run() throws {
    try checkPlaces()
    try checkSections()
    try checkEntities()
    try checkExpiryBlocks()
    try checkIndex()
  }

  private mutating func find(_ code: String, _ message: String) {
    findings.append(StoreFinding(code: code, message: message))
  }

  /// Reports rows that should not be there.
  ///
  /// - Parameter query: selects their number
  private mutating func expectNone(_ query: StaticString, _ code: String, _ message: String) throws {
    let count = try connection.number(query)
    if count > 0 { find(code, "\(count) \(message)") }
  }

  // MARK: Places

  private mutating func checkPlaces() throws {
    var identities: [Int64: String] = [:]
    try connection.each("SELECT id, level, identity FROM place") { row in
      identities[row.anyInteger(0)] = "\(row.anyInteger(1)) \(row.text(2))"
    }
    var contexts: [Int64: PlaceChain] = [:]
    var contradicting: [Int64] = []
    try connection.each(
      "SELECT id, country, adminarea, locality, sublocality, coordinate, location FROM context"
    ) { row in
      let chain = try PlaceChain(row, from: 1)
      contexts[row.anyInteger(0)] = chain
      let location = try? Location(json: JSONValue(parsing: row.bytes(6)))
      let keys = location?.keys.map { "\($0.level.rawValue) \($0.identity)" }
      if keys.map(Set.init) != Set(chain.levels.map { identities[chain[$0]] ?? "" }) {
        contradicting.append(row.anyInteger(0))
      }
    }
    for context in contradicting.sorted() {
      find("context_place", "context \(context) is stored for other places than those of its location")
    }

    var listed: [Int64: (entries: Int, revisions: Set<Int64>)] = [:]
    var misplaced: [Int64] = []
    try connection.each("SELECT place, own, revision, context FROM context_at") { row in
      let (place, context) = (row.anyInteger(0), row.anyInteger(3))
      guard let chain = contexts[context], let level = chain.levels.first(where: { chain[$0] == place }),
        row.flag(1) == (level == chain.levels.first)
      else { return misplaced.append(context) }
      listed[context, default: (0, [])].entries += 1
      listed[context]?.revisions.insert(row.anyInteger(2))
    }
    for context in misplaced {
      find("context_at", "context \(context) is listed at a place that it is not in")
    }
    for (context, chain) in contexts.sorted(by: { $0.key < $1.key }) {
      let found = listed[context]
      if found?.entries ?? 0 != chain.levels.count || found.map({ $0.revisions.count > 1 }) == true {
        find("context_at", "context \(context) is not listed once at each of its places, with one revision")
      }
    }
  }

  // MARK: Sections

  private mutating func checkSections() throws {
    try expectNone(
      "SELECT count(*) FROM section WHERE context NOT IN (SELECT id FROM context)", "section_context",
      "sections belong to no context")
    try expectNone(
      "SELECT count(*) FROM section_content WHERE section NOT IN (SELECT id FROM section)",
      "orphaned_content", "section contents belong to no section")
    try expectNone(
      "SELECT count(*) - count(DISTINCT id) FROM section", "section_content", "sections share a content")

    var (references, found): ([Int64: Int64], [(String, String)]) = ([:], [])
    try connection.each(
      """
      SELECT s.name, c.holes, c.skeleton, s.in_global, s.in_country, s.in_adminarea, s.in_locality,
      s.in_sublocality, s.in_coordinate FROM section s LEFT JOIN section_content c ON c.section = s.id
      """
    ) { row in
      let name = row.text(0)
      if row.isNull(1) { return found.append(("missing_content", "section \(name) has no content")) }
      let holes = HoleCoding.decodeSection(row.bytes(1))
      for entity in Set(holes.map(\.target.entity)) { references[entity, default: 0] += 1 }
      if HoleCoding.encode(holes).count != row.bytes(1).count || !row.bytes(2).hasPlaceholders(holes) {
        found.append(("placeholder", "section \(name): its placeholders do not fit its content"))
      }
      let stored = (3..<9).map { row.anyInteger($0) }
      let counted = HoleCoding.counts(holes.map(\.target))
      if stored != counted {
        found.append(("section_counts", "section \(name) has \(counted) entities by scope, not \(stored)"))
      }
    }
    self.references = references
    for (code, message) in found { find(code, message) }
  }

  // MARK: Entities

  private mutating func checkEntities() throws {
    var references = references
    var found: [(String, String)] = []
    try connection.each(
      """
      SELECT e.id, e.entity_id, e.uses, e.size, c.body, c.holes, e.scope, e.place, p.level
      FROM entity e LEFT JOIN entity_content c ON c.entity = e.id LEFT JOIN place p ON p.id = e.place
      """
    ) { row in
      let expected = references.removeValue(forKey: row.anyInteger(0)) ?? 0
      let id = row.text(1)
      if row.anyInteger(2) != expected {
        found.append(
          ("use_count", "entity \(id) is referenced by \(expected) sections, not by \(row.anyInteger(2))"))
      }
      let body = row.bytes(4)
      if row.isNull(3) != row.isNull(4) || (!row.isNull(3) && row.anyInteger(3) != Int64(body.count)) {
        found.append(("content_size", "entity \(id) has content of another size than it states"))
      }
      if !row.isNull(5) {
        let holes = HoleCoding.decodeEntity(row.bytes(5))
        if HoleCoding.encode(holes).count != row.bytes(5).count || !body.hasPlaceholders(holes) {
          found.append(("placeholder", "entity \(id): its placeholders do not fit its content"))
        }
      }
      let level = Scope(rawValue: Int(clamping: row.anyInteger(6)))?.level
      if level.map({ Int64($0.rawValue) }) != (row.anyInteger(7) == 0 ? nil : row.anyInteger(8)) {
        found.append(("entity_place", "entity \(id) is stored for a place that its scope does not allow"))
      }
    }
    for (code, message) in found { find(code, message) }
    for row in references.keys.sorted() {
      find("dangling_reference", "a section refers to entity row \(row), which is not there")
    }
    try expectNone(
      "SELECT count(*) FROM entity_content WHERE entity NOT IN (SELECT id FROM entity)", "orphaned_content",
      "entity contents belong to no entity")
  }

  /// A block that states too late a time, or is missing, hides expired entities from pruning. One that states too early
  /// a time only costs a look.
  private mutating func checkExpiryBlocks() throws {
    try expectNone(
      """
      SELECT count(*) FROM (SELECT id / 256 AS block, min(expires_at) AS earliest FROM entity
      WHERE size IS NOT NULL GROUP BY id / 256) e LEFT JOIN expiry_block b ON b.block = e.block
      WHERE b.earliest IS NULL OR b.earliest > e.earliest
      """, "expiry_block", "blocks of entities are missing or state too late a time of expiry")
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
      return find("entity_index", error.message)
    }
    if !isOrdered { find("entity_index", "the index of entities is not in order") }
    var missing = 0
    try source.scan(connection, from: 0, through: floor) { hash, row in
      if indexed.remove([hash, row]) == nil { missing += 1 }
    }
    if missing > 0 { find("entity_index", "\(missing) entities are missing from the index of entities") }
    if !indexed.isEmpty {
      find("entity_index", "\(indexed.count) entries of the index of entities are stale")
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a placeholder stands at each of these positions; those of nested entities have no position.
  fileprivate func hasPlaceholders<Target>(_ holes: [Template<Target>.Hole]) -> Bool {
    holes.allSatisfy { hole in
      hole.offset == HoleCoding.nested
        || (hole.offset < count && hole.prefix <= hole.offset && self[hole.offset] == UInt8(ascii: "0"))
    }
  }
}
