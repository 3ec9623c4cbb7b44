import SatchelJSON

/// One story as flat arrays of small records: what reading makes, and what every rule works on.
///
/// A record stands for each element of the file, also for one that is no object, so that an index here is the
/// index of the file's JSON Pointer.
package struct StoryTable {
  /// A segment, 40 bytes.
  struct Segment {
    var id = StorySlice.none
    /// Without quotes, escapes as they stand.
    var text = StorySlice.none
    /// Offset of the element.
    var start: UInt32
    var words: UInt32 = 0
    var firstChoice: Int32
    var choiceCount: Int32 = 0
    var flags: Flags = []
  }

  struct Flags: OptionSet {
    var rawValue: UInt8
    static let hasID = Flags(rawValue: 1)
    static let isAuthentic = Flags(rawValue: 2)
    static let isMarkedEnding = Flags(rawValue: 4)
    /// `choices` is there, and an array.
    static let hasChoices = Flags(rawValue: 8)
    static let isTextEscaped = Flags(rawValue: 16)
    /// An earlier segment has the same id.
    static let isDuplicate = Flags(rawValue: 32)
    /// A macro may lead from here to a segment that cannot be known without playing.
    static let jumps = Flags(rawValue: 64)
  }

  /// A choice, 32 bytes.
  struct Choice {
    var id = StorySlice.none
    var text = StorySlice.none
    var target = StorySlice.none
    /// Offset of the element.
    var start: UInt32
    var flags: ChoiceFlags = []
  }

  struct ChoiceFlags: OptionSet {
    var rawValue: UInt8
    static let hasID = ChoiceFlags(rawValue: 1)
    static let hasText = ChoiceFlags(rawValue: 2)
    static let hasTarget = ChoiceFlags(rawValue: 4)
  }

  /// A scalar of the story itself.
  struct Value {
    var slice: StorySlice
    var isEscaped: Bool
  }

  var text: StoryText
  var segments: ContiguousArray<Segment> = []
  var choices: ContiguousArray<Choice> = []
  var header: [StoryField: Value] = [:]
  var tags: [StorySlice] = []
  /// Offset of the story's own object.
  var start = 0
  /// Offset of its `segments`, when they are an array.
  var segmentsStart: Int?
  /// What reading itself found.
  var faults: ContiguousArray<StoryFault> = []
  /// Which rules apply: those of the format, or those that an imported story can be held to.
  var isImported = false

  init(text: StoryText) { self.text = text }

  /// Indices into `choices`.
  @inline(__always)
  func choiceRange(_ segment: Int) -> Range<Int> {
    let first = Int(segments[segment].firstChoice)
    return first..<first + Int(segments[segment].choiceCount)
  }

  /// A segment without choices, marked or not; or one that is marked.
  @inline(__always)
  func isEnding(_ segment: Int) -> Bool {
    segments[segment].choiceCount == 0 || segments[segment].flags.contains(.isMarkedEnding)
  }

  /// A text of the story's header, escapes resolved; nil when it is not there or no text.
  func string(_ field: StoryField) -> String? {
    guard let value = header[field], field.shape == .text else { return nil }
    return resolved(value.slice, isEscaped: value.isEscaped)
  }

  /// The text of a segment, escapes resolved.
  func segmentText(_ segment: Int) -> String {
    let record = segments[segment]
    return resolved(record.text, isEscaped: record.flags.contains(.isTextEscaped))
  }

  private func resolved(_ slice: StorySlice, isEscaped: Bool) -> String {
    isEscaped ? JSONEscape.resolved(text.bytes(slice)) : text.string(slice)
  }

  /// A whole number of the story's header.
  func integer(_ field: StoryField) -> Int64? {
    header[field].flatMap { field.shape == .integer ? Int64(text.string($0.slice)) : nil }
  }

  func flag(_ field: StoryField) -> Bool? {
    guard let value = header[field], field.shape == .flag else { return nil }
    return value.slice.count == 4
  }
}
