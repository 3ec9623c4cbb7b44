import SatchelAssets
import SatchelJSON
import SatchelStorage

/// The counts of a catalogue's offline regions and of its requests to sources, and the age of its content.
public struct CatalogueStatistics: Equatable, Sendable, JSONConvertible {
  /// The number of offline regions.
  public var regions = 0
  /// The sections and entities that regions keep, each counted once, and the bytes of their content.
  public var pinnedSections = 0
  public var pinnedEntities = 0
  public var pinnedBytes: Int64 = 0
  /// The bytes of assets that regions keep, of those that are here.
  public var pinnedAssetBytes: Int64 = 0
  /// The earliest time at which a section was last delivered or renewed, in Unix milliseconds; nil without content.
  public var oldestFetchedAt: Int64?
  /// The requests to sources of which something is remembered: for how long the answer is fresh, or a failure.
  public var requests = 0
  /// Those of them that failed last, and wait for their next attempt.
  public var failedRequests = 0

  public init() {}

  public var json: JSONValue {
    [
      "regions": .int(Int64(regions)), "pinned_sections": .int(Int64(pinnedSections)),
      "pinned_entities": .int(Int64(pinnedEntities)), "pinned_bytes": .int(pinnedBytes),
      "pinned_asset_bytes": .int(pinnedAssetBytes),
      "oldest_fetched_at": oldestFetchedAt.map { .int($0) } ?? .null, "requests": .int(Int64(requests)),
      "failed_requests": .int(Int64(failedRequests)),
    ]
  }
}

extension Catalogue {
  /// Counts what regions keep, and requests. Reads the rows of sections, of requests and of what regions have.
  package func statistics() throws -> CatalogueStatistics {
    try database.query { try Self.statistics($0) }
  }

  package static func statistics(_ connection: Connection) throws -> CatalogueStatistics {
    var statistics = CatalogueStatistics()
    statistics.oldestFetchedAt =
      try connection.first("SELECT min(fetched_at) FROM section") {
        try $0.integerIfAny(0, in: StoredRange.time)
      } ?? nil
    if try RefreshTable(existingIn: connection) != nil {
      statistics.requests = Int(try connection.number("SELECT count(*) FROM refresh"))
      statistics.failedRequests = Int(
        try connection.number("SELECT count(*) FROM refresh WHERE attempts > 0"))
    }
    let regions = try RegionTable(connection: connection).all()
    statistics.regions = regions.count
    guard !regions.isEmpty else { return statistics }
    let index = VariantIndex()
    let content = try PinnedContent(
      of: regions.map(\.definition), in: connection, variants: { try index.view(of: connection) })
    statistics.pinnedSections = content.sections.count
    for row in content.entities {
      statistics.pinnedEntities += Int(
        try connection.number("SELECT size IS NOT NULL FROM entity WHERE id = ?", .integer(row)))
    }
    statistics.pinnedBytes = try content.bytes()
    let assets = AssetTable(connection)
    for id in try pinnedAssets(connection) {
      if let row = try assets.row(id), row.place != .absent { statistics.pinnedAssetBytes += row.size ?? 0 }
    }
    return statistics
  }
}

/// A request to a source that failed when it was last sent.
package struct FailedRequest: Sendable, Equatable {
  /// The texts of the location's keys: that of its coordinate, and that of its most specific name.
  package var place: String
  /// The section; nil for all of the place.
  package var section: String?
  package var message: String
  /// When the next attempt is made, in Unix milliseconds; nil while one is being made.
  package var retryAt: Int64?
}

extension Catalogue {
  /// Returns the requests that failed when they were last sent, by location and section.
  package func failedRequests() throws -> [FailedRequest] {
    try database.query { try RefreshTable(existingIn: $0)?.failed() } ?? []
  }
}
