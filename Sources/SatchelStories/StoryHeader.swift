import SatchelJSON

/// The metadata in a story's file. A field that is missing or has the wrong type is nil or empty.
public struct StoryHeader: Equatable, Sendable, JSONConvertible {
  public var id: String?
  /// The language of this file, such as "de": the files of one story in several languages have the same id.
  public var language: String?
  public var title: String?
  public var author: String?
  public var originalSource: String?
  public var culturalOrigin: String?
  public var synopsis: String?
  public var coverImageName: String?
  public var estimatedReadingMinutes: Int64?
  /// The age range as written, such as "5-8".
  public var ageRange: String?
  public var tags: [String] = []
  /// The value in the file; a library keeps purchases separately.
  public var isPurchased: Bool?
  /// The members of the file that are the app's: all that have no property here, but `segments`.
  public var extra = JSONObject()
}

extension StoryHeader {
  init(_ table: StoryTable) {
    id = table.string(.id)
    language = table.string(.language)
    title = table.string(.title)
    author = table.string(.author)
    originalSource = table.string(.originalSource)
    culturalOrigin = table.string(.culturalOrigin)
    synopsis = table.string(.synopsis)
    coverImageName = table.string(.coverImageName)
    estimatedReadingMinutes = table.integer(.estimatedReadingMinutes)
    ageRange = table.string(.ageRange)
    tags = table.tags.map { table.text.string($0) }
    isPurchased = table.flag(.isPurchased)
    extra = table.extra
  }

  /// A JSON object with snake_case keys, in the order of the format.
  public var json: JSONValue {
    var members = JSONMemberList()
    members.add("id", id)
    add(to: &members, isPurchased: isPurchased)
    return members.json
  }

  /// Adds all members but the id.
  func add(to members: inout some (JSONMemberSink & ~Copyable), isPurchased: Bool?) {
    members.add("language", language)
    members.add("title", title)
    members.add("author", author)
    members.add("original_source", originalSource)
    members.add("cultural_origin", culturalOrigin)
    members.add("synopsis", synopsis)
    members.add("cover_image_name", coverImageName)
    members.add("estimated_reading_minutes", estimatedReadingMinutes)
    members.add("age_range", ageRange)
    members.add("tags", .array(tags.map { .string($0) }))
    members.add("is_purchased", isPurchased)
    members.add("extra", .object(extra))
  }
}

/// The ages that a story is for, in years: "5-8" or "12+".
public struct AgeRange: Equatable, Sendable {
  public var lowest: Int
  /// The upper bound; nil for none.
  public var highest: Int?

  /// Parses an age range; nil when the text has neither form, an age is above 120, or the bounds are in the
  /// wrong order.
  public init?(_ text: String) {
    // By bytes, not characters: a combining mark can join a sign to the preceding character.
    let bytes = text.utf8
    if bytes.last == UInt8(ascii: "+") {
      guard let age = Self.age(bytes.dropLast()) else { return nil }
      (lowest, highest) = (age, nil)
      return
    }
    let ends = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2, let low = Self.age(ends[0]), let high = Self.age(ends[1]), low <= high else {
      return nil
    }
    (lowest, highest) = (low, high)
  }

  private static func age(_ digits: Substring.UTF8View) -> Int? {
    guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let age = Int(Substring(digits)), age <= 120
    else { return nil }
    return age
  }
}
