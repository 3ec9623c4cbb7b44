import SatchelCore
import SatchelJSON
import SatchelStorage

/// Options of a prune. The default removes the content of expired entities.
public struct PruneOptions: Sendable {
  /// Whether to remove the content of expired entities.
  public var expired = true
  /// Whether to remove entities that no section references.
  public var unreferenced = false
  /// Restricts the prune to entities that this section references.
  public var section: String?
  /// Restricts the prune to entities of this scope.
  public var scope: Scope?
  /// Restricts the prune to entities that this location's own context references.
  public var location: Location?
  /// Removes contexts that were neither written nor read for this many milliseconds, except the active
  /// location's own, or those that serve it.
  public var contextsUnusedFor: Int64?
  /// Finally removes the search index, expired content, unreferenced entities and whole contexts until the
  /// store has at most this many bytes: the least recently used contexts first, the active location's last.
  public var maxBytes: Int64?

  public init() {}

  var isNarrowed: Bool { section != nil || scope != nil || location != nil }
}

/// The counts of what a prune removed.
public struct PruneReceipt: Sendable, Equatable, JSONConvertible {
  /// The number of variants whose content was removed.
  public var entities = 0
  /// The number of contexts that were removed.
  public var contexts = 0
  /// The size of the removed content in bytes.
  public var bytes = 0
  /// The number of bytes by which the store's file shrank.
  public var fileBytes = 0

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    [
      "entities": .int(Int64(entities)), "contexts": .int(Int64(contexts)), "bytes": .int(Int64(bytes)),
      "file_bytes": .int(Int64(fileBytes)),
    ]
  }
}

extension Catalogue {
  /// Removes content, and returns its space to the file system.
  ///
  /// Without `expired` and `unreferenced`, it removes everything that `section`, `scope` and `location`
  /// select. An entity that a section still references is reported as missing afterwards, until it is
  /// delivered again.
  @discardableResult
  public func prune(_ options: PruneOptions = PruneOptions()) throws -> PruneReceipt {
    let before = try database.pageBytes()
    var receipt = try database.write { transaction in
      // Rows of entities must be in the index before they are deleted: see VariantIndex.nextRow.
      try index.merge(in: transaction)
      try usage.write(in: transaction)
      var pruner = Pruner(options, transaction, database)
      try pruner.run()
      if pruner.receipt.entities > 0 || pruner.receipt.contexts > 0 {
        pruner.noteChange()
      }
      return pruner.receipt
    }
    try database.shrink()
    receipt.fileBytes = Int(max(0, before - (try database.pageBytes())))
    return receipt
  }
}

extension Catalogue {
  /// Deletes the content of all variants of an entity, and returns its space to the file system. Sections that
  /// reference it list it as missing, until it is delivered again.
  ///
  /// Time grows with the number of stored entities.
  @discardableResult
  public func deleteEntity(_ entityID: String) throws -> PruneReceipt {
    try deleting { try $0.delete(entity: entityID) }
  }

  /// Deletes what was delivered for a location itself: its sections, and the entities that only they reference.
  @discardableResult
  public func deleteContext(_ location: Location) throws -> PruneReceipt {
    try deleting { try $0.delete(context: location) }
  }

  private func deleting(_ body: (inout Pruner) throws -> Void) throws -> PruneReceipt {
    let before = try database.pageBytes()
    var receipt = try database.write { transaction in
      try index.merge(in: transaction)
      var pruner = Pruner(PruneOptions(), transaction, database)
      try body(&pruner)
      if pruner.receipt.entities > 0 || pruner.receipt.contexts > 0 { pruner.noteChange() }
      return pruner.receipt
    }
    try database.shrink()
    receipt.fileBytes = Int(max(0, before - (try database.pageBytes())))
    return receipt
  }
}

/// Performs a prune, inside one transaction.
private struct Pruner {
  let options: PruneOptions
  let transaction: Transaction
  let connection: Connection
  let database: Database
  let entities: EntityTable
  var receipt = PruneReceipt()
  private var (changedSections, changedEntities) = (IDList(), IDList())

