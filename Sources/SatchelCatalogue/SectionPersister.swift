import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

/// Stores the sections of one location, inside one transaction.
final class SectionPersister {
  let catalogue: Catalogue
  let location: Location
  private let reuse: Catalogue.Reuse
  private let etag: String?
  let transaction: Transaction
  let connection: Connection
  private let entities: EntityTable
  let chain: PlaceChain
  let scopes: Set<Scope>
  let variants: VariantIndex.View
  var assets: AssetRecorder
  private var nextRow: Int64
  /// Whether a stored entity with nested ones was kept: the section then has these instead of the delivered
  /// ones.
  private var keepsNestedEntities = false
  /// Whether a context was inserted for a location with coordinates.
  private(set) var hasNewPosition = false
  /// Whether observers are notified of a section.
  private(set) var hasNoted = false
  /// The location's context, once something was written.
  private var context: Int64?
  /// The ids of the current section's entities whose content was written.
  private var changedEntities: [String] = []

  init(
    _ catalogue: Catalogue, at location: Location, reuse: Catalogue.Reuse, etag: String? = nil,
    in transaction: Transaction
  ) throws {
    self.catalogue = catalogue
    self.location = location
    (self.reuse, self.etag) = (reuse, etag)
    self.transaction = transaction
    connection = transaction.connection
    entities = EntityTable(connection: connection)
    let chain = try PlaceChain(making: location, in: transaction)
    self.chain = chain
    scopes = Set(Scope.allCases.filter { chain.place(of: $0) != nil })
    variants = try catalogue.index.view(of: connection)
    assets = try AssetRecorder(catalogue.database, transaction)
    nextRow = try VariantIndex.nextRow(connection)
  }

  /// Identifies the entities that an edit leaves unchanged: those of the stored section that the edit does
  /// not contain.
  private struct Untouched {
    /// The entities that the edit contains.
    var edited: Set<EntityTarget>
  }

  func persist(_ payload: SectionPayload, _ tape: JSONTape, pointer: String) throws -> Receipt {
    switch payload.action {
    case .replace:
      guard let content = payload.content else { throw JSONError("no content", pointer: pointer) }
      return try replace(payload, with: content, in: tape, pointer: pointer + "/content", untouched: nil)
    case .edit: return try edit(payload, tape, pointer: pointer)
    }
  }

  /// Finds or inserts the location's context, and makes it the latest of its places.
  private func touchContext() throws -> Int64 {
    let (context, isNew) = try ContextTable.touch(location, chain, in: transaction)
    if isNew, chain[.coordinate] != 0 { hasNewPosition = true }
    return context
  }

  // MARK: Edits

  private func edit(_ payload: SectionPayload, _ tape: JSONTape, pointer: String) throws -> Receipt {
    let reader = SectionReader(catalogue: catalogue, connection: connection, location: location)
    let before = try reader.loadForEdit(payload.name)
    let config = try payload.configIndex.map { try tape.value($0) } ?? .null
    let new = try payload.content.map { try tape.value($0) } ?? .null
    let edited: JSONValue
    // Where the pointer leads: into the config, otherwise into the section's content as it would be loaded.
    var root = pointer + "/config"
    do {
      let edit = try JSONEdit(config: config)
      root = ""
      edited = try edit.apply(to: before?.content ?? .null, new: new)
    } catch var error as JSONError {
      error.reason = "cannot edit section \(payload.name): \(error.reason)"
      error.pointer = error.pointer.map { root + $0 }
      throw error
    }
    var editedTargets: Set<EntityTarget> = []
    if let content = payload.content {
      let sent = NormalizedSection(tape, at: content, pointer: "", scopes: Set(Scope.allCases))
      editedTargets = Set(sent.entities.map(\.target))
    }
    var payload = payload
    payload.displayTitle = payload.displayTitle ?? before?.header.displayTitle
    let stored = try ContextTable(connection: connection).exact(chain)
    let record = stored == 0 ? nil : try SectionTable(connection: connection).record(payload.name, of: stored)
    payload.timeToLive = payload.timeToLive ?? record?.timeToLive
    payload.config = try Self.config(before?.header.config ?? .null, editedBy: config)
    if let extra = before?.header.extra, !extra.isEmpty {
      let merged = try JSONValue.object(extra).merging(
        payload.extra.map { try JSONValue(parsing: $0) } ?? [:])
      payload.extra = try merged.text
    }
    return try edited.serialized().withUnsafeBytes { bytes in
      let tape = try JSONTape(bytes)
      var receipt = try replace(
        payload, with: tape.root, in: tape, pointer: pointer + "/content",
        untouched: Untouched(edited: editedTargets))
      receipt.problems += Self.unknownMembers(of: config, pointer: pointer + "/config")
      return receipt
    }
  }

