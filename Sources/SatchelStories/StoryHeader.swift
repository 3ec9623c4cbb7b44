import SatchelJSON

/// What a story's file says of the whole story. What is missing or of another type is nil or empty.
public struct StoryHeader: Equatable, Sendable {
  public var id: String?
  public var title: String?
  public var author: String?
  public var originalSource: String?
  public var culturalOrigin: String?
  public var synopsis: String?
  public var coverImageName: String?
  public var estimatedReadingMinutes: Int64?
  /// As written, such as "5-8".
  public var ageRange: String?
  public var tags: [String]
  /// As the file says; what its reader bought is the library's.
  public var isPurchased: Bool?

  init(_ table: StoryTable) {
    id = table.string(.id)
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
  }

  /// In the order of the format, with snake_case keys.
  public var json: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "id": text(id), "title": text(title), "author": text(author), "original_source": text(originalSource),
      "cultural_origin": text(culturalOrigin), "synopsis": text(synopsis),
      "cover_image_name": text(coverImageName),
      "estimated_reading_minutes": estimatedReadingMinutes.map { .int($0) } ?? .null,
      "age_range": text(ageRange), "tags": .array(tags.map { .string($0) }),
      "is_purchased": isPurchased.map { .bool($0) } ?? .null,
    ]
  }
}
