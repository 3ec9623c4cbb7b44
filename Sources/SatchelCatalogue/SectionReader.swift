import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads the sections that are visible from a location, in one read transaction.
struct SectionReader {
  let catalogue: Catalogue
  let connection: Connection
  let location: Location

  /// Returns the current time. Called only where it is needed, because it reads a page.
  func now() throws -> Int64 { try catalogue.database.time(connection) }

  private var sections: SectionTable { SectionTable(connection: connection) }
  private var contexts: ContextTable { ContextTable(connection: connection) }

  /// A section that is visible from the location, and the context that makes it visible.
  struct VisibleSection {
    var record: SectionRecord
    var context: ServingContext
  }

  /// Whether a section is visible: content of another place only when part of it covers the location.
  private func isVisible(_ record: SectionRecord, in context: ServingContext) -> Bool {
    context.coverage == .everything || record.entityCount(context.coverage) > 0
  }

  // MARK: Finding

  /// Returns the context that serves the location, and records its use.
  func serving() throws -> ServingContext? {
    guard let context = try contexts.serving(location) else { return nil }
    catalogue.usage.note(context.row, at: catalogue.database.clock.now())
    return context
  }

  func visibleSections(union: Bool) throws -> [VisibleSection] {
    var found: [VisibleSection] = []
    if !union {
      guard let context = try serving() else { return [] }
      for record in try sections.records(of: context.row) where isVisible(record, in: context) {
        found.append(VisibleSection(record: record, context: context))
      }
      return found
    }
    var names: Set<String> = []
    try contexts.sharing(location) { context in
      for record in try sections.records(of: context.row)
      where !names.contains(record.name) && isVisible(record, in: context) {
        names.insert(record.name)
        found.append(VisibleSection(record: record, context: context))
      }
      if context.isExact { catalogue.usage.note(context.row, at: catalogue.database.clock.now()) }
    }
    return found
  }

  func visibleSection(_ name: String, union: Bool) throws -> VisibleSection? {
    if !union {
      guard let context = try serving(), let record = try sections.record(name, of: context.row),
        isVisible(record, in: context)
      else { return nil }
      return VisibleSection(record: record, context: context)
    }
    return try visibleSections(union: true).first { $0.record.name.hasSameBytes(as: name) }
  }

  // MARK: Content

  /// Loads a section for an edit: with expired entities, and with the `_storage` of each entity.
  func loadForEdit(_ name: String) throws -> Section? {
    guard let found = try visibleSection(name, union: false),
      let rendered = try render(found, allowsExpired: true, keepsTags: true)
    else { return nil }
    return try Section(found, rendered)
  }

  /// Renders the content of a section that is visible from the location; nil when the content row was lost.
  func render(_ found: VisibleSection, allowsExpired: Bool, keepsTags: Bool = false) throws
    -> RenderedContent?
  {
    guard var template = try sections.content(found.record.id) else { return nil }
    if found.context.coverage != .everything { template = try template.containersOnly() }
    var renderer = Renderer(
      entities: EntityTable(connection: connection),
      variants: { try catalogue.index.view(of: connection) }, chain: try chain(for: found.context),
      coverage: found.context.coverage, now: try now(), allowsExpired: allowsExpired)
    renderer.keepsTags = keepsTags
    let name = "section \(found.record.name)"
    try Renderer.naming(name) { try renderer.render(template) }
    do {
      // The file may be damaged, or written by another program.
      try renderer.output.withUnsafeBytes { try JSONScanner.check($0) }
    } catch {
      throw SatchelError(.damaged, "\(name): its content is not valid JSON: \(error)", underlying: error)
    }
    if !renderer.expired.ids.isEmpty { catalogue.database.noteExpiry() }
    return RenderedContent(
      content: renderer.output, missing: renderer.missing.ids, expired: renderer.expired.ids)
  }

  /// Returns the places for looking up nested entities: the context's own when all of its content is visible.
  private func chain(for context: ServingContext) throws -> PlaceChain {
    guard context.coverage == .everything else { return try PlaceChain(location, in: connection) }
    return try connection.first(
      "SELECT country, adminarea, locality, sublocality, coordinate FROM context WHERE id = ?",
      .integer(context.row), read: { try PlaceChain($0, from: 0) }) ?? PlaceChain()
  }

  // MARK: Plans

  func plan() throws -> [(section: String, plan: Plan)] {
    let entities = EntityTable(connection: connection)
    let now = try now()
    return try visibleSections(union: false).map { found in
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
      return (found.record.name, Plan(fresh: fresh.ids, expired: expired.ids, missing: missing.ids))
    }
  }
}
