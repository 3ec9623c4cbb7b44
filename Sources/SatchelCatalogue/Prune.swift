import SatchelJSON
import SatchelStorage

/// What to remove. As it stands it removes the content of entities that have expired.
public struct PruneOptions: Sendable {
  /// Content of entities that have expired.
  public var expired = true
  /// Entities that no section refers to any more.
  public var unreferenced = false
  /// Only what this section refers to.
  public var section: String?
  /// Only entities of this scope.
  public var scope: Scope?
  /// Only what this location's own context refers to.
  public var location: Location?
  /// Contexts that were neither written nor read for so many milliseconds; the active location's stays.
  public var contextsUnusedFor: Int64?
  /// Then, while the store holds more bytes than this: what expired, and whole contexts, the least recently
  /// used first, the active location's last.
  public var maxBytes: Int64?

  public init() {}

  var isNarrowed: Bool { section != nil || scope != nil || location != nil }
}

/// What was removed.
public struct PruneReceipt: Sendable, Equatable {
  /// Variants whose content went.
  public var entities = 0
  public var contexts = 0
  /// Bytes of their content.
  public var bytes = 0
  /// Bytes by which the file on disk shrank.
  public var fileBytes = 0

  /// As it crosses the C boundary.
  public var json: JSONValue {
    [
      "entities": .int(Int64(entities)), "contexts": .int(Int64(contexts)), "bytes": .int(Int64(bytes)),
      "file_bytes": .int(Int64(fileBytes)),
    ]
  }
}

extension Catalogue {
  /// Removes content, and gives its space back to the file system.
  ///
  /// With neither `expired` nor `unreferenced`, everything goes that section, scope and location name. An
  /// entity that a section still refers to is named as missing afterwards, and is whole again when it is
  /// delivered again.
  @discardableResult
  public func prune(_ options: PruneOptions = PruneOptions()) throws -> PruneReceipt {
    let before = try database.pageBytes()
    var receipt = try database.write { transaction in
      // Rows of entities must be in the index before they go: see VariantIndex.nextRow.
      try index.merge(in: transaction)
      try usage.write(in: transaction)
      var pruner = Pruner(options, transaction, database)
      try pruner.run()
      if pruner.receipt.entities > 0 || pruner.receipt.contexts > 0 {
        transaction.note(subject: "catalogue", keys: pruner.changedKeys, place: nil)
      }
      return pruner.receipt
    }
    try database.shrink()
    receipt.fileBytes = Int(max(0, before - (try database.pageBytes())))
    return receipt
  }
}

/// Carries a prune out, inside one transaction.
private struct Pruner {
  let options: PruneOptions
  let transaction: Transaction
  let connection: Connection
  let database: Database
  let entities: EntityTable
  var receipt = PruneReceipt()
  private var changed = IDList()

  /// Keys that observers are told one by one; beyond it they are told to read anew.
  private static let mostKeys = 1000

  init(_ options: PruneOptions, _ transaction: Transaction, _ database: Database) {
    self.options = options
    self.transaction = transaction
    self.database = database
    connection = transaction.connection
    entities = EntityTable(connection: connection)
  }

  var changedKeys: [String] { changed.ids.count > Self.mostKeys ? ["*"] : changed.ids }

  mutating func run() throws {
    if options.expired || options.unreferenced {
      try pruneByCondition()
    } else if options.isNarrowed {
      try pruneNamed()
    }
    if let age = options.contextsUnusedFor, age >= 0 {
      try removeContexts(
        leastRecentlyUsed().filter { $0.usedAt <= transaction.now - age && !$0.isActive }.map(\.row))
    }
    if let most = options.maxBytes, most >= 0 { try fit(into: most) }
    try entities.refreshBlocks(at: transaction.now)
  }

  // MARK: What is named

  /// Sections that the options name, all when they name none.
  private func namedSections() throws -> [(context: Int64, name: String, id: Int64)] {
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
    for section in sections { rows.formUnion(try table.holes(section.id).map(\.target.entity)) }
    return rows
  }

  private mutating func pruneByCondition() throws {
    var rows: [Int64] = []
    if options.expired {
      rows = try entities.expired(at: transaction.now)
      if options.section != nil || options.location != nil {
        let named = try referenced(by: namedSections())
        rows.removeAll { !named.contains($0) }
      }
    }
    if options.unreferenced { rows += try unreferenced() }
    for row in Set(rows).sorted() { try prune(row) }
  }

  private func unreferenced() throws -> [Int64] {
    var rows: [Int64] = []
    let places = try options.location.map { try PlaceChain($0, in: connection) }
    try connection.each("SELECT id, entity_id, scope, place FROM entity WHERE uses = 0") { row in
      // Nothing refers to them: their id and place must say where they belong.
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

  private mutating func pruneNamed() throws {
    if options.scope != nil {
      if options.section == nil, options.location == nil {
        var rows: [Int64] = []
        try connection.each("SELECT id FROM entity") { rows.append($0.anyInteger(0)) }
        for row in rows { try prune(row) }
      } else {
        for row in try referenced(by: namedSections()).sorted() { try prune(row) }
      }
      return
    }
    let sections = try namedSections()
    let rows = try referenced(by: sections)
    for section in sections {
      try SectionTable.remove(section.name, of: section.context, in: transaction)
      changed.add(section.name)
    }
    try pruneUnused(rows)
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
    changed.add(record.entityID)
    receipt.entities += 1
    receipt.bytes += Int(bytes)
  }

  private mutating func pruneUnused(_ rows: Set<Int64>) throws {
    for row in rows.sorted()
    where try connection.number("SELECT uses FROM entity WHERE id = ?", .integer(row)) == 0 {
      guard let record = try entities.record(row) else { continue }
      changed.add(record.entityID)
      if let bytes = try entities.prune(row) {
        receipt.entities += 1
        receipt.bytes += Int(bytes)
      }
    }
  }

  private func leastRecentlyUsed() throws -> [(row: Int64, usedAt: Int64, isActive: Bool)] {
    // What serves it, be it its own or another place's: that is what the person has on the screen.
    let active = try Catalogue.activeLocation(connection)
    let activeRow = try active.flatMap { try ContextTable(connection: connection).serving($0)?.row }
    var found: [(row: Int64, usedAt: Int64, isActive: Bool)] = []
    try connection.each(
      """
      SELECT id, max(used_at, ifnull((SELECT max(updated_at) FROM section WHERE context = context.id), 0)) AS used
      FROM context ORDER BY used, id
      """
    ) {
      found.append(($0.anyInteger(0), try $0.integer(1), $0.anyInteger(0) == activeRow))
    }
    return found.filter { !$0.isActive } + found.filter { $0.isActive }
  }

  private mutating func removeContexts(_ rows: [Int64]) throws {
    for row in rows {
      let sections = try SectionTable(connection: connection).records(of: row)
      let entities = try referenced(by: sections.map { (row, $0.name, $0.id) })
      try ContextTable.remove(row, in: transaction)
      for section in sections { changed.add(section.name) }
      receipt.contexts += 1
      try pruneUnused(entities)
    }
  }

  /// Takes away until what is left fits.
  private mutating func fit(into most: Int64) throws {
    var isFitting: Bool { get throws { try database.usedBytes(connection) <= most } }
    if try isFitting { return }
    for row in try entities.expired(at: transaction.now) {
      if try isFitting { return }
      try prune(row)
    }
    for row in try unreferenced() {
      if try isFitting { return }
      try prune(row)
    }
    for context in try leastRecentlyUsed() {
      if try isFitting { return }
      try removeContexts([context.row])
    }
  }
}
