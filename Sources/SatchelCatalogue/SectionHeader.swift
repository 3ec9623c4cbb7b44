import SatchelCore
import SatchelJSON
import SatchelStorage

/// The metadata of a section, which can be shown before its content is read.
public struct SectionHeader: Sendable, Equatable, JSONCodable {
  /// The section's name.
  public var section: String
  public var displayTitle: String?
  /// The config as delivered; `.null` when none was delivered.
  public var config: JSONValue
  /// The number of entities that are visible from the requested location.
  public var entityCount: Int
  /// In Unix milliseconds.
  public var updatedAt: Int64
  /// The level at which it was found.
  public var level: Level

  public init(
    section: String, displayTitle: String? = nil, config: JSONValue = .null, entityCount: Int,
    updatedAt: Int64, level: Level
  ) {
    self.section = section
    self.displayTitle = displayTitle
    self.config = config
    self.entityCount = entityCount
    self.updatedAt = updatedAt
    self.level = level
  }

  /// Creates a header from the JSON object that the C interface returns, of a header or of a section.
  public init(json: JSONValue) throws { try self.init(MemberReader("a section's header", json)) }

  init(_ members: MemberReader) throws {
    self.init(
      section: try members.required("section", members.string("section")),
      displayTitle: try members.string("display_title"), config: members["config"] ?? .null,
      entityCount: try Int(clamping: members.required("entity_count", members.integer("entity_count"))),
      updatedAt: try members.required("updated_at", members.integer("updated_at")),
      level: try members.required("level", members.value("level", as: Level.self)))
  }

  /// The JSON object that the C interface returns.
  public var json: JSONValue { .object(members) }

  var members: JSONObject {
    [
      "section": .string(section), "display_title": displayTitle.map { .string($0) } ?? .null,
      "config": config,
      "entity_count": .int(Int64(entityCount)), "updated_at": .int(updatedAt), "level": level.json,
    ]
  }
}

/// A row of `section`.
struct SectionRecord {
  var id: Int64
  var name: String
  var displayTitle: String?
  /// The config as JSON text.
  var config: String?
  var updatedAt: Int64
  /// The number of entities by scope.
  var counts: [Int64]

  func entityCount(_ coverage: Coverage) -> Int {
    Int(Scope.allCases.reduce(0) { coverage.contains($1) ? $0 + counts[$1.rawValue] : $0 })
  }

  func header(_ coverage: Coverage, level: Level) throws -> SectionHeader {
    SectionHeader(
      section: name, displayTitle: displayTitle,
      config: try config.map { try JSONValue(parsing: $0) } ?? .null, entityCount: entityCount(coverage),
      updatedAt: updatedAt, level: level)
  }

  /// Appends the members of the header's JSON object, without braces. The config's text is validated and
  /// copied: parsing and serializing a hundred configs would delay a hundred headers.
  func writeHeader(_ coverage: Coverage, level: Level, into text: inout [UInt8]) throws {
    if let config {
      do {
        try Array(config.utf8).withUnsafeBytes { try JSONScanner.check($0) }
      } catch {
        throw SatchelError(
          .damaged, "section \(name): its config is not valid JSON: \(error)", underlying: error)
      }
    }
    text.append(contentsOf: "\"section\":".utf8)
    JSONValue.write(name, into: &text)
    text.append(contentsOf: ",\"display_title\":".utf8)
    if let displayTitle {
      JSONValue.write(displayTitle, into: &text)
    } else {
      text.append(contentsOf: "null".utf8)
    }
    text.append(contentsOf: ",\"config\":".utf8)
    text.append(contentsOf: (config ?? "null").utf8)
    text.append(contentsOf: ",\"entity_count\":".utf8)
    text.append(contentsOf: String(entityCount(coverage)).utf8)
    text.append(contentsOf: ",\"updated_at\":".utf8)
    text.append(contentsOf: String(updatedAt).utf8)
    text.append(contentsOf: ",\"level\":\"".utf8)
    text.append(contentsOf: level.name.utf8)
    text.append(UInt8(ascii: "\""))
  }
}
