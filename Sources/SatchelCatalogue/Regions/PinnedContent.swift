import SatchelAssets
import SatchelCore
import SatchelStorage

/// The stored content of offline regions, which no prune removes. It follows from the definitions of the regions and is
/// stored nowhere, so that what is delivered for one of their locations belongs to them at once.
struct PinnedContent {
  private let connection: Connection
  private let table: SectionTable
  private let contextTable: ContextTable
  private let variants: () throws -> VariantIndex.View

  /// The contexts with a pinned section, by the order of their rows.
  private(set) var contexts: Set<Int64> = []
  /// The ids of the sections.
  private(set) var sections: Set<Int64> = []
  /// The rows of the entities that these show.
  private(set) var entities: Set<Int64> = []

  private init(_ connection: Connection, _ variants: @escaping () throws -> VariantIndex.View) {
    (self.connection, self.variants) = (connection, variants)
    (table, contextTable) = (SectionTable(connection: connection), ContextTable(connection: connection))
  }

  /// The content of regions.
  ///
  /// - Parameter variants: finds nested entities
  init(
    of regions: [RegionDefinition], in connection: Connection,
    variants: @escaping () throws -> VariantIndex.View
  ) throws {
    self.init(connection, variants)
    for region in regions { try add(region) }
  }

  /// The content of all regions; nothing in a store without regions.
  ///
  /// - Parameter name: of a region that does not count
  static func all(
    except name: String? = nil, in connection: Connection, variants: @escaping () throws -> VariantIndex.View
  ) throws -> PinnedContent {
    let regions = try RegionTable(connection: connection).all().filter { region in
      name.map { !$0.hasSameBytes(as: region.name) } ?? true
    }
    return try PinnedContent(of: regions.map(\.definition), in: connection, variants: variants)
  }

  /// Returns the rows of the contexts that belong to an area.
  static func contexts(of area: RegionDefinition.Area, in connection: Connection) throws -> Set<Int64> {
    var rows: Set<Int64> = []
    let own = try ContextTable(connection: connection).exact(PlaceChain(area.location, in: connection))
    if own != 0 { rows.insert(own) }
    if let within = area.within, let latitude = area.location.latitude,
      let longitude = area.location.longitude
    {
      for entry in try PositionIndex(connection: connection).entries(
        around: latitude, longitude, within: within)
      {
        rows.insert(entry.context)
      }
    }
    if let key = area.level.flatMap({ area.location.key($0) }) {
      try connection.each(
        "SELECT context FROM context_at WHERE place = ? AND place > 0",
        .integer(try PlaceChain.find(key, in: connection))
      ) { rows.insert(try $0.integer(0)) }
    }
    return rows
  }

  /// Whether a section of a context belongs to a region.
  static func has(_ section: String, of context: Int64, in connection: Connection) throws -> Bool {
    try RegionTable(connection: connection).all().contains { region in
      try region.definition.has(section: section)
        && region.definition.areas.contains { try contexts(of: $0, in: connection).contains(context) }
    }
  }

  private mutating func add(_ region: RegionDefinition) throws {
    var rows: Set<Int64> = []
    for area in region.areas { rows.formUnion(try Self.contexts(of: area, in: connection)) }
    for row in rows.ordered() {
      for record in try table.records(of: row) where region.has(section: record.name) {
        contexts.insert(row)
        try add(record.id, of: row)
      }
    }
  }

  /// Adds a section and the entities that it shows. Another delivery may have nested further ones in these.
  private mutating func add(_ section: Int64, of context: Int64) throws {
    guard sections.insert(section).inserted else { return }
    var (waiting, known) = (try table.placeholders(section).map(\.target.entity), Set<Int64>())
    let entityTable = EntityTable(connection: connection)
    var chain: PlaceChain?
    while let row = waiting.popLast() {
      guard known.insert(row).inserted, try entityTable.hasNestedEntities(row) else { continue }
      chain = try chain ?? contextTable.chain(of: context)
      let targets = try entityTable.withContent(of: row) { $1.map(\.target) } ?? []
      for target in targets {
        guard let place = chain?.place(of: target.scope) else { continue }
        let variant = VariantIndex.Variant(entityID: target.entityID, scope: target.scope, place: place)
        if let nested = try variants().find(variant, hash: VariantIndex.hash(variant)) {
          waiting.append(nested)
        }
      }
    }
    entities.formUnion(known)
  }
}

extension PinnedContent {
  /// The size of the entities and templates in bytes.
  func bytes() throws -> Int64 {
    var bytes: Int64 = 0
    for row in entities {
      bytes += try connection.number("SELECT ifnull(size, 0) FROM entity WHERE id = ?", .integer(row))
    }
    for section in sections {
      bytes += try connection.number(
        "SELECT length(template) FROM section_content WHERE section = ?", .integer(section))
    }
    return bytes
  }

  /// A reference to an asset: by its row, by the row of its URL, or by both; the other one is 0.
  struct Reference: Hashable {
    var asset: Int64
    var source: Int64
  }

  /// Returns the assets that the content refers to, each once, in the order of their rows.
  func assetReferences() throws -> [Reference] {
    guard try AssetTable.exists(in: connection) else { return [] }
    var found: Set<Reference> = []
    func add(_ subject: AssetOwner.Subject, _ owner: Int64) throws {
      try connection.each(
        "SELECT asset, source FROM asset_reference WHERE subject = ? AND owner = ?",
        .integer(subject.rawValue), .integer(owner)
      ) { found.insert(Reference(asset: try $0.integer(0), source: try $0.integer(1))) }
    }
    for row in entities { try add(.entity, row) }
    for section in sections { try add(.section, section) }
    return found.ordered { ($0.source, $0.asset) < ($1.source, $1.asset) }
  }

  /// Returns the rows of the assets that the content refers to, those that were fetched from URLs included.
  func assets() throws -> Set<Int64> {
    var rows: Set<Int64> = []
    for reference in try assetReferences() {
      if reference.asset > 0 { rows.insert(reference.asset) }
      if reference.source > 0,
        let asset = try connection.first(
          "SELECT asset FROM asset_source WHERE id = ?", .integer(reference.source),
          read: { try $0.integerIfAny(0) }) ?? nil
      {
        rows.insert(asset)
      }
    }
    return rows
  }
}

extension Catalogue {
  /// Returns the rows of the assets that belong to offline regions: they are not evicted.
  package static func pinnedAssets(_ connection: Connection) throws -> Set<Int64> {
    let regions = try RegionTable(connection: connection).all().map(\.definition).filter(\.assets)
    if regions.isEmpty { return [] }
    let index = VariantIndex()
    return try PinnedContent(of: regions, in: connection, variants: { try index.view(of: connection) })
      .assets()
  }
}
