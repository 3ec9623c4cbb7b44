import SatchelJSON

/// One story as flat arrays of small records: what reading makes, and what every rule works on.
///
/// A record stands for each element of the file, also for one that is no object, so that an index here is the
/// index of the file's JSON Pointer.
package struct StoryTable {
  /// A segment, 44 bytes.
  struct Segment {
    var id = StorySlice.none
    var idHash: UInt32 = 0
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

  /// A choice, 40 bytes.
  struct Choice {
    var id = StorySlice.none
    var text = StorySlice.none
    var target = StorySlice.none
    var idHash: UInt32 = 0
    var targetHash: UInt32 = 0
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
  /// Of an imported story, what faults say in words of their own; their `detail` is the index.
  var notes: [String] = []
  /// An imported story leads to segments from menus or scripts that belong to none.
  var isEnteredElsewhere = false

  init(text: StoryText) { self.text = text }

  /// Notes the hashes of all ids and targets, for a reader that did not do so while their bytes were at hand.
  mutating func hashIDs() {
    for index in segments.indices {
      segments[index].idHash = StoryIDTable.hash(text.bytes(segments[index].id))
    }
    for index in choices.indices {
      choices[index].idHash = StoryIDTable.hash(text.bytes(choices[index].id))
      choices[index].targetHash = StoryIDTable.hash(text.bytes(choices[index].target))
    }
  }

  /// Indices into `choices`.
  @inline(__always)
  func choiceRange(_ segment: Int) -> Range<Int> {
    let first = Int(segments[segment].firstChoice)
    return first..<first + Int(segments[segment].choiceCount)
  }

  /// The id of a choice; one that was imported is called by its segment and its number there.
  func choiceID(_ choice: Int, of segment: Int) -> String {
    guard isImported else { return text.string(choices[choice].id) }
    // Of segments with one id the later ones are told apart by their index.
    let mark = segments[segment].flags.contains(.isDuplicate) ? "@\(segment)" : ""
    return "\(text.string(segments[segment].id))\(mark)-\(choice - Int(segments[segment].firstChoice) + 1)"
  }

  /// The segment that has a choice, by halving: segments lie in the order of their choices.
  func segment(ofChoice choice: Int) -> Int {
    var low = 0
    var high = segments.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(segments[middle].firstChoice) <= choice { low = middle } else { high = middle }
    }
    return low
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
