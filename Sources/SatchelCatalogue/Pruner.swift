import SatchelCore
import SatchelStorage

/// Performs a prune, inside one transaction.
struct Pruner {
  let options: PruneOptions
  let transaction: Transaction
  let connection: Connection
  let entities: EntityTable
  var receipt = PruneReceipt()
  private var (changedSections, changedEntities) = (IDList(), IDList())

  /// The maximum number of keys in a change; with more, observers are notified of `*` and read everything
  /// again.
  private static let maxKeys = 1000

  /// The content of offline regions.
  private let pinned: PinnedContent
  /// Whether pinned content is removed as well: by a call that names it.
  private var removesPinned = false
  /// The pinned entities and sections that would have been removed otherwise.
  private var (keptEntities, keptSections) = (Set<Int64>(), Set<Int64>())

  init(_ options: PruneOptions, _ transaction: Transaction, pinned: PinnedContent) {
    self.pinned = pinned
    self.options = options
    self.transaction = transaction
    connection = transaction.connection
    entities = EntityTable(connection: connection)
  }

  /// Notifies observers of the removed content, if there is some.
  func noteChange() {
    let (sections, entities) = (changedSections.ids, changedEntities.ids)
    // A section may go alone, when others have its entities.
    if sections.isEmpty, entities.isEmpty, receipt.contexts == 0 { return }
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
        leastRecentlyUsed().filter { $0.usedAt <= transaction.now - age }.map(\.row))
    }
    if let maxBytes = options.maxBytes, maxBytes >= 0 { try shrink(to: maxBytes) }
    try RefreshTable(existingIn: connection)?.removeOld(now: transaction.now)
    try entities.refreshBlocks(at: transaction.now)
    receipt.pinnedBytes = try keptBytes()
  }

  mutating func delete(entity entityID: String) throws {
    removesPinned = true
    var rows: [Int64] = []
    try connection.each("SELECT id FROM entity WHERE entity_id = ?", .text(entityID)) {
      rows.append($0.anyInteger(0))
    }
    for row in rows { try prune(row) }
    try entities.refreshBlocks(at: transaction.now)
  }

  /// Removes the content of a deleted region that nothing else needs.
  mutating func delete(_ content: PinnedContent) throws -> RegionDeletion {
    var deletion = RegionDeletion()
    let before = try liveBytes()
    let active = try activeContexts()
    for context in content.contexts.ordered() where !active.contains(context) {
      deletion.sections += try removeSections(of: context) { content.sections.contains($0) }
    }
    try pruneUnreferenced(content.entities)
    try entities.refreshBlocks(at: transaction.now)
    if deletion.sections > 0 || receipt.entities > 0 { noteChange() }
    deletion.entities = receipt.entities
    deletion.bytes = max(0, before - (try liveBytes()))
    return deletion
  }

  mutating func delete(context location: Location) throws {
    removesPinned = true
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
    for row in Set(rows).ordered() { try prune(row) }
  }

  /// - Parameter isRestricted: whether only those that the options select
  private func unreferenced(isRestricted: Bool = true) throws -> [Int64] {
    var rows: [Int64] = []
    let places = isRestricted ? try options.location.map { try PlaceChain($0, in: connection) } : nil
    try connection.each("SELECT id, entity_id, scope, place FROM entity WHERE reference_count = 0") { row in
      // No section references them: only their id and place give their section and location.
      if isRestricted, let section = options.section, EntityID.section(of: row.text(1)) != section { return }
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
        for row in try referenced(by: selectedSections()).ordered() { try prune(row) }
      }
      return
    }
    let selected = try selectedSections()
    let sections = selected.filter { !isPinned(section: $0.id) }
    for section in selected where isPinned(section: section.id) { keptSections.insert(section.id) }
    let rows = try referenced(by: sections)
    for section in sections {
      try forgetRequests(for: [section.name], of: section.context)
      try SectionTable.remove(section.name, of: section.context, in: transaction)
      changedSections.add(section.name)
    }
    try pruneUnreferenced(rows)
    for context in Set(sections.map(\.context)).ordered()
    where try connection.number("SELECT count(*) FROM section WHERE context = ?", .integer(context)) == 0 {
      try ContextTable.remove(context, in: transaction)
      receipt.contexts += 1
    }
  }

  // MARK: Removing

  /// - Parameter ofAnyScope: whether the options' scope does not restrict it
  private mutating func prune(_ row: Int64, ofAnyScope: Bool = false) throws {
    guard let record = try entities.record(row) else { return }
    if !ofAnyScope, let scope = options.scope, record.scope != scope { return }
    if isPinned(entity: row) {
      keptEntities.insert(row)
      return
    }
    guard let bytes = try entities.prune(row) else { return }
    changedEntities.add(record.entityID)
    receipt.entities += 1
    receipt.bytes += Int(bytes)
  }

  private mutating func pruneUnreferenced(_ rows: Set<Int64>) throws {
    for row in rows.ordered()
    where try connection.number("SELECT reference_count FROM entity WHERE id = ?", .integer(row)) == 0 {
      guard !isPinned(entity: row) else {
        keptEntities.insert(row)
        continue
      }
      guard let record = try entities.record(row) else { continue }
      changedEntities.add(record.entityID)
      if let bytes = try entities.prune(row) {
        receipt.entities += 1
        receipt.bytes += Int(bytes)
      }
    }
  }

  /// The contexts of the active location, or those of other places that serve it: their content is on the screen.
  private func activeContexts() throws -> Set<Int64> {
    guard let location = try Catalogue.activeLocation(connection) else { return [] }
    let finder = try SectionFinder(location, Inheritance(), in: connection)
    return Set(finder.isExact ? finder.ownRows : try finder.all().map(\.context.row))
  }

  /// Returns the contexts that are not active, the least recently used first.
  private func leastRecentlyUsed() throws -> [(row: Int64, usedAt: Int64)] {
    let active = try activeContexts()
    var found: [(row: Int64, usedAt: Int64)] = []
    try connection.each(
      """
      SELECT id, max(used_at, ifnull((SELECT max(updated_at) FROM section WHERE context = context.id), 0)) AS used
      FROM context ORDER BY used, id
      """
    ) {
      let row = $0.anyInteger(0)
      if !active.contains(row) { found.append((row, try $0.integer(1))) }
    }
    return found
  }

  /// The bytes of the kept sections, and of the kept entities: those that were selected themselves, and those to which no
  /// other section refers.
  private func keptBytes() throws -> Int64 {
    var (bytes, rows, references) = (Int64(0), keptEntities, [Int64: Int64]())
    for section in keptSections {
      bytes += try connection.number(
        "SELECT length(template) FROM section_content WHERE section = ?", .integer(section))
      for row in try referenced(by: [(0, "", section)]) { references[row, default: 0] += 1 }
    }
    for (row, count) in references
    where try connection.number("SELECT reference_count FROM entity WHERE id = ?", .integer(row)) <= count {
      rows.insert(row)
    }
    for row in rows {
      bytes += try connection.number("SELECT ifnull(size, 0) FROM entity WHERE id = ?", .integer(row))
    }
    return bytes
  }

  private func isPinned(section: Int64) -> Bool { !removesPinned && pinned.sections.contains(section) }

  private func isPinned(entity row: Int64) -> Bool { !removesPinned && pinned.entities.contains(row) }

  /// Removes those sections of a context that are not pinned, and the context when none is left.
  ///
  /// - Parameter isSelected: by the id of a section
  /// - Returns: the number of removed sections
  @discardableResult
  private mutating func removeSections(of row: Int64, where isSelected: (Int64) -> Bool) throws -> Int {
    let all = try SectionTable(connection: connection).records(of: row)
    let sections = all.filter { isSelected($0.id) && !isPinned(section: $0.id) }
    for section in all where isSelected(section.id) && isPinned(section: section.id) {
      keptSections.insert(section.id)
    }
    let entities = try referenced(by: sections.map { (row, $0.name, $0.id) })
    if sections.count == all.count {
      try forgetRequests(for: nil, of: row)
      try ContextTable.remove(row, in: transaction)
      receipt.contexts += 1
    } else if !sections.isEmpty {
      try forgetRequests(for: sections.map(\.name), of: row)
      for section in sections { try SectionTable.remove(section.name, of: row, in: transaction) }
    }
    for section in sections { changedSections.add(section.name) }
    try pruneUnreferenced(entities)
    return sections.count
  }

  /// Forgets how long removed sections are fresh: they are asked for again.
  ///
  /// - Parameter names: nil when the context is removed
  private func forgetRequests(for names: [String]?, of context: Int64) throws {
    guard let table = try RefreshTable(existingIn: connection),
      let location = try ContextTable(connection: connection).location(of: context)
    else { return }
    try table.forget(RefreshTable.key(location), names)
  }

  private mutating func removeContexts(_ rows: [Int64]) throws {
    for row in rows { try removeSections(of: row) { _ in true } }
  }

  // MARK: The byte budget

  /// Returns the size of the catalogue's entities and templates.
  private func liveBytes() throws -> Int64 {
    try connection.number("SELECT ifnull(sum(size), 0) FROM entity")
      + connection.number("SELECT ifnull(sum(length(template)), 0) FROM section_content")
  }

  private func templateBytes(of context: Int64) throws -> Int64 {
    try connection.number(
      """
      SELECT ifnull(sum(length(c.template)), 0) FROM section s JOIN section_content c ON c.section = s.id
      WHERE s.context = ?
      """, .integer(context))
  }

  /// Removes content until the catalogue has at most `maxBytes` bytes, or only what the active location shows.
  private mutating func shrink(to maxBytes: Int64) throws {
    let before = try liveBytes()
    let removedBefore = receipt.bytes
    var templates: Int64 = 0
    var live: Int64 { before - templates - Int64(receipt.bytes - removedBefore) }
    defer { (receipt.liveBytes, receipt.overBudget) = (live, max(0, live - maxBytes)) }
    guard live > maxBytes else { return }
    try SearchIndex.remove(connection)
    let active = try activeContexts()
    var shown: Set<Int64> = []
    for context in active {
      let sections = try SectionTable(connection: connection).records(of: context)
      shown.formUnion(try referenced(by: sections.map { (context, $0.name, $0.id) }))
    }
    for row in try entities.expired(at: transaction.now) where !shown.contains(row) {
      if live <= maxBytes { return }
      try prune(row, ofAnyScope: true)
    }
    for row in try unreferenced(isRestricted: false) {
      if live <= maxBytes { return }
      try prune(row, ofAnyScope: true)
    }
    for context in try leastRecentlyUsed() {
      if live <= maxBytes { return }
      let before = try templateBytes(of: context.row)
      try removeContexts([context.row])
      templates += before - (try templateBytes(of: context.row))
    }
  }
}
