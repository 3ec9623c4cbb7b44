import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

/// Copies the content of an offline region from one store to another, which may have a part of it already. The content of
/// both is read and written as that of deliveries is: an untrusted origin can do no more than a source.
package struct RegionCopy {
  /// The numbers of copied items.
  package struct Counts: Sendable {
    package var sections = 0
    package var entities = 0
    package var assets = 0
    /// The assets whose bytes the origin does not have, or has encrypted.
    package var missingAssets = 0
  }

  private let origin: Catalogue
  private let target: Regions
  private let name: String
  package private(set) var counts = Counts()

  /// - Parameters:
  ///   - region: of the origin
  ///   - target: the regions of the store to copy to
  package init(_ region: Region, to target: Regions) {
    (origin, self.target, name) = (region.catalogue, target, region.name)
  }

  /// Copies the assets, then all content in one transaction. When that fails, the target has what it had.
  package mutating func run() throws {
    let survey = try Region(name: name, regions: origin.regions).survey()
    var put: Set<Int64> = []
    do {
      try copyAssets(survey, &put)
      try copyContent(survey)
    } catch {
      if !put.isEmpty { _ = try? target.catalogue.database.write { try AssetStore.release(put, in: $0) } }
      throw error
    }
  }

  // MARK: Assets

  /// - Parameter put: the rows of those that the target had not
  private mutating func copyAssets(_ survey: RegionSurvey, _ put: inout Set<Int64>) throws {
    let from = origin.regions.assets
    for asset in survey.assets where !asset.isTooLarge {
      guard asset.isHere, try target.assets.state(of: asset.asset) != .here else {
        if asset.isHere { counts.assets += 1 } else { counts.missingAssets += 1 }
        continue
      }
      let reader: AssetReader
      do {
        reader = try from.open(asset.asset, verifying: true)
      } catch let error as SatchelError where error.code == .notFound || error.code == .unauthorized {
        counts.missingAssets += 1
        continue
      }
      put.insert(try target.assets.copy(reader, url: asset.asset.url))
      counts.assets += 1
    }
  }

  // MARK: Content

  private mutating func copyContent(_ survey: RegionSurvey) throws {
    let database = target.catalogue.database
    try database.prepare(RegionSchema.subject)
    let origin = origin
    counts = try origin.database.read { connection in
      try database.write { transaction in
        var counts = counts
        let regions = RegionTable(connection: transaction.connection)
        let id: Int64
        if let known = try regions.row(name) {
          id = known.id
          if known.definition != survey.region.definition {
            try regions.define(id, survey.region.definition, now: transaction.now)
          }
        } else {
          id = try regions.insert(name, survey.region.definition, now: transaction.now)
        }
        for context in survey.content.contexts.ordered() {
          try copy(context, of: survey, connection, to: transaction, &counts)
        }
        // Content that a backend has delivered to its own store was never asked for there.
        for item in survey.items {
          let isStored = try item.isStored(in: connection)
          guard isStored || !item.isLeft else { continue }
          try regions.set(id, item, to: isStored ? .content : .absent, error: nil, now: transaction.now)
        }
        return counts
      }
    }
  }

  private func copy(
    _ context: Int64, of survey: RegionSurvey, _ connection: Connection, to transaction: Transaction,
    _ counts: inout Counts
  ) throws {
    let contexts = ContextTable(connection: connection)
    guard let location = try contexts.location(of: context), let chain = try contexts.chain(of: context)
    else { return }
    let reader = SectionReader(catalogue: origin, connection: connection, location: location)
    let sections = SectionTable(connection: connection)
    let all = try sections.records(of: context)
    var copied = 0
    for record in all where survey.content.sections.contains(record.id) {
      let found = VisibleSection(
        record: record,
        context: ServingContext(
          row: context, coverage: .everything, level: .global, isExact: true, isComplete: false, places: chain
        ))
      guard let rendered = try reader.render(found, allowsExpired: true, keepsTags: true) else { continue }
      copied += 1
      let stored = StoredSection(record, in: connection, try sections.placeholders(record.id))
      if try stored.write(rendered.content, at: location, to: target.catalogue, in: transaction) {
        counts.sections += 1
        counts.entities += stored.expiries.count
      }
    }
    let stored = ContextTable(connection: transaction.connection)
    let row = try stored.exact(PlaceChain(location, in: transaction.connection))
    let isWhole = try copied == all.count && contexts.isComplete(context)
    if row != 0, isWhole,
      try SectionTable(connection: transaction.connection).records(of: row).count == copied
    {
      try ContextTable.setComplete(row, true, in: transaction)
    }
  }
}

