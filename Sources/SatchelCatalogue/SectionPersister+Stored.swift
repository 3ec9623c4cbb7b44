import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

extension SectionPersister {
  /// Records that the location has the delivered sections and no others, which are removed.
  func markComplete(with names: [String]) throws {
    let table = ContextTable(connection: connection)
    let stored = try table.exact(chain)
    var (delivered, removed) = (IDList(), [String]())
    for name in names { delivered.add(name) }
    for record in stored == 0 ? [] : try SectionTable(connection: connection).records(of: stored)
    where !delivered.contains(record.name) {
      try SectionTable.remove(record.name, of: stored, in: transaction)
      removed.append(record.name)
    }
    if !removed.isEmpty {
      transaction.note(
        subject: .catalogue, keys: removed, sectionCount: removed.count, place: location.keys.first?.text)
    }
    if stored != 0, try table.isComplete(stored) { return }
    try ContextTable.setComplete(try source(), true, in: transaction)
    if removed.isEmpty { noteInheritance(names) }
  }

  /// Records that the location may have other sections than those that were delivered for it.
  ///
  /// - Parameter names: the delivered sections
  func markIncomplete(with names: [String]) throws {
    let table = ContextTable(connection: connection)
    let stored = try table.exact(chain)
    guard stored != 0, try table.isComplete(stored) else { return }
    try ContextTable.setComplete(stored, false, in: transaction)
    noteInheritance(names)
  }

  /// Notifies observers that the location inherits other sections than before, unless they are notified anyway.
  private func noteInheritance(_ names: [String]) {
    if hasNoted { return }
    transaction.note(
      subject: .catalogue, keys: names, sectionCount: names.count, place: location.keys.first?.text)
  }

  /// Returns the stored content of a section with the `_storage` of its entities, if the delivered content is the same
  /// without them: what loading returned is persisted. Its entities would become inline content.
  func taggedContent(
    of record: SectionRecord, in context: Int64, ifLoadedAs content: Int, of tape: JSONTape
  ) throws -> [UInt8]? {
    let reader = SectionReader(catalogue: catalogue, connection: connection, location: location)
    let found = VisibleSection(
      record: record,
      context: ServingContext(
        row: context, coverage: .everything, level: .global, isExact: true, isComplete: false, places: chain))
    let loaded: RenderedContent?
    do {
      loaded = try reader.render(found, allowsExpired: true)
    } catch let error as SatchelError where error.code == .invalid {
      // Later deliveries made it too large to be loaded.
      return nil
    }
    guard let loaded else { return nil }
    let isSame = loaded.content.withUnsafeBytes {
      ContentEquality.equal(
        $0, placeholders: [Template<Int>.Placeholder](),
        UnsafeRawBufferPointer(rebasing: tape.bytes[tape.rawRange(content)]), otherPlaceholders: [])
    }
    guard isSame else { return nil }
    return try reader.render(found, allowsExpired: true, keepsTags: true, keepsMissing: true)?.content
  }

  /// Records again what the entities and the template of a stored section refer to, by the paths that are declared now.
  func recordAssets(of section: String) throws {
    let reader = SectionReader(catalogue: catalogue, connection: connection, location: location)
    let stored = try ContextTable(connection: connection).exact(chain)
    guard let before = try reader.loadForEdit(section),
      let record = try SectionTable(connection: connection).record(section, of: stored)
    else { return }
    try before.content.serialized().withUnsafeBytes { bytes in
      let tape = try JSONTape(bytes)
      let declared = try assets.declared(for: section, in: tape, at: tape.root, pointer: "")
      let normalized = NormalizedSection(tape, at: tape.root, pointer: "", scopes: scopes)
      try normalized.bodies.withUnsafeBytes { bodies in
        for entity in normalized.entities {
          guard let row = try self.row(of: entity.target) else { continue }
          try assets.note(
            UnsafeRawBufferPointer(rebasing: bodies[entity.body]), of: AssetOwner(.entity, row),
            urls: declared?.urls[entity.target] ?? [])
        }
      }
      try normalized.template.bytes.withUnsafeBytes {
        try assets.note($0, of: AssetOwner(.section, record.id), urls: declared?.urls[nil] ?? [])
      }
    }
  }

  private func row(of target: EntityTarget) throws -> Int64? {
    guard let place = chain.place(of: target.scope) else { return nil }
    let variant = VariantIndex.Variant(entityID: target.entityID, scope: target.scope, place: place)
    return try variants.find(variant, hash: VariantIndex.hash(variant))
  }
}
