import SatchelCore
import SatchelJSON
import SatchelStorage

/// The state of an asset in a store.
public struct AssetEntry: Equatable, Sendable, JSONConvertible {
  /// 64 hexadecimal digits in lower case; nil for a URL that was not fetched yet.
  public var sha256: String?
  /// The number of bytes; nil when it is not known.
  public var size: Int64?
  public var state: AssetState
  /// The number of documents, entities and sections that refer to it.
  public var references: Int
  /// The URLs that led to it.
  public var urls: [String]
  /// Whether it was derived from another asset.
  public var isVariant: Bool
  /// When it was last put, dropped or read, in Unix milliseconds; nil for an asset that the store has no row of.
  public var usedAt: Int64?

  public var json: JSONValue {
    [
      "sha256": sha256.map { .string($0) } ?? .null, "size": size.map { .int($0) } ?? .null,
      "state": .string(state.rawValue),
      "references": .int(Int64(references)), "urls": .array(urls.map { .string($0) }),
      "variant": .bool(isVariant), "used_at": usedAt.map { .int($0) } ?? .null,
    ]
  }
}

/// A page of a list of assets.
public struct AssetPage: Equatable, Sendable, JSONConvertible {
  public var assets: [AssetEntry]
  /// Where the next page begins; nil after the last one.
  public var cursor: String?

  public var json: JSONValue {
    ["assets": .array(assets.map(\.json)), "next": cursor.map { .string($0) } ?? .null]
  }
}

extension AssetStore {
  /// The maximum number of assets in a page.
  static let maxPage = 10_000

  /// Lists assets, in the order in which the store learned of them.
  ///
  /// - Parameters:
  ///   - state: only those in this state
  ///   - unused: true for those to which nothing refers, false for the others; nil for all
  ///   - cursor: of the page before
  ///   - limit: 1 to 10,000
  /// - Throws: `SatchelError` `.invalid` for a wrong cursor or limit, `.io`, `.closed`
  public func list(
    state: AssetState? = nil, unused: Bool? = nil, after cursor: String? = nil, limit: Int = 100
  ) throws -> AssetPage {
    guard (1...Self.maxPage).contains(limit) else {
      throw SatchelError(.invalid, "limit: \(limit) must be 1 to \(Self.maxPage)")
    }
    let start = cursor == nil ? 0 : cursor.flatMap { Int64($0) } ?? -1
    guard start >= 0 else { throw SatchelError(.invalid, "cursor: is not the cursor of a page of assets") }
    return try read { table in
      var (page, last) = (AssetPage(assets: [], cursor: nil), start)
      let connection = table.connection
      var isFull = false
      while !isFull {
        var rows: [(Int64, AssetDigest)] = []
        try connection.each(
          "SELECT id, sha256 FROM asset WHERE id > ? ORDER BY id LIMIT 1000", .integer(last)
        ) { if let digest = AssetDigest(Array($0.bytes(1))) { rows.append((try $0.integer(0), digest)) } }
        if rows.isEmpty { return page }
        for (id, digest) in rows {
          last = id
          let entry = try table.entry(id, digest)
          guard let entry, state ?? entry.state == entry.state, unused ?? entry.isUnused == entry.isUnused
          else {
            continue
          }
          page.assets.append(entry)
          isFull = page.assets.count == limit
          if isFull { break }
        }
      }
      let isLast =
        try connection.number("SELECT EXISTS(SELECT 1 FROM asset WHERE id > ?)", .integer(last)) == 0
      page.cursor = isLast ? nil : "\(last)"
      return page
    } ?? AssetPage(assets: [], cursor: nil)
  }

  /// Returns what the store knows of an asset, also of one of which it has nothing.
  ///
  /// - Throws: `SatchelError` `.io`, `.closed`
  public func info(of asset: Asset) throws -> AssetEntry {
    let known = try read { table in
      guard let (row, digest) = try table.find(asset), var entry = try table.entry(row.id, digest) else {
        return try table.entry(ofUnknown: asset)
      }
      if entry.state == .missing, asset.url != nil { entry.state = .remote }
      return entry
    }
    return known ?? AssetEntry(unknown: asset, references: 0)
  }
}

extension AssetEntry {
  /// Whether nothing refers to it.
  var isUnused: Bool { references == 0 && !isVariant }

  /// An asset that the store has no row of.
  init(unknown asset: Asset, references: Int) {
    self.init(
      sha256: asset.sha256, size: asset.size, state: asset.url == nil ? .missing : .remote,
      references: references,
      urls: asset.url.map { [$0] } ?? [], isVariant: false, usedAt: nil)
  }
}

extension AssetTable {
  func entry(ofUnknown asset: Asset) throws -> AssetEntry {
    var references: Int64 = 0
    if let source = try asset.url.flatMap({ try knownSource($0) }) {
      references = try connection.number(
        "SELECT count(*) FROM asset_reference WHERE source = ?", .integer(source))
    }
    return AssetEntry(unknown: asset, references: Int(references))
  }

  func entry(_ id: Int64, _ digest: AssetDigest) throws -> AssetEntry? {
    guard let row = try row(id) else { return nil }
    let references = try connection.number(
      """
      SELECT (SELECT count(*) FROM asset_reference WHERE asset = ?1) + (SELECT count(*) FROM asset_source s
      JOIN asset_reference r ON r.source = s.id WHERE s.asset = ?1 AND r.asset <> ?1)
      """, .integer(id))
    var urls: [String] = []
    try connection.each("SELECT url FROM asset_source WHERE asset = ? ORDER BY url", .integer(id)) {
      urls.append($0.text(0))
    }
    let isVariant =
      try connection.number(
        "SELECT EXISTS(SELECT 1 FROM asset_variant WHERE variant = ?)", .integer(id)) == 1
    return AssetEntry(
      sha256: digest.text, size: row.size, state: try state(row, digest), references: Int(references),
      urls: urls,
      isVariant: isVariant, usedAt: row.usedAt)
  }
}