  /// The maximum number of keys in a change; with more, observers are notified of `*` and read everything
  /// again.
  private static let maxKeys = 1000

  init(_ options: PruneOptions, _ transaction: Transaction, _ database: Database) {
    self.options = options
    self.transaction = transaction
    self.database = database
    connection = transaction.connection
    entities = EntityTable(connection: connection)
  }

  /// Notifies observers of the removed content.
  func noteChange() {
    let (sections, entities) = (changedSections.ids, changedEntities.ids)
    if sections.count + entities.count > Self.maxKeys {
      transaction.note(subject: .catalogue, keys: ["*"])
    } else {
      transaction.note(subject: .catalogue, keys: sections + entities, sectionCount: sections.count)
    }
  }

  mutating func run() throws {
    if options.expired || options.unreferenced {
      try pruneByCondition()
    } else if options.isNarrowed {
      try pruneSelected()
    }
    if let age = options.contextsUnusedFor, age >= 0 {
      try removeContexts(
        leastRecentlyUsed().filter { $0.usedAt <= transaction.now - age && !$0.isActive }.map(\.row))
    }
    if let maxBytes = options.maxBytes, maxBytes >= 0 { try shrink(to: maxBytes) }
    try entities.refreshBlocks(at: transaction.now)
  }

  mutating func delete(entity entityID: String) throws {
    var rows: [Int64] = []
    try connection.each("SELECT id FROM entity WHERE entity_id = ?", .text(entityID)) {
      rows.append($0.anyInteger(0))
    }
    for row in rows { try prune(row) }
    try entities.refreshBlocks(at: transaction.now)
  }

  mutating func delete(context location: Location) throws {
    let row = try ContextTable(connection: connection).exact(PlaceChain(location, in: connection))
    if row != 0 { try removeContexts([row]) }
    try entities.refreshBlocks(at: transaction.now)
  }

  // MARK: Selection

  /// Returns the sections that the options select; all when they select none.
  private func selectedSections() throws -> [(context: Int64, name: String, id: Int64)] {
    var found: [(Int64, String, Int64)] = []
    if let location = options.location {
      let chain = try PlaceChain(location, in: connection)
      let context = try ContextTable(connection: connection).exact(chain)
      for record in try SectionTable(connection: connection).records(of: context) {
        found.append((context, record.name, record.id))
      }
    } else {
      try connection.each("SELECT context, name, id FROM section") {
        found.append(($0.anyInteger(0), $0.text(1), $0.anyInteger(2)))
      }
    }
    guard let section = options.section else { return found }
    return found.filter { $0.1.hasSameBytes(as: section) }
  }

  private func referenced(by sections: [(context: Int64, name: String, id: Int64)]) throws -> Set<Int64> {
    let table = SectionTable(connection: connection)
    var rows: Set<Int64> = []
    for section in sections { rows.formUnion(try table.placeholders(section.id).map(\.target.entity)) }
    return rows
  }

  private mutating func pruneByCondition() throws {
    var rows: [Int64] = []
    if options.expired {
      rows = try entities.expired(at: transaction.now)
      if options.section != nil || options.location != nil {
        let selected = try referenced(by: selectedSections())
        rows.removeAll { !selected.contains($0) }
      }
    }
    if options.unreferenced { rows += try unreferenced() }
    for row in Set(rows).sorted() { try prune(row) }
  }

  private func unreferenced() throws -> [Int64] {
    var rows: [Int64] = []
    let places = try options.location.map { try PlaceChain($0, in: connection) }
    try connection.each("SELECT id, entity_id, scope, place FROM entity WHERE reference_count = 0") { row in
      // No section references them: only their id and place give their section and location.
      if let section = options.section, EntityID.section(of: row.text(1)) != section { return }
      if let places {
        guard let scope = Scope(rawValue: Int(row.anyInteger(2))),
          places.place(of: scope) == row.anyInteger(3)
        else { return }
      }
      rows.append(row.anyInteger(0))
    }
    return rows
  }