/// A section with the times of its content, which storing it again must not renew.
private struct StoredSection {
  private let record: SectionRecord
  /// The expiry of each entity, by scope and id.
  let expiries: [String: Int64]

  init(
    _ record: SectionRecord, in connection: Connection, _ placeholders: [Template<SectionTarget>.Placeholder]
  ) {
    self.record = record
    var expiries: [String: Int64] = [:]
    let table = EntityTable(connection: connection)
    for placeholder in placeholders {
      guard let entity = try? table.record(placeholder.target.entity), entity.size != nil else { continue }
      expiries[Self.key(entity)] = entity.expiresAt
    }
    self.expiries = expiries
  }

  private static func key(_ entity: EntityRecord) -> String { "\(entity.scope.rawValue) \(entity.entityID)" }

  /// The JSON of the section as a delivery has it.
  private func payload(_ content: [UInt8]) throws -> [UInt8] {
    var text = Array("{\"section\":".utf8)
    JSONValue.write(record.name, into: &text)
    if let title = record.displayTitle {
      text += ",\"display_title\":".utf8
      JSONValue.write(title, into: &text)
    }
    if let config = record.config { text += ",\"config\":\(config)".utf8 }
    if let timeToLive = record.timeToLive {
      text += ",\"ttl_hours\":\(try JSONValue.double(Double(timeToLive) / 3_600_000).text)".utf8
    }
    if let extra = record.extra, let members = try JSONValue(parsing: extra).objectValue, !members.isEmpty {
      text += ",\(try JSONValue.object(members).text.dropFirst().dropLast())".utf8
    }
    text += ",\"content\":".utf8
    return text + content + [UInt8(ascii: "}")]
  }

  /// - Returns: false when the catalogue has fetched the section later
  func write(
    _ content: [UInt8], at location: Location, to catalogue: Catalogue, in transaction: Transaction
  ) throws -> Bool {
    let connection = transaction.connection
    let (sections, entities) = (SectionTable(connection: connection), EntityTable(connection: connection))
    // A clock that was ahead has no effect here.
    let fetchedAt = min(record.fetchedAt, transaction.now)
    func stored() throws -> SectionRecord? {
      let context = try ContextTable(connection: connection).exact(PlaceChain(location, in: connection))
      return context == 0 ? nil : try sections.record(record.name, of: context)
    }
    let before = try stored()
    if let before, before.fetchedAt > fetchedAt { return false }
    // Rows that other sections share may have been renewed later than those of the origin.
    var known: [Int64: Int64] = [:]
    let chain = try PlaceChain(location, in: connection)
    let variants = try catalogue.index.view(of: connection)
    for key in expiries.keys {
      guard let space = key.firstIndex(of: " "),
        let scope = Int(key[..<space]).flatMap(Scope.init(rawValue:)),
        let place = chain.place(of: scope)
      else { continue }
      let variant = VariantIndex.Variant(
        entityID: String(key[key.index(after: space)...]), scope: scope, place: place)
      if let row = try variants.find(variant, hash: VariantIndex.hash(variant)),
        let entity = try entities.record(row),
        entity.size != nil
      {
        known[row] = entity.expiresAt
      }
    }
    _ = try payload(content).withUnsafeBytes { try catalogue.persist($0, at: location, etag: record.etag) }
    guard let written = try stored() else { return false }
    try connection.run(
      "UPDATE section SET fetched_at = ?, expires_at = ? WHERE id = ?", .integer(fetchedAt),
      Binding(record.expiresAt.map { min($0, transaction.now + (record.timeToLive ?? 0)) }),
      .integer(written.id))
    for row in Set(try sections.placeholders(written.id).map(\.target.entity)).ordered() {
      guard let entity = try entities.record(row), let expiry = expiries[Self.key(entity)] else { continue }
      let kept = max(min(expiry, transaction.now + entity.timeToLive), known[row] ?? 0)
      guard kept < entity.expiresAt else { continue }
      try connection.run("UPDATE entity SET expires_at = ? WHERE id = ?", .integer(kept), .integer(row))
      try entities.lowerEarliest(of: row, to: kept)
    }
    return true
  }
}
