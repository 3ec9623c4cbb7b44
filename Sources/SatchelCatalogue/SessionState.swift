import SatchelJSON

/// The state of one section on a screen.
public enum SectionState: Sendable, Equatable {
  /// The header is known; the content was not requested.
  case placeholder
  case loading
  /// In a box, because all other states would be as large as a section.
  indirect case loaded(Section)
  case failed(reason: String)

  public var name: String {
    switch self {
    case .placeholder: "placeholder"
    case .loading: "loading"
    case .loaded: "loaded"
    case .failed: "failed"
    }
  }
}

/// A section on a screen.
public struct SessionSection: Sendable, Equatable, JSONConvertible {
  public var name: String
  /// The header; nil while nothing is stored for the section.
  public var header: SectionHeader?
  public var state: SectionState

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    var json: JSONObject = ["section": .string(name), "state": .string(state.name)]
    json["display_title"] = header?.displayTitle.map { .string($0) } ?? .null
    json["config"] = header?.config ?? .null
    json["level"] = header.map { .string($0.level.name) } ?? .null
    json["resolved"] = ResolvedLevel.json(header?.resolved ?? [])
    json["entity_count"] = header.map { .int(Int64($0.entityCount)) } ?? .null
    switch state {
    case .loaded(let section):
      json["content"] = section.content
      json["expired"] = .array(section.expired.map { .string($0) })
      json["missing"] = .array(section.missing.map { .string($0) })
    case .failed(let reason): json["reason"] = .string(reason)
    case .placeholder, .loading: break
    }
    return .object(json)
  }
}

/// An event that a session delivers to its host.
public enum SessionEvent: Sendable, Equatable, JSONConvertible {
  /// The list of sections changed; a new section starts as a placeholder.
  case sections
  /// The state or the content of one section changed.
  case section(String, state: String)
  /// The host should fetch the entities that are expired or missing in each section. `cached` is the origin
  /// of the content on the screen meanwhile; nil without content.
  case refresh(cached: Catalogue.Cached?, plan: [(section: String, plan: Plan)])

  public static func == (one: Self, other: Self) -> Bool { one.json == other.json }

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    switch self {
    case .sections: ["event": "sections"]
    case .section(let name, let state):
      ["event": "section", "section": .string(name), "state": .string(state)]
    case .refresh(let cached, let plan):
      [
        "event": "refresh", "cached": cached.map { .string($0.rawValue) } ?? .null,
        "plan": .object(JSONObject(plan.map { ($0.section, $0.plan.json) })),
      ]
    }
  }
}
