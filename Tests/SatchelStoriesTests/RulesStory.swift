import SatchelStories

/// A small story for one rule: by default two segments, "a" that leads to "b".
struct RulesStory {
  /// The members of the story by key, as raw text; nil omits one.
  var header: [(key: String, value: String?)] = [
    ("id", "\"t\""), ("title", "\"T\""), ("author", "\"A\""), ("synopsis", "\"S\""),
    ("coverImageName", "\"c\""),
    ("estimatedReadingMinutes", "1"), ("ageRange", "\"5-8\""), ("tags", "[\"x\"]"), ("isPurchased", "false"),
  ]
  var segments: String? = RulesStory.segments([RulesStory.segment("a", to: "b"), RulesStory.ending("b")])

  static func segments(_ elements: [String]) -> String { "[" + elements.joined(separator: ",\n") + "]" }

  static func segment(_ id: String, to targets: String..., more: String = "") -> String {
    segment(id, choices: targets.enumerated().map { choice("\(id)-\($0)", to: $1) }, more: more)
  }

  static func segment(_ id: String, isAuthentic: Bool = true, choices: [String], more: String = "") -> String
  {
    """
    {"id":"\(id)","text":"At \(id).","isAuthenticPath":\(isAuthentic)\(more),\
    "choices":[\(choices.joined(separator: ","))]}
    """
  }

  static func ending(_ id: String, more: String = "") -> String {
    segment(id, choices: [], more: ",\"isEnding\":true" + more)
  }

  static func choice(_ id: String, to target: String, text: String? = nil) -> String {
    "{\"id\":\"\(id)\",\"text\":\"\(text ?? "Take \(id)")\",\"nextSegmentId\":\"\(target)\"}"
  }

  subscript(key: String) -> String? {
    get { header.first { $0.key == key }?.value }
    set {
      header.removeAll { $0.key == key }
      header.append((key, newValue))
    }
  }

  /// Returns the story with other segments.
  static func of(_ elements: String...) -> RulesStory {
    var story = RulesStory()
    story.segments = segments(elements)
    return story
  }

  /// Returns the story with one other member.
  static func with(_ key: String, _ value: String?) -> RulesStory {
    var story = RulesStory()
    story[key] = value
    return story
  }

  var json: [UInt8] {
    var members = header.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }
    if let segments { members.append("\"segments\":\(segments)") }
    return Array("{\(members.joined(separator: ",\n"))}".utf8)
  }

  /// The "code pointer" of each finding.
  func findings() throws -> [String] {
    try StoryReport.check(json, source: .json).findings.map { "\($0.code.rawValue) \($0.pointer)" }
  }
}
