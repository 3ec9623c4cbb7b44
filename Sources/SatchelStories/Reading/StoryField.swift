#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The known keys of a story file, and the types of their values. Other keys are the app's.
package enum StoryField: UInt8, CaseIterable, Sendable {
  case id, title, author, originalSource, culturalOrigin, synopsis, coverImageName
  case estimatedReadingMinutes, ageRange, tags, isPurchased, segments
  case text, isAuthenticPath, isEnding, choices, nextSegmentId
  case image, sound, language
  case dynamic, entry

  var name: StaticString {
    switch self {
    case .id: "id"
    case .title: "title"
    case .author: "author"
    case .originalSource: "originalSource"
    case .culturalOrigin: "culturalOrigin"
    case .synopsis: "synopsis"
    case .coverImageName: "coverImageName"
    case .estimatedReadingMinutes: "estimatedReadingMinutes"
    case .ageRange: "ageRange"
    case .tags: "tags"
    case .isPurchased: "isPurchased"
    case .segments: "segments"
    case .text: "text"
    case .isAuthenticPath: "isAuthenticPath"
    case .isEnding: "isEnding"
    case .choices: "choices"
    case .nextSegmentId: "nextSegmentId"
    case .image: "image"
    case .sound: "sound"
    case .language: "language"
    case .dynamic: "dynamic"
    case .entry: "entry"
    }
  }

  @inline(__always)
  func matches(_ key: UnsafeRawBufferPointer) -> Bool {
    let name = name
    guard key.count == name.utf8CodeUnitCount, let base = key.baseAddress else { return false }
    return memcmp(base, name.utf8Start, key.count) == 0
  }

  /// The type of a field's value.
  enum Shape: Equatable {
    case text, integer, flag, list
    /// The paths of files, and references to assets.
    case media

    var name: StaticString {
      switch self {
      case .text: "a string"
      case .integer: "an integer"
      case .flag: "a boolean"
      case .list: "an array"
      case .media: "a path, a reference to an asset, or an array of these"
      }
    }
  }

  @inline(__always)
  var shape: Shape {
    switch self {
    case .estimatedReadingMinutes: .integer
    case .isPurchased, .isAuthenticPath, .isEnding, .dynamic: .flag
    case .tags, .segments, .choices: .list
    case .image, .sound: .media
    default: .text
    }
  }

  var isOptional: Bool {
    switch self {
    case .originalSource, .culturalOrigin, .isEnding, .image, .sound, .language, .dynamic, .entry: true
    default: false
    }
  }

  static let ofStory: [StoryField] = [
    .id, .title, .author, .originalSource, .culturalOrigin, .synopsis, .coverImageName,
    .estimatedReadingMinutes, .ageRange, .tags, .isPurchased, .segments, .image, .sound, .language,
  ]
  static let ofSegment: [StoryField] = [
    .id, .text, .choices, .isAuthenticPath, .isEnding, .image, .sound, .entry,
  ]
  static let ofChoice: [StoryField] = [.id, .text, .nextSegmentId, .image, .sound, .dynamic]
}

/// A set of fields.
struct StoryFields: OptionSet, Sendable {
  var rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  @inline(__always)
  init(_ field: StoryField) { rawValue = 1 &<< UInt32(field.rawValue) }

  init(required fields: [StoryField]) {
    self = fields.reduce(into: []) { if !$1.isOptional { $0.insert(StoryFields($1)) } }
  }

  static let requiredOfStory = StoryFields(required: StoryField.ofStory)
  static let requiredOfSegment = StoryFields(required: StoryField.ofSegment)
  static let requiredOfChoice = StoryFields(required: StoryField.ofChoice)
  static let requiredOfDynamicChoice = requiredOfChoice.subtracting(StoryFields(.nextSegmentId))
}
