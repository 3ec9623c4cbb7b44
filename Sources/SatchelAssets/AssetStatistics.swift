import SatchelJSON
import SatchelStorage

/// The number and the bytes of a store's assets, by where they are.
public struct AssetStatistics: Equatable, Sendable {
  public struct Tally: Equatable, Sendable {
    public var count = 0
    /// The bytes of those whose size is known.
    public var bytes: Int64 = 0

    public init(count: Int = 0, bytes: Int64 = 0) { (self.count, self.bytes) = (count, bytes) }

    public var json: JSONValue { ["count": .int(Int64(count)), "bytes": .int(bytes)] }
  }

  /// Those whose bytes are here, in the store's file or in the folder next to it.
  public var here = Tally()
  /// Those of them that are files in the folder.
  public var files = Tally()
  /// Those of them that were derived from others.
  public var variants = Tally()
  /// Those that something refers to and that are not here, but in the remote or at a URL.
  public var remote = Tally()
  /// Those that something refers to and of which no place is known.
  public var missing = Tally()
  /// Those whose upload waits, with the changes that refer to them, for the next sync.
  public var waiting = Tally()

  public init() {}

  public var json: JSONValue {
    [
      "here": here.json, "files": files.json, "variants": variants.json, "remote": remote.json,
      "missing": missing.json, "waiting": waiting.json,
    ]
  }
}

extension AssetStore {
  /// Counts the assets. Reads their rows, not their bytes.
  ///
  /// - Throws: `SatchelError` `.io`, `.closed`
  public func statistics() throws -> AssetStatistics {
    try read { try $0.statistics() } ?? AssetStatistics()
  }

  /// Counts the assets of a store that has tables for them.
  package static func statistics(_ connection: Connection) throws -> AssetStatistics {
    try AssetTable(connection).statistics()
  }
}

extension AssetTable {
  func statistics() throws -> AssetStatistics {
    var statistics = AssetStatistics()
    try connection.each(
      """
      SELECT a.place, EXISTS(SELECT 1 FROM asset_variant WHERE variant = a.id), count(*), ifnull(sum(a.size), 0)
      FROM asset a WHERE a.place > 0 GROUP BY 1, 2
      """
    ) { row in
      let (count, bytes) = (Int(row.anyInteger(2)), row.anyInteger(3))
      statistics.here.add(count, bytes)
      if row.anyInteger(0) == Place.file.rawValue { statistics.files.add(count, bytes) }
      if row.flag(1) { statistics.variants.add(count, bytes) }
    }
    statistics.remote = try tally(
      """
      SELECT count(*), ifnull(sum(size), 0) FROM asset a WHERE place = 0
      AND (EXISTS(SELECT 1 FROM asset_source o JOIN asset_reference r ON r.source = o.id WHERE o.asset = a.id)
      OR EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id AND (source > 0
      OR EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id))))
      """)
    statistics.missing = try tally(
      """
      SELECT count(*), ifnull(sum(size), 0) FROM asset a WHERE place = 0
      AND EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id)
      AND NOT EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id AND source > 0)
      AND NOT EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id)
      """)
    if try Self.has(table: "sync_asset", connection) {
      let inRemote = try tally(
        """
        SELECT count(*), ifnull(sum(size), 0) FROM asset a WHERE place = 0
        AND EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id)
        AND NOT EXISTS(SELECT 1 FROM asset_reference WHERE asset = a.id AND source > 0)
        AND NOT EXISTS(SELECT 1 FROM asset_source WHERE asset = a.id)
        AND EXISTS(SELECT 1 FROM sync_asset s WHERE s.generation = (SELECT generation FROM sync_log)
        AND s.sha256 = a.sha256 AND s.object IS NOT NULL)
        """)
      statistics.remote.add(inRemote.count, inRemote.bytes)
      statistics.missing.add(-inRemote.count, 0 &- inRemote.bytes)
    }
    // URLs that were not fetched, and whose SHA-256 no reference states.
    let urls = try connection.number(
      """
      SELECT count(*) FROM asset_source o WHERE o.asset IS NULL
      AND EXISTS(SELECT 1 FROM asset_reference WHERE source = o.id AND asset = 0)
      """)
    statistics.remote.add(Int(urls), 0)
    statistics.waiting = try waitingUploads()
    return statistics
  }

  /// The assets that are here, that unsent changes refer to, and that are not in the remote.
  private func waitingUploads() throws -> AssetStatistics.Tally {
    for table in ["sync_asset", "sync_entry", "record"] where try !Self.has(table: table, connection) {
      return AssetStatistics.Tally()
    }
    return try tally(
      """
      SELECT count(*), ifnull(sum(size), 0) FROM asset a WHERE place > 0 AND EXISTS(
      SELECT 1 FROM asset_reference r JOIN record k ON k.id = r.owner JOIN record_collection c ON c.id = k.id >> 40
      JOIN sync_collection n ON n.name = c.name JOIN sync_entry e ON e.collection = n.id AND e.key = k.key
      AND e.generation = (SELECT generation FROM sync_log)
      WHERE r.asset = a.id AND r.subject = 3 AND (e.pending IS NOT NULL OR e.in_flight_sequence IS NOT NULL))
      AND NOT EXISTS(SELECT 1 FROM sync_asset s WHERE s.generation = (SELECT generation FROM sync_log)
      AND s.sha256 = a.sha256 AND s.object IS NOT NULL)
      """)
  }

  private func tally(_ sql: StaticString) throws -> AssetStatistics.Tally {
    try connection.first(sql) {
      AssetStatistics.Tally(count: Int($0.anyInteger(0)), bytes: $0.anyInteger(1))
    } ?? AssetStatistics.Tally()
  }
}

extension AssetStatistics.Tally {
  // Sizes in a damaged store may be any numbers.
  fileprivate mutating func add(_ count: Int, _ bytes: Int64) {
    self.count += count
    self.bytes &+= bytes
  }
}
