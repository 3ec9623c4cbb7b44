import SatchelJSON
import SatchelStorage

/// Which stories of a library are wanted, and in which order. What is not given does not matter.
public struct StoryQuery: Equatable, Sendable {
  /// What to sort by; stories that are equal in it are sorted by title.
  public enum Sort: String, Sendable, CaseIterable {
    /// Without regard to case and diacritics.
    case title
    /// The minutes that files estimate; those that do not say are the longest.
    case readingTime = "reading_time"
    /// Ways from start to an ending; unbounded is the most.
    case pathCount = "path_count"
  }

  /// Words: each must begin a word of the title or the synopsis. Case and diacritics do not matter. A text
  /// without a word asks for nothing.
  public var search: String?
  /// A story must have all of them.
  public var tags: [String] = []
  /// As written in the file.
  public var ageRange: String?
  /// In years: a story whose age range includes it.
  public var age: Int?
  public var culture: String?
  public var isPurchased: Bool?
  /// Nil for relevance when words are searched for, and for the title otherwise.
  public var sort: Sort?
  public var isDescending = false
  /// How many stories at most.
  public var limit: Int?
  /// How many of the first to leave out.
  public var offset = 0

  /// All stories, by title.
  public init() {}

  /// - Throws: `SatchelError` `.invalid` for a number that makes no sense
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
  /// Reads a query from an object with the keys search, tag or tags, age_range, age, culture, purchased, sort
  /// ("title", "reading_time", "path_count"), descending, limit, offset; null is as good as no key.
  ///
  /// - Throws: `SatchelError` `.invalid` that names the key, for one that is unknown or has a wrong value
  public init(json: JSONValue) throws {
    self.init()
    guard let members = json.objectValue else {
      throw SatchelError(.invalid, "query: must be an object, is \(json.kind)")
    }
    for (key, value) in members {
      try read(key, value)
    }
    try validate()
  }

  private mutating func read(_ key: String, _ value: JSONValue) throws {
    func wanted<Value>(_ read: Value?, _ what: String) throws -> Value {
      guard let read else { throw Self.error(key, "must be \(what), is \(value.kind)") }
      return read
    }
    switch key {
    case "search", "tag", "tags", "age_range", "age", "culture", "purchased", "sort", "descending", "limit",
      "offset":
      if value.isNull { return }
    default: throw Self.error(key, "is no key of a query")
    }
    switch key {
    case "search": search = try wanted(value.stringValue, "a text")
    case "tag": tags.append(try wanted(value.stringValue, "a text"))
    case "tags":
      for tag in try wanted(value.arrayValue, "an array of texts") {
        guard let tag = tag.stringValue else { throw Self.error(key, "must be an array of texts") }
        tags.append(tag)
      }
    case "age_range": ageRange = try wanted(value.stringValue, "a text")
    case "age": age = Int(clamping: try wanted(value.intValue, "a whole number"))
    case "culture": culture = try wanted(value.stringValue, "a text")
    case "purchased": isPurchased = try wanted(value.boolValue, "true or false")
    case "sort":
      let name = try wanted(value.stringValue, "a text")
      guard let known = Sort(rawValue: name) else {
        let names = Sort.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw Self.error(key, "must be one of \(names)")
      }
      sort = known
    case "descending": isDescending = try wanted(value.boolValue, "true or false")
    case "limit": limit = Int(clamping: try wanted(value.intValue, "a whole number"))
    default: offset = Int(clamping: try wanted(value.intValue, "a whole number"))
    }
  }
}