  private mutating func pruneSelected() throws {
    if options.scope != nil {
      if options.section == nil, options.location == nil {
        var rows: [Int64] = []
        try connection.each("SELECT id FROM entity") { rows.append($0.anyInteger(0)) }
        for row in rows { try prune(row) }
      } else {
        for row in try referenced(by: selectedSections()).sorted() { try prune(row) }
      }
      return
    }
    let sections = try selectedSections()
    let rows = try referenced(by: sections)
    for section in sections {
      try SectionTable.remove(section.name, of: section.context, in: transaction)
      changedSections.add(section.name)
    }
    try pruneUnreferenced(rows)
    for context in Set(sections.map(\.context)).sorted()
    where try connection.number("SELECT count(*) FROM section WHERE context = ?", .integer(context)) == 0 {
      try ContextTable.remove(context, in: transaction)
      receipt.contexts += 1
    }
  }

  // MARK: Removing

  private mutating func prune(_ row: Int64) throws {
    guard let record = try entities.record(row) else { return }
    if let scope = options.scope, record.scope != scope { return }
    guard let bytes = try entities.prune(row) else { return }
    changedEntities.add(record.entityID)
    receipt.entities += 1
    receipt.bytes += Int(bytes)
  }

  private mutating func pruneUnreferenced(_ rows: Set<Int64>) throws {
    for row in rows.sorted()
    where try connection.number("SELECT reference_count FROM entity WHERE id = ?", .integer(row)) == 0 {
      guard let record = try entities.record(row) else { continue }
      changedEntities.add(record.entityID)
      if let bytes = try entities.prune(row) {
        receipt.entities += 1
        receipt.bytes += Int(bytes)
      }
    }
  }

  private func leastRecentlyUsed() throws -> [(row: Int64, usedAt: Int64, isActive: Bool)] {
    // The context of the active location, or those of other places that serve it: their content is on the
    // screen.
    let active = try Catalogue.activeLocation(connection).map { location in
      let finder = try SectionFinder(location, Inheritance(), in: connection)
      return Set(finder.isExact ? finder.ownRows : try finder.all().map(\.context.row))
    }
    var found: [(row: Int64, usedAt: Int64, isActive: Bool)] = []
    try connection.each(
      """
      SELECT id, max(used_at, ifnull((SELECT max(updated_at) FROM section WHERE context = context.id), 0)) AS used
      FROM context ORDER BY used, id
      """
    ) {
      found.append(($0.anyInteger(0), try $0.integer(1), active?.contains($0.anyInteger(0)) == true))
    }
    return found.filter { !$0.isActive } + found.filter { $0.isActive }
  }

  private mutating func removeContexts(_ rows: [Int64]) throws {
    for row in rows {
      let sections = try SectionTable(connection: connection).records(of: row)
      let entities = try referenced(by: sections.map { (row, $0.name, $0.id) })
      try ContextTable.remove(row, in: transaction)
      for section in sections { changedSections.add(section.name) }
      receipt.contexts += 1
      try pruneUnreferenced(entities)
    }
  }

  /// Removes content until the store has at most `maxBytes` bytes.
  private mutating func shrink(to maxBytes: Int64) throws {
    var isWithinLimit: Bool { get throws { try database.usedBytes(connection) <= maxBytes } }
    if try isWithinLimit { return }
    try SearchIndex.remove(connection)
    if try isWithinLimit { return }
    for row in try entities.expired(at: transaction.now) {
      if try isWithinLimit { return }
      try prune(row)
    }
    for row in try unreferenced() {
      if try isWithinLimit { return }
      try prune(row)
    }
    for context in try leastRecentlyUsed() {
      if try isWithinLimit { return }
      try removeContexts([context.row])
    }
  }
}