  /// Returns the members of an edit's config that are not options of an edit, such as a misspelt one.
  private static func unknownMembers(of config: JSONValue, pointer: String) -> [Receipt.Problem] {
    (config.objectValue?.keys.filter { !JSONEdit.options.contains($0) } ?? []).map {
      Receipt.Problem(
        pointer: "\(pointer)/\(JSONPointer.escaped($0))",
        reason:
          "not an option of an edit (\(JSONEdit.options.joined(separator: ", "))); kept in the section's config"
      )
    }
  }

  /// Returns the config to store: the stored config, merged with the members of the edit's config that are
  /// not edit options.
  private static func config(_ before: JSONValue, editedBy config: JSONValue) throws -> String? {
    var rest = config.objectValue ?? JSONObject()
    for key in JSONEdit.options { rest.removeValue(forKey: key) }
    let kept = rest.isEmpty ? before : try before.merging(.object(rest))
    return kept.isNull ? nil : String(decoding: try kept.serialized(), as: UTF8.self)
  }

  // MARK: Replacing

  private func replace(
    _ payload: SectionPayload, with content: Int, in tape: JSONTape, pointer: String, untouched: Untouched?
  ) throws -> Receipt {
    let normalized = NormalizedSection(tape, at: content, pointer: pointer, scopes: scopes)
    let sections = SectionTable(connection: connection)
    // Not updated yet: a section that is delivered again unchanged writes only the expiry of its entities.
    let stored = try ContextTable(connection: connection).exact(chain)
    let before = stored == 0 ? nil : try sections.record(payload.name, of: stored)
    let templateBefore = try before.flatMap { try sections.content($0.id) }
    if untouched == nil, normalized.taggedObjects == 0, let before,
      templateBefore?.placeholders.isEmpty == false,
      let tagged = try taggedContent(of: before, in: stored, ifLoadedAs: content, of: tape)
    {
      return try tagged.withUnsafeBytes { bytes in
        let tape = try JSONTape(bytes)
        return try replace(
          payload, with: tape.root, in: tape, pointer: pointer, untouched: Untouched(edited: []))
      }
    }
    var receipt = Receipt(section: payload.name)
    receipt.inline = normalized.inlineObjects
    keepsNestedEntities = false
    changedEntities = []
    receipt.problems = normalized.problems.map { .init(pointer: $0.pointer, reason: $0.reason) }
    receipt.problems += try AssetRecorder.problems(in: tape, at: content, pointer: pointer)
    let declared = try assets.declared(for: payload.name, in: tape, at: content, pointer: pointer)
    receipt.problems += declared?.problems ?? []
    receipt.problems += LargeStrings.warnings(in: tape, at: content, pointer: pointer).map {
      .init(pointer: $0.pointer, reason: $0.reason)
    }

    let usedBefore = Set(templateBefore?.placeholders.map(\.target.entity) ?? [])
    var rows: [Int64] = []
    var inserted: Set<Int64> = []
    rows.reserveCapacity(normalized.entities.count)
    try normalized.bodies.withUnsafeBytes { bodies in
      for entity in normalized.entities {
        let body = UnsafeRawBufferPointer(rebasing: bodies[entity.body])
        let (row, isNew) = try store(entity, body, untouched: untouched, in: &receipt)
        rows.append(row)
        if isNew { inserted.insert(row) }
        if let urls = declared?.urls[entity.target] {
          try assets.note(body, of: AssetOwner(.entity, row), urls: urls)
        }
      }
    }
    let used = Set(rows)
    for row in used where !usedBefore.contains(row) && !inserted.contains(row) {
      try entities.changeReferenceCount(of: row, by: 1)
    }
    for row in usedBefore.ordered() where !used.contains(row) {
      try entities.changeReferenceCount(of: row, by: -1)
      if let record = try entities.record(row) { receipt.detached.append(record.entityID) }
    }

    let filled = Self.fill(normalized, rows)
    if keepsNestedEntities || normalized.taggedObjects > Renderer.maxEntities {
      try checkSize(filled, pointer: pointer)
    }
    let isSameTemplate = templateBefore?.isEqual(to: filled) == true
    if isSameTemplate, changedEntities.isEmpty, let before, before.hasHeader(of: payload) {
      try SectionTable.noteFetch(
        payload.name, etag: etag, timeToLive: payload.timeToLive, of: stored, in: transaction)
      return receipt
    }

    let context = try source()
    var counts = [Int64](repeating: 0, count: Scope.allCases.count)
    for entity in normalized.entities { counts[entity.effectiveScope.rawValue] += 1 }
    let section = try SectionTable.write(
      payload, content: isSameTemplate ? nil : filled, counts: counts, etag: etag, replacing: before,
      of: context, in: transaction)
    if !isSameTemplate {
      try filled.bytes.withUnsafeBytes {
        try assets.note($0, of: AssetOwner(.section, section), urls: declared?.urls[nil] ?? [])
      }
    }
    try ContextTable.list(
      payload.name, of: context, chain, counts: counts, before: before?.counts, in: transaction)
    if !isSameTemplate { receipt.bytes += filled.bytes.count }
    hasNoted = true
    transaction.note(
      subject: .catalogue, keys: [payload.name] + changedEntities, sectionCount: 1,
      place: location.keys.first?.text)
    return receipt
  }

