import SatchelJSON
import SatchelStorage

/// Reads what a location sees, on one state of the store.
struct SectionReader {
  let catalogue: Catalogue
  let connection: Connection
  let location: Location

  /// The time, asked for only by who needs it: it costs a page.
  func now() throws -> Int64 { try catalogue.database.time(connection) }

  private var sections: SectionTable { SectionTable(connection: connection) }
  private var contexts: ContextTable { ContextTable(connection: connection) }

  /// A section that shows, and by what right.
  struct Found {
    var record: SectionRecord
    var context: ServingContext
  }

  /// Whether a section shows: content of another place only when something of it covers the location.
  private func shows(_ record: SectionRecord, in context: ServingContext) -> Bool {
    context.coverage == .everything || record.entityCount(context.coverage) > 0
  }

  // MARK: Finding

  /// The context that serves the location; its use is remembered.
  func serving() throws -> ServingContext? {
    guard let context = try contexts.serving(location) else { return nil }
    catalogue.usage.note(context.row, at: catalogue.database.clock.now())
    return context
  }

  func found(union: Bool) throws -> [Found] {
    var found: [Found] = []
    if !union {
      guard let context = try serving() else { return [] }
      for record in try sections.records(of: context.row) where shows(record, in: context) {
        found.append(Found(record: record, context: context))
      }
      return found
    }
    var names: Set<String> = []
    try contexts.sharing(location) { context in
      for record in try sections.records(of: context.row)
      where !names.contains(record.name) && shows(record, in: context) {
        names.insert(record.name)
        found.append(Found(record: record, context: context))
      }
      if context.isExact { catalogue.usage.note(context.row, at: catalogue.database.clock.now()) }
    }
    return found
  }

  func found(_ name: String, union: Bool) throws -> Found? {
    if !union {
      guard let context = try serving(), let record = try sections.record(name, of: context.row),
        shows(record, in: context)
      else { return nil }
      return Found(record: record, context: context)
    }
    return try found(union: true).first { $0.record.name.hasSameBytes(as: name) }
  }

  // MARK: Content

  /// A section as an edit starts from: expired entities in it, and each with its `_storage`.
  func loadForEdit(_ name: String) throws -> Section? {
    guard let found = try found(name, union: false),
      let rendered = try render(found, allowsExpired: true, keepsTags: true)
    else { return nil }
    return try Section(found, rendered)
  }

  /// A section's content as a location sees it, still bytes; nil when the file has lost it.
  func render(_ found: Found, allowsExpired: Bool, keepsTags: Bool = false) throws -> RenderedContent? {
    guard var template = try sections.content(found.record.id) else { return nil }
    let isWhole = found.context.coverage == .everything
    if !isWhole { template = try template.containersOnly() }
    var renderer = Renderer(
      entities: EntityTable(connection: connection),
      variants: { try catalogue.index.view(of: connection) }, chain: try chain(for: found.context),
      coverage: found.context.coverage, now: try now(), allowsExpired: allowsExpired)
    renderer.keepsTags = keepsTags
    let name = "section \(found.record.name)"
    try Renderer.naming(name) { try renderer.render(template) }
    do {
      // What the file has may be damaged, or written by somebody else.
      try renderer.output.withUnsafeBytes { try JSONScanner.check($0) }
    } catch {
      throw SatchelError(.damaged, "\(name): its content is damaged: \(error)", underlying: error)
    }
    if !renderer.expired.ids.isEmpty { catalogue.database.noteExpiry() }
    return RenderedContent(
      content: renderer.output, missing: renderer.missing.ids, expired: renderer.expired.ids)
  }

  /// The places to find nested entities by: the context's own where all of it shows.
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
    return try found(union: false).map { found in
      var (fresh, expired, missing) = (IDList(), IDList(), IDList())
      for hole in try sections.holes(found.record.id) where found.context.coverage.contains(hole.target.scope)
      {
        guard let record = try entities.record(hole.target.entity) else { continue }
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
