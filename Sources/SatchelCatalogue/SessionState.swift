import SatchelJSON

/// What one section of a screen is at.
public enum SectionState: Sendable, Equatable {
  /// The header is known, the content was not asked for.
  case placeholder
  case loading
  case loaded(Section)
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
public struct SessionSection: Sendable, Equatable {
  public var name: String
  /// nil while nothing of the section is stored.
  public var header: SectionHeader?
  public var state: SectionState

  /// As it crosses the C boundary.
  public var json: JSONValue {
    var json: JSONObject = ["section": .string(name), "state": .string(state.name)]
    json["display_title"] = header?.displayTitle.map { .string($0) } ?? .null
    json["config"] = header?.config ?? .null
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

/// What a session tells its host.
public enum SessionEvent: Sendable, Equatable {
  /// The list of sections is another one; each begins as a placeholder.
  case sections
  /// One section's state or content changed.
  case section(String, state: String)
  /// The host should fetch: entities that are expired or missing, section by section. `cached` says what is on
  /// the screen meanwhile: "exact", "inherited" or nothing.
  case refresh(cached: Catalogue.Cached?, plan: [(section: String, plan: Plan)])

  public static func == (one: Self, other: Self) -> Bool { one.json == other.json }

  /// As it crosses the C boundary.
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
