import SatchelJSON

/// What a library knows of a story without opening its file.
public struct StorySummary: Equatable, Sendable {
  public var id: String
  /// The name of its file in the library's directory.
  public var file: String
  public var title: String?
  public var author: String?
  public var originalSource: String?
  public var culturalOrigin: String?
  public var synopsis: String?
  public var coverImageName: String?
  /// As the file says.
  public var estimatedReadingMinutes: Int64?
  /// As written, such as "5-8".
  public var ageRange: String?
  public var tags: [String] = []
  /// What its reader bought or gave back, as the store knows; what the file says where it does not.
  public var isPurchased = false
  public var segments = 0
  public var choices = 0
  /// Endings that can be reached.
  public var endings = 0
  /// Words of all segments' texts.
  public var words = 0
  /// Segments of a shortest reading; nil when no ending can be reached.
  public var shortestPath: Int?
  /// Segments of a longest reading; nil when no ending can be reached, or none is the longest.
  public var longestPath: Int?
  /// Minutes that the words take at 200 a minute: of a shortest reading, and of all that can be reached.
  public var shortestMinutes = 0.0
  public var longestMinutes = 0.0
  /// Different ways from start to an ending: -1 for unbounded, `Int64.max` for all that is more.
  public var pathCount: Int64 = 0
  /// How many findings of a check are errors.
  public var errors = 0
  public var warnings = 0

  init(id: String, file: String) {
    self.id = id
    self.file = file
  }

  /// With snake_case keys: those of `StoryHeader.json` and `StoryStatistics.json`, file, errors, warnings.
  public var json: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func number(_ value: Int?) -> JSONValue { value.map { .int(Int64($0)) } ?? .null }
    return [
      "id": .string(id), "file": .string(file), "title": text(title), "author": text(author),
      "original_source": text(originalSource), "cultural_origin": text(culturalOrigin),
      "synopsis": text(synopsis), "cover_image_name": text(coverImageName),
      "estimated_reading_minutes": estimatedReadingMinutes.map { .int($0) } ?? .null,
      "age_range": text(ageRange), "tags": .array(tags.map { .string($0) }),
      "is_purchased": .bool(isPurchased), "segments": number(segments), "choices": number(choices),
      "endings": number(endings), "words": number(words), "shortest_path": number(shortestPath),
      "longest_path": number(longestPath), "shortest_minutes": .double(shortestMinutes),
      "longest_minutes": .double(longestMinutes), "path_count": .int(pathCount), "errors": number(errors),
      "warnings": number(warnings),
    ]
  }
}
