import SatchelJSON
import SatchelStorage

/// What of a section can be shown before its content is read.
public struct SectionHeader: Sendable, Equatable {
  /// The section's name.
  public var section: String
  public var displayTitle: String?
  /// As the backend sent it; `.null` when it sent none.
  public var config: JSONValue
  /// Entities that the location asked for sees.
  public var entityCount: Int
  /// Unix milliseconds.
  public var updatedAt: Int64
  /// The level that it was found at.
  public var level: Level

  /// As it crosses the C boundary.
  public var json: JSONValue {
    [
      "section": .string(section), "display_title": displayTitle.map { .string($0) } ?? .null,
      "config": config,
      "entity_count": .int(Int64(entityCount)), "updated_at": .int(updatedAt), "level": .string(level.name),
    ]
  }
}

/// A row of `section`.
struct SectionRecord {
  var id: Int64
  var name: String
  var displayTitle: String?
  /// JSON text.
  var config: String?
  var updatedAt: Int64
  /// Entities by scope.
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

  /// Adds the members of the header's JSON, without braces. The config's text is checked, and goes through as it is: a
  /// hundred headers are on the screen before a hundred configs would have been taken apart and put together again.
  func writeHeader(_ coverage: Coverage, level: Level, into text: inout [UInt8]) throws {
    if let config {
      do {
        try Array(config.utf8).withUnsafeBytes { try JSONScanner.check($0) }
      } catch {
        throw SatchelError(.damaged, "section \(name): its config is damaged: \(error)", underlying: error)
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
