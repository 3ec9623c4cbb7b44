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
  public var state: SectionState = .placeholder
  /// Whether content that is shown is being loaded again, or the source is asked for the section.
  public var isRefreshing: Bool { isReading || isFetching }
  var isReading = false
  var isFetching = false
  /// Why the section could not be fetched or loaded; content that was shown before is still shown.
  public var error: String?
  /// The number of the last event that reported its content or its state; 0 for none.
  var reported = 0

  init(name: String) { self.name = name }

  /// The section with its content; nil until it is loaded.
  public var loaded: Section? {
    if case .loaded(let section) = state { section } else { nil }
  }

  public static func == (one: Self, other: Self) -> Bool {
    one.name == other.name && one.header == other.header && one.state == other.state
      && one.isRefreshing == other.isRefreshing && one.error == other.error
  }

  /// Changes the state; content that is shown stays until there is other content.
  mutating func take(_ new: SectionState) {
    let isShown = loaded != nil
    switch new {
    case .loaded(let section): (state, header, isReading, error) = (new, section.header, false, nil)
    case .failed(let reason):
      (isReading, error) = (false, reason)
      if !isShown { state = new }
    case .loading where isShown: isReading = true
    case .loading, .placeholder: (state, error) = (new, nil)
    }
  }

  /// Whether content is the one that is shown.
  func shows(_ section: Section) -> Bool {
    guard let loaded else { return false }
    return loaded.header.isShownAs(section.header) && loaded.expired == section.expired
      && loaded.missing == section.missing && loaded.body.isEqual(to: section.body)
  }

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    var json = members
    if let loaded { json["content"] = loaded.content }
    return .object(json)
  }

  /// Appends the JSON object that the C interface returns. The content is copied as it was rendered.
  func write(into text: inout [UInt8]) throws {
    var json = members
    guard let content = loaded?.body.text else {
      if let loaded { json["content"] = loaded.content }
      return try JSONValue.object(json).write(into: &text)
    }
    try JSONValue.object(json).write(into: &text)
    text.removeLast()
    text.append(contentsOf: ",\"content\":".utf8)
    text.append(contentsOf: content)
    text.append(UInt8(ascii: "}"))
  }

  /// The members of its JSON object, without the content.
  private var members: JSONObject {
    var json: JSONObject = ["section": .string(name), "state": .string(state.name)]
    json["display_title"] = header?.displayTitle.map { .string($0) } ?? .null
    json["config"] = header?.config ?? .null
    json["level"] = header.map { .string($0.level.name) } ?? .null
    json["resolved"] = ResolvedLevel.json(header?.resolved ?? [])
    json["entity_count"] = header.map { .int(Int64($0.entityCount)) } ?? .null
    json["fetched_at"] = header.map { .int($0.fetchedAt) } ?? .null
    if let loaded {
      json["expired"] = .array(loaded.expired.map { .string($0) })
      json["missing"] = .array(loaded.missing.map { .string($0) })
    }
    json["refreshing"] = .bool(isRefreshing)
    json["error"] = error.map { .string($0) } ?? .null
    return json
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
