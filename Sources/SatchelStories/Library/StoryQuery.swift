import SatchelCore
import SatchelJSON
import SatchelStorage

/// A query for stories of a library: conditions, order, limit and offset. A condition that is nil or empty
/// matches every story.
public struct StoryQuery: Equatable, Sendable {
  /// The sort key; stories with equal keys are sorted by title.
  public enum Sort: String, Sendable, CaseIterable {
    /// The title, ignoring case and diacritics.
    case title
    /// The estimated minutes in the file; files without an estimate sort as the longest.
    case readingTime = "reading_time"
    /// The number of paths from the start to an ending; unbounded sorts as the largest.
    case pathCount = "path_count"
  }

  /// Search words, at most 64: each must be a prefix of a word of the title or the synopsis, ignoring case
  /// and diacritics; Chinese, Japanese, Thai and other texts without spaces are found anywhere in a run of
  /// characters. A string without words matches every story.
  public var search: String?
  /// The tags that a story must have, all of them.
  public var tags: [String] = []
  /// The age range as written in the file.
  public var ageRange: String?
  /// An age in years that the age range of a story must include.
  public var age: Int?
  public var culture: String?
  /// The language as written in the file; nil for the files in all languages.
  public var language: String?
  public var isPurchased: Bool?
  /// The sort key; nil sorts by relevance for a search, and otherwise by title.
  public var sort: Sort?
  public var isDescending = false
  /// The maximum number of stories.
  public var limit: Int?
  /// The number of stories to skip.
  public var offset = 0

  /// Creates a query for all stories, by title.
  public init() {}

  /// - Throws: `SatchelError` `.invalid` for a negative number
  func validate() throws {
    if let age, age < 0 { throw Self.error("age", "is negative") }
    if let limit, limit < 0 { throw Self.error("limit", "is negative") }
    if offset < 0 { throw Self.error("offset", "is negative") }
  }

  private static func error(_ key: String, _ reason: String) -> SatchelError {
    SatchelError(.invalid, "query: \"\(key)\" \(reason)")
  }
}

extension StoryQuery {
  /// Creates a query from an object with the keys search, tag or tags, age_range, age, culture, language,
  /// purchased, sort ("title", "reading_time" or "path_count"), descending, limit and offset. Null is equivalent to a
  /// missing key.
  ///
  /// - Throws: `SatchelError` `.invalid`, with the key, for an unknown key or a wrong value
  package init(json: JSONValue) throws {
    self.init()
    guard let members = json.objectValue else {
      throw SatchelError(.invalid, "query: must be an object, not \(json.kind)")
    }
    for (key, value) in members {
      try read(key, value)
    }
    try validate()
  }

  private mutating func read(_ key: String, _ value: JSONValue) throws {
    func require<Value>(_ member: Value?, _ type: String) throws -> Value {
      guard let member else { throw Self.error(key, "must be \(type), not \(value.kind)") }
      return member
    }
    switch key {
    case "search", "tag", "tags", "age_range", "age", "culture", "language", "purchased", "sort",
      "descending", "limit",
      "offset":
      if value.isNull { return }
    default: throw Self.error(key, "is not a known key")
    }
    switch key {
    case "search": search = try require(value.stringValue, "a string")
    case "tag": tags.append(try require(value.stringValue, "a string"))
    case "tags":
      for tag in try require(value.arrayValue, "an array of strings") {
        guard let tag = tag.stringValue else { throw Self.error(key, "must be an array of strings") }
        tags.append(tag)
      }
    case "age_range": ageRange = try require(value.stringValue, "a string")
    case "age": age = Int(clamping: try require(value.intValue, "an integer"))
    case "culture": culture = try require(value.stringValue, "a string")
    case "language": language = try require(value.stringValue, "a string")
    case "purchased": isPurchased = try require(value.boolValue, "a boolean")
    case "sort":
      let name = try require(value.stringValue, "a string")
      guard let known = Sort(rawValue: name) else {
        let names = Sort.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw Self.error(key, "must be one of \(names)")
      }
      sort = known
    case "descending": isDescending = try require(value.boolValue, "a boolean")
    case "limit": limit = Int(clamping: try require(value.intValue, "an integer"))
    default: offset = Int(clamping: try require(value.intValue, "an integer"))
    }
  }
}