  /// Returns the location's context, for entities that are written: it is inserted before them.
  func source() throws -> Int64 {
    if let context { return context }
    let row = try touchContext()
    context = row
    return row
  }

  /// Throws for a section that is too large to load. A section with only delivered content was parsed, so it
  /// can be loaded.
  private func checkSize(_ template: Template<SectionTarget>, pointer: String) throws {
    var renderer = Renderer(
      entities: entities, variants: { self.variants }, chain: chain, coverage: .everything,
      now: transaction.now, allowsExpired: true)
    do {
      try renderer.render(template)
    } catch let error as SatchelError where error.code == .invalid {
      throw JSONError(error.message, pointer: pointer)
    }
  }

  /// Returns the template with rows as targets of its placeholders, followed by the rows of nested entities.
  private static func fill(_ normalized: NormalizedSection, _ rows: [Int64]) -> Template<SectionTarget> {
    var filled = Template<SectionTarget>(bytes: normalized.template.bytes)
    filled.placeholders = normalized.template.placeholders.map { placeholder in
      let scope = normalized.entities[placeholder.target].tag.scope
      return .init(
        offset: placeholder.offset, prefix: placeholder.prefix,
        target: SectionTarget(entity: rows[placeholder.target], scope: scope))
    }
    for (entity, row) in zip(normalized.entities, rows) where entity.isNested {
      filled.placeholders.append(
        .init(
          offset: PlaceholderCoding.nested, prefix: 0,
          target: SectionTarget(entity: row, scope: entity.effectiveScope)))
    }
    return filled
  }

  /// Stores one variant, or finds the stored one.
  ///
  /// - Returns: its row, and whether it was inserted
  private func store(
    _ entity: NormalizedSection.Entity, _ body: UnsafeRawBufferPointer, untouched: Untouched?,
    in receipt: inout Receipt
  ) throws -> (row: Int64, isNew: Bool) {
    let tag = entity.tag
    guard let place = chain.place(of: tag.scope) else {
      throw SatchelError(.internal, "an entity of scope \(tag.scope.name) without a place")
    }
    let variant = VariantIndex.Variant(entityID: tag.entityID, scope: tag.scope, place: place)
    let hash = VariantIndex.hash(variant)
    guard let row = try variants.find(variant, hash: hash), let record = try entities.record(row) else {
      let row = nextRow
      nextRow += 1
      try entities.insert(
        row, tag, place: place, displayName: entity.displayName, body: body,
        placeholders: PlaceholderCoding.encode(entity.placeholders), source: try source(),
        now: transaction.now)
      try assets.note(body, of: AssetOwner(.entity, row))
      changedEntities.append(tag.entityID)
      catalogue.index.add(hash, row: row, in: transaction)
      receipt.saved += 1
      receipt.bytes += body.count
      return (row, true)
    }
    let isStored = record.size != nil
    // It was pruned, and the edit does not contain it: it is still missing.
    if !isStored, body.count == 2, isUntouched(tag, by: untouched) { return (row, false) }
    if isStored, reuse == .untilExpiry, !record.isExpired(at: transaction.now) {
      receipt.reused += 1
      receipt.sharedBytes += Int(record.size ?? 0)
      if !keepsNestedEntities { keepsNestedEntities = try entities.hasNestedEntities(row) }
    } else if isStored, try entities.hasContent(row, body: body, placeholders: entity.placeholders) {
      if !isUntouched(tag, by: untouched) {
        try entities.renew(record, tag, displayName: entity.displayName, now: transaction.now)
      }
      receipt.reused += 1
      receipt.sharedBytes += body.count
    } else {
      try entities.update(
        row, tag, displayName: entity.displayName, body: body,
        placeholders: PlaceholderCoding.encode(entity.placeholders), source: try source(),
        now: transaction.now)
      try assets.note(body, of: AssetOwner(.entity, row))
      changedEntities.append(tag.entityID)
      if isStored { receipt.updated += 1 } else { receipt.saved += 1 }
      receipt.bytes += body.count
    }
    return (row, false)
  }

  private func isUntouched(_ tag: StorageTag, by untouched: Untouched?) -> Bool {
    untouched.map { !$0.edited.contains(EntityTarget(entityID: tag.entityID, scope: tag.scope)) } ?? false
  }
}
