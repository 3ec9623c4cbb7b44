import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads the sections that are visible from a location, in one read transaction.
struct SectionReader {
  let catalogue: Catalogue
  let connection: Connection
  let location: Location

  func now() -> Int64 { catalogue.database.clock.now() }

  private var sections: SectionTable { SectionTable(connection: connection) }

  // MARK: Finding

  func finder(_ inheritance: Inheritance) throws -> SectionFinder {
    try SectionFinder(location, inheritance, in: connection)
  }

  /// Returns the visible sections, and records the use of their contexts.
  func visibleSections(_ inheritance: Inheritance) throws -> [VisibleSection] {
    let found = try finder(inheritance).all()
    note(found)
    return found
  }

  func visibleSection(_ name: String, _ inheritance: Inheritance) throws -> VisibleSection? {
    guard let found = try finder(inheritance).section(name) else { return nil }
    note([found])
    return found
  }

  /// Records the use of the contexts of sections.
  func note(_ sections: [VisibleSection]) {
    guard !sections.isEmpty else { return }
    let now = catalogue.database.clock.now()
    for context in Set(sections.map(\.context.row)) { catalogue.usage.note(context, at: now) }
  }

  // MARK: Content

  /// Loads a section for an edit: with expired entities, and with the `_storage` of each entity.
  func loadForEdit(_ name: String) throws -> Section? {
    guard let found = try visibleSection(name, Inheritance(nearby: 0)),
      let rendered = try render(found, allowsExpired: true, keepsTags: true, keepsMissing: true)
    else { return nil }
    return try Section(found, rendered, at: now())
  }

  /// Renders the content of a section that is visible from the location; nil when the content row was lost.
  ///
  /// - Parameters:
  ///   - keepsTags: whether entities keep their `_storage`
  ///   - keepsMissing: whether pruned entities are rendered as objects with only their `_storage`
  func render(
    _ found: VisibleSection, allowsExpired: Bool, keepsTags: Bool = false, keepsMissing: Bool = false
  ) throws -> RenderedContent? {
    guard var template = try sections.content(found.record.id) else { return nil }
    let isStale = !allowsExpired && found.record.isStale(at: now())
    if isStale, try isPinned(found) {
      return try render(found, allowsExpired: true, keepsTags: keepsTags, keepsMissing: keepsMissing)
    }
    if isStale { catalogue.database.noteExpiry() }
    if found.context.coverage != .everything || isStale { template = try template.containersOnly() }
    var renderer = Renderer(
      entities: EntityTable(connection: connection),
      variants: { try catalogue.index.view(of: connection) }, chain: found.context.places,
      coverage: found.context.coverage, now: now(), allowsExpired: allowsExpired)
    (renderer.keepsTags, renderer.keepsMissing) = (keepsTags, keepsMissing)
    let name = "section \(found.record.name)"
    try locating(.section(found.record.name)) {
      try Renderer.naming(name) { try renderer.render(template) }
    }
    do {
      // The file may be damaged, or written by another program.
      try renderer.output.withUnsafeBytes { try JSONScanner.check($0) }
    } catch {
      throw SatchelError(.damaged, "\(name): its content is not valid JSON: \(error)", underlying: error)
        .at(.section(found.record.name))
    }
    if !renderer.expired.ids.isEmpty {
      catalogue.database.noteExpiry()
      // Offline, there is no other.
      if !allowsExpired, try isPinned(found) {
        return try render(found, allowsExpired: true, keepsTags: keepsTags, keepsMissing: keepsMissing)
      }
    }
    return RenderedContent(
      content: renderer.output, missing: renderer.missing.ids, expired: renderer.expired.ids)
  }

  /// Whether a section belongs to an offline region.
  private func isPinned(_ found: VisibleSection) throws -> Bool {
    try PinnedContent.has(found.record.name, of: found.context.row, in: connection)
  }

  // MARK: Plans

  func plan(_ inheritance: Inheritance) throws -> [(section: String, plan: Plan)] {
    try visibleSections(inheritance).map { ($0.record.name, try plan(of: $0)) }
  }

  func plan(of found: VisibleSection) throws -> Plan {
    let (entities, now) = (EntityTable(connection: connection), now())
    var (fresh, expired, missing) = (IDList(), IDList(), IDList())
    for placeholder in try sections.placeholders(found.record.id)
    where found.context.coverage.contains(placeholder.target.scope) {
      guard let record = try entities.record(placeholder.target.entity) else { continue }
      if record.size == nil {
        missing.add(record.entityID)
      } else if record.isExpired(at: now) {
        expired.add(record.entityID)
        catalogue.database.noteExpiry()
      } else {
        fresh.add(record.entityID)
      }
    }
    return Plan(
      fresh: fresh.ids, expired: expired.ids, missing: missing.ids, fetchedAt: found.record.fetchedAt,
      etag: found.record.etag)
  }
}
