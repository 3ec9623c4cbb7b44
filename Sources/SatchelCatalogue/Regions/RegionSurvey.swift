import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

/// An asset that belongs to an offline region.
struct RegionAsset: Sendable {
  var asset: Asset
  /// The row of the URL; 0 without one.
  var source: Int64
  /// The number of bytes; nil when it is not known.
  var size: Int64?
  var isHere: Bool
  /// Whether it is larger than the region allows.
  var isTooLarge: Bool
  /// Why it could not be fetched when it was last tried.
  var error: String?

  var isLeft: Bool { !isHere && !isTooLarge }
}

/// Finds what is stored of an offline region and what is left to do, in one read transaction.
struct RegionSurvey {
  let region: RegionTable.Row
  private let connection: Connection
  private let now: Int64
  private let regions: RegionTable
  let content: PinnedContent
  /// All requests for content: those of the definition, then those for delivered locations that belong to it.
  private(set) var items: [RegionItem] = []
  /// The requests that are left, or whose content is missing or expired.
  var due: [RegionItem] { items.filter(\.isDue) }
  private(set) var assets: [RegionAsset] = []
  private(set) var size = RegionSize()
  private(set) var failed: [RegionFailure] = []
  private var isStale = false
  private var hasItems = false

  init(
    _ region: RegionTable.Row, in connection: Connection, now: Int64,
    variants: @escaping () throws -> VariantIndex.View
  ) throws {
    (self.region, self.connection, self.now) = (region, connection, now)
    regions = RegionTable(connection: connection)
    hasItems = try regions.hasItems(region.id)
    content = try PinnedContent(of: [region.definition], in: connection, variants: variants)
    try surveyItems()
    try surveyContent()
    if region.definition.assets { try surveyAssets() }
  }

  var state: RegionState {
    if !hasItems { return .new }
    if size.requestsLeft > 0 || size.missing > 0 || size.assetsLeft > 0 { return .partial }
    return isStale || size.expired > 0 ? .stale : .complete
  }

  func summary() -> RegionSummary {
    RegionSummary(
      name: region.name, definition: region.definition, state: state, size: size, failed: failed,
      createdAt: region.createdAt, updatedAt: region.updatedAt, downloadedAt: region.downloadedAt)
  }

  // MARK: Requests

  private mutating func surveyItems() throws {
    let names: [String?] = region.definition.sections.map { $0.map { $0 } } ?? [nil]
    var known: Set<Int64> = []
    var texts = IDList()
    for area in region.definition.areas where texts.insert(try area.location.json.text) {
      let context = try ContextTable(connection: connection).exact(PlaceChain(area.location, in: connection))
      if context != 0 { known.insert(context) }
      for name in names {
        var item = RegionItem(area.location, name)
        size.requests += 1
        let (outcome, error) = try regions.answer(region.id, item) ?? (nil, nil)
        item.isLeft = try
          !(outcome == .absent || outcome == .content && item.isStored(as: context, connection))
        if item.isLeft { size.requestsLeft += 1 }
        if outcome == .failed {
          failed.append(
            RegionFailure(
              location: item.location, section: name, message: error ?? "failed")
          )
        }
        try look(at: &item, in: context)
        items.append(item)
      }
    }
    for context in content.contexts.ordered() where !known.contains(context) {
      guard let location = try ContextTable(connection: connection).location(of: context) else { continue }
      for name in names {
        var item = RegionItem(location, name)
        guard try item.isStored(as: context, connection) else { continue }
        size.requests += 1
        try look(at: &item, in: context)
        items.append(item)
      }
    }
  }

  private func look(at item: inout RegionItem, in context: Int64) throws {
    let stored =
      context == 0 ? [] : try SectionTable(connection: connection).records(item.section, of: context)
    item.hasETag = !stored.isEmpty && stored.allSatisfy { $0.etag != nil }
    item.isDue = try item.isLeft || needsContent(stored)
  }

  /// Whether something of it is missing or expired.
  private func needsContent(_ records: [SectionRecord]) throws -> Bool {
    let (table, entities) = (SectionTable(connection: connection), EntityTable(connection: connection))
    return try records.contains { record in
      try record.isStale(at: now)
        || table.placeholders(record.id).contains { placeholder in
          try entities.record(placeholder.target.entity).map { $0.size == nil || $0.isExpired(at: now) }
            ?? false
        }
    }
  }

