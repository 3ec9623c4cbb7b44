import SatchelAssets
import SatchelCore
import SatchelJSON

/// The definition of an offline region: the content that belongs to it.
public struct RegionDefinition: Sendable, Equatable, JSONCodable {
  /// A location, and what is around or below it.
  public struct Area: Sendable, Equatable, JSONCodable {
    public var location: Location
    /// All delivered locations within this distance in metres belong to it, too; nil for none.
    public var within: Double?
    /// All delivered locations in the location's place at this level belong to it, too; nil for none.
    public var level: Level?

    public init(_ location: Location, within: Double? = nil, level: Level? = nil) {
      (self.location, self.within, self.level) = (location, within, level)
    }

    /// Creates an area from its JSON object, `{"location", "within", "level"}`, or from that of a location alone.
    public init(json: JSONValue) throws {
      let members = try MemberReader("an area", json)
      guard members["location"] != nil else {
        self.init(try Location(json: json))
        return
      }
      self.init(
        try members.required("location", members.value("location", as: Location.self)),
        within: try members.number("within"), level: try members.value("level", as: Level.self))
    }

    public var json: JSONValue {
      var object: JSONObject = ["location": location.json]
      object["within"] = within.map { .double($0) }
      object["level"] = level?.json
      return .object(object)
    }
  }

  public var areas: [Area]
  /// The names of the sections; nil for all that the locations have.
  public var sections: [String]?
  /// Whether the bytes of the assets that the content refers to belong to it.
  public var assets: Bool
  /// The maximum number of bytes of its content and assets together; nil for no limit.
  public var maxBytes: Int64?
  /// Larger assets do not belong to it.
  public var maxAssetSize: Int64

  /// The maximum number of areas, and of sections.
  static let maxCount = 1000
  /// The default of `maxAssetSize`: 64 MiB.
  public static var defaultMaxAssetSize: Int64 { 64 << 20 }

  public init(
    areas: [Area], sections: [String]? = nil, assets: Bool = true, maxBytes: Int64? = nil,
    maxAssetSize: Int64 = RegionDefinition.defaultMaxAssetSize
  ) {
    (self.areas, self.sections, self.assets) = (areas, sections, assets)
    (self.maxBytes, self.maxAssetSize) = (maxBytes, maxAssetSize)
  }

  /// Creates a definition of locations without what is around or below them.
  public init(_ locations: [Location], sections: [String]? = nil, assets: Bool = true) {
    self.init(areas: locations.map { Area($0) }, sections: sections, assets: assets)
  }

  /// Creates a definition from its JSON object: `locations` (areas), `sections`, `assets`, `max_bytes`, `max_asset_bytes`.
  ///
  /// - Throws: `JSONError` with a pointer, also for values that are out of range
  public init(json: JSONValue) throws {
    let members = try MemberReader("a region", json)
    for key in json.objectValue?.keys.map({ $0 }) ?? [] where !Self.members.contains(key) {
      throw JSONError(
        "is no member of a region (\(Self.members.joined(separator: ", ")))", pointer: JSONPath.pointer([key])
      )
    }
    guard let areas = members["locations"]?.arrayValue else {
      throw JSONError("must be an array of locations", pointer: "/locations")
    }
    let parsed = try areas.enumerated().map { index, area in
      do {
        return try Area(json: area)
      } catch let error as JSONError {
        throw JSONError(error.reason, pointer: "/locations/\(index)" + (error.pointer ?? ""))
      }
    }
    let hasSections = members["sections"].map { !$0.isNull } ?? false
    if let assets = members["assets"], !assets.isNull, assets.boolValue == nil {
      throw JSONError("must be true or false", pointer: "/assets")
    }
    self.init(
      areas: parsed, sections: hasSections ? try members.strings("sections") : nil,
      assets: members["assets"]?.boolValue ?? true, maxBytes: try members.integer("max_bytes"),
      maxAssetSize: try members.integer("max_asset_bytes") ?? Self.defaultMaxAssetSize)
    try check()
  }

  private static let members = ["locations", "sections", "assets", "max_bytes", "max_asset_bytes"]

  public var json: JSONValue {
    [
      "locations": .array(areas.map(\.json)),
      "sections": sections.map { .array($0.map { .string($0) }) } ?? .null, "assets": .bool(assets),
      "max_bytes": maxBytes.map { .int($0) } ?? .null, "max_asset_bytes": .int(maxAssetSize),
    ]
  }

  /// Half of the circumference of the earth.
  private static let maxDistance = 20_100_000.0

  func check() throws {
    guard (1...Self.maxCount).contains(areas.count) else {
      throw JSONError("must have 1 to \(Self.maxCount) locations", pointer: "/locations")
    }
    for (index, area) in areas.enumerated() {
      if let within = area.within {
        guard within >= 0, within <= Self.maxDistance else {
          throw JSONError(
            "\(within) is not a distance in metres, 0 to \(Int(Self.maxDistance))",
            pointer: "/locations/\(index)/within")
        }
        guard area.location.key(.coordinate) != nil else {
          throw JSONError(
            "a location without coordinates has no surroundings", pointer: "/locations/\(index)/within")
        }
      }
      if let level = area.level, area.location.key(level) == nil {
        throw JSONError(
          "the location has no place at the level \(level.name)", pointer: "/locations/\(index)/level")
      }
    }
    if let sections {
      guard (1...Self.maxCount).contains(sections.count), !sections.contains(where: \.isEmpty) else {
        throw JSONError(
          "must have 1 to \(Self.maxCount) names of sections; null means all", pointer: "/sections")
      }
    }
    if let maxBytes, maxBytes < 0 { throw JSONError("must not be negative", pointer: "/max_bytes") }
    guard maxAssetSize > 0, AssetSchema.sizes.contains(maxAssetSize) else {
      throw JSONError("must be 1 to \(AssetSchema.sizes.upperBound)", pointer: "/max_asset_bytes")
    }
  }

  /// Whether a section of this name belongs to it.
  func has(section name: String) -> Bool {
    sections.map { $0.contains { $0.hasSameBytes(as: name) } } ?? true
  }

  /// The maximum length of a region's name in bytes.
  static let maxName = 128

  static func check(name: String) throws {
    guard (1...maxName).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw SatchelError(.invalid, "name: must have 1 to \(maxName) bytes without control characters")
    }
  }
}
