import SatchelJSON

/// A section with its content.
public struct Section: Sendable, Equatable {
  public var header: SectionHeader
  /// As it was sent, less `_storage`, and less what is missing, expired or belongs to other places.
  public var content: JSONValue
  /// Entity ids whose content is not stored any more.
  public var missing: [String]
  /// Entity ids whose time is over; in the content only when the caller allowed expired ones.
  public var expired: [String]
}

/// Entities of one section by what has to be done about them.
public struct Plan: Sendable, Equatable {
  /// Entity ids that need not be fetched.
  public var fresh: [String] = []
  public var expired: [String] = []
  public var missing: [String] = []

  /// As it crosses the C boundary.
  public var json: JSONValue {
    func list(_ ids: [String]) -> JSONValue { .array(ids.map { .string($0) }) }
    return ["fresh": list(fresh), "expired": list(expired), "missing": list(missing)]
  }
}

/// One variant of an entity.
public struct Entity: Sendable, Equatable {
  public var entityID: String
  public var content: JSONValue
  public var scope: Scope
  public var displayName: String
  /// Unix milliseconds.
  public var expiresAt: Int64
  /// Unix milliseconds.
  public var updatedAt: Int64
}

/// A section's content while it is still bytes: what crosses the C boundary is not taken apart on the way.
struct RenderedContent {
  var content: [UInt8]
  var missing: [String]
  var expired: [String]
}

extension Section {
  init(_ found: SectionReader.Found, _ rendered: RenderedContent) throws {
    header = try found.record.header(found.context.coverage, level: found.context.level)
    content = try JSONValue(parsing: rendered.content)
    missing = rendered.missing
    expired = rendered.expired
  }
}

extension Entity {
  /// As it crosses the C boundary.
  public var json: JSONValue {
    [
      "entity_id": .string(entityID), "content": content, "scope": .string(scope.name),
      "display_name": .string(displayName), "expires_at": .int(expiresAt), "updated_at": .int(updatedAt),
    ]
  }
}