  // MARK: Content

  private mutating func surveyContent() throws {
    let (table, entities) = (SectionTable(connection: connection), EntityTable(connection: connection))
    size.sections = content.sections.count
    for row in content.entities {
      guard let record = try entities.record(row) else { continue }
      guard record.size != nil else {
        size.missing += 1
        continue
      }
      size.entities += 1
      if record.isExpired(at: now) { size.expired += 1 }
    }
    for context in content.contexts {
      for record in try table.records(of: context)
      where content.sections.contains(record.id) && record.isStale(at: now) { isStale = true }
    }
    size.bytes = try content.bytes()
  }

  // MARK: Assets

  private mutating func surveyAssets() throws {
    let references = try content.assetReferences()
    if references.isEmpty { return }
    let limit = region.definition.maxAssetSize
    let (table, skipped) = (AssetTable(connection), try regions.skipped(region.id, maxSize: limit))
    // By the row of the asset, or the negative row of a URL that was not fetched.
    var known: [Int64: Int] = [:]
    for reference in references {
      var asset = Asset(nil)
      var (row, error): (AssetTable.Row?, String?)
      if reference.asset > 0 {
        (row, asset.digest) = (try table.row(reference.asset), try table.digest(reference.asset))
      }
      if reference.source > 0 {
        try connection.each(
          "SELECT url, asset, error FROM asset_source WHERE id = ?", .integer(reference.source)
        ) { source in
          asset.url = source.text(0)
          error = source.textIfAny(2)
          if row == nil, let id = try source.integerIfAny(1, in: AssetSchema.ids) { row = try table.row(id) }
        }
      }
      guard asset.digest != nil || asset.url != nil else { continue }
      let key = row?.id ?? -reference.source
      if let index = known[key] {
        if assets[index].asset.url == nil {
          (assets[index].asset.url, assets[index].source) = (asset.url, reference.source)
        }
        continue
      }
      known[key] = assets.count
      let isHere = row.map { $0.place != .absent } ?? false
      assets.append(
        RegionAsset(
          asset: asset, source: reference.source, size: row?.size, isHere: isHere,
          isTooLarge: !isHere && skipped.contains(reference.source), error: isHere ? nil : error))
    }
    try readSizes()
    for index in assets.indices where !assets[index].isHere {
      if let known = assets[index].size, known > limit { assets[index].isTooLarge = true }
    }
    for asset in assets { count(asset) }
  }

  /// Finds the sizes of assets that were not fetched, where the content states them.
  private mutating func readSizes() throws {
    guard assets.contains(where: { !$0.isHere && $0.size == nil }) else { return }
    var sizes: [String: Int64] = [:]
    func read(_ body: UnsafeRawBufferPointer) {
      // Damaged content is a finding of the check.
      guard AssetReferences.mayContain(body), let references = try? AssetReferences(in: body) else { return }
      for (_, asset) in references.found {
        if let url = asset.url, let size = asset.size { sizes[url] = size }
      }
    }
    for row in content.entities {
      try connection.each("SELECT body FROM entity_content WHERE entity = ?", .integer(row)) {
        read($0.bytes(0))
      }
    }
    for section in content.sections {
      try connection.each("SELECT template FROM section_content WHERE section = ?", .integer(section)) {
        read($0.bytes(0))
      }
    }
    for index in assets.indices where assets[index].size == nil {
      assets[index].size = assets[index].asset.url.flatMap { sizes[$0] }
    }
  }

  private mutating func count(_ asset: RegionAsset) {
    if asset.isHere {
      size.assets += 1
      size.assetBytes += asset.size ?? 0
    } else if asset.isTooLarge {
      size.tooLarge += 1
    } else {
      size.assetsLeft += 1
      if let known = asset.size { size.assetBytesLeft += known } else { size.unknownSizes += 1 }
      if let error = asset.error { failed.append(RegionFailure(asset: asset.asset, message: error)) }
    }
  }
}
