import SatchelJSON

/// A parsed story as flat arrays of small records: the output of the readers, and the input of the rules.
///
/// Every element of the file has a record, also one that is not an object, so that an index here is the index
/// in the file's JSON Pointer.
package struct StoryTable {
  /// A segment, 44 bytes.
  package struct Segment {
    package var id = StorySlice.none
    package var idHash: UInt32 = 0
    /// Without quotes, with unresolved escapes.
    package var text = StorySlice.none
    /// The offset of the element.
    package var start: UInt32
    package var words: UInt32 = 0
    package var firstChoice: Int32
    package var choiceCount: Int32 = 0
    package var flags: Flags = []

    package init(start: UInt32, firstChoice: Int32) { (self.start, self.firstChoice) = (start, firstChoice) }
  }

  package struct Flags: OptionSet {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    // Another module would call those of the standard library, unspecialized: a fifth of reading Twee.
    package func contains(_ member: Flags) -> Bool { rawValue & member.rawValue == member.rawValue }
    package mutating func insert(_ member: Flags) { rawValue |= member.rawValue }

    package static let hasID = Flags(rawValue: 1)
    package static let isAuthentic = Flags(rawValue: 2)
    package static let isMarkedEnding = Flags(rawValue: 4)
    /// `choices` exists, and is an array.
    package static let hasChoices = Flags(rawValue: 8)
    package static let isTextEscaped = Flags(rawValue: 16)
    /// An earlier segment has the same id.
    package static let isDuplicate = Flags(rawValue: 32)
    /// A dynamic choice leads from here to a segment that only the game knows.
    package static let jumps = Flags(rawValue: 64)
    /// The segment is only displayed as a part of others, and no choice leads to it.
    package static let isPart = Flags(rawValue: 128)
    /// The segment may be entered from outside of the choices: by a menu or a script.
    package static let mayBeEntered = Flags(rawValue: 256)
    /// Of a segment that was imported.
    package static let imported: Flags = [.hasID, .hasChoices]
  }

  /// A choice, 40 bytes.
  package struct Choice {
    package var id = StorySlice.none
    package var text = StorySlice.none
    package var target = StorySlice.none
    package var idHash: UInt32 = 0
    package var targetHash: UInt32 = 0
    /// The offset of the element.
    package var start: UInt32
    package var flags: ChoiceFlags = []

    package init(start: UInt32) { self.start = start }
  }

  package struct ChoiceFlags: OptionSet {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    // Another module would call those of the standard library, unspecialized: a fifth of reading Twee.
    package func contains(_ member: ChoiceFlags) -> Bool { rawValue & member.rawValue == member.rawValue }
    package mutating func insert(_ member: ChoiceFlags) { rawValue |= member.rawValue }

    package static let hasID = ChoiceFlags(rawValue: 1)
    package static let hasText = ChoiceFlags(rawValue: 2)
    package static let hasTarget = ChoiceFlags(rawValue: 4)
    /// A copy of a choice of another segment, which is displayed as a part of this one.
    package static let isIncluded = ChoiceFlags(rawValue: 8)
    /// The choice leads where only the game knows: perhaps to its target, if it has one.
    package static let isDynamic = ChoiceFlags(rawValue: 16)
    /// Not a choice, but a macro that displays its target, which does not exist.
    package static let isDisplay = ChoiceFlags(rawValue: 32)
  }

  /// A scalar of the story's header.
  package struct Value {
    package var slice: StorySlice
    package var isEscaped: Bool

    package init(slice: StorySlice, isEscaped: Bool) { (self.slice, self.isEscaped) = (slice, isEscaped) }
  }

  package var text: StoryText
  package var segments: ContiguousArray<Segment> = []
  package var choices: ContiguousArray<Choice> = []
  package var header: [StoryField: Value] = [:]
  var tags: [StorySlice] = []
  /// The pictures and sounds that are files, in the order of the text.
  package var namedFiles: ContiguousArray<NamedFile> = []
  /// The members of the story that are the app's, and those of its segments and choices, in the order of the segments.
  var extras: ContiguousArray<ExtraMember> = []
  var segmentExtras: ContiguousArray<ExtraMember> = []
  /// The offset of the story's object.
  package var start = 0
  /// The offset of its `segments`, when they are an array.
  package var segmentsStart: Int?
  /// The faults that the reader found.
  package var faults: ContiguousArray<StoryFault> = []
  /// Whether the story was imported, so that only the rules for imported stories apply.
  package var isImported = false
  /// For an imported story, messages of faults, whose `detail` is the index here.
  package var notes: [String] = []
  /// The files of an imported story that has several.
  package var files: [File] = []
  /// For a text that was extracted from a file of another form, where its bytes are in the file.
  package var origins: StoryOrigins?
  /// Whether menus or scripts, outside of segments, may lead to any segment.
  package var hasOutsideLinks = false
  /// Whether choices are dynamic, or segments may be entered from outside: what `StoryGraph` has to look for.
  package var hasPossibleLinks = false
  /// For an imported story, the segments that are displayed as a part of others.
  package var includes: [Link] = []
  /// The number of choices that are copies.
  package var includedChoices = 0
  /// For an imported story, the passages that a later one of the same name replaces.
  package var replaced: [Replaced] = []

  /// A file of an imported story that has several, and the offset of its first byte in the text.
  package struct File: Equatable, Sendable {
    package var name: String
    package var start: Int
    /// Whether the file starts with a byte-order mark, which the text does not have.
    package var hasByteOrderMark: Bool

    package init(name: String, start: Int, hasByteOrderMark: Bool) {
      (self.name, self.start, self.hasByteOrderMark) = (name, start, hasByteOrderMark)
    }
  }

  /// A file that the story names, by a path or an address.
  package struct NamedFile {
    package var path: StorySlice
    /// The offset of the value.
    package var start: UInt32
    /// The index of the segment; -1 for the story.
    package var segment: Int32
    /// The index of the choice among all choices; -1 for none.
    package var choice: Int32 = -1
    /// The index in the member's array; -1 for a member that is no array.
    package var index: Int32 = -1
    /// The member that has the path: of an imported story, the text.
    package var field: StoryField

    package init(path: StorySlice, start: Int, segment: Int, field: StoryField) {
      (self.path, self.field) = (path, field)
      (self.start, self.segment) = (UInt32(truncatingIfNeeded: start), Int32(truncatingIfNeeded: segment))
    }
  }

  /// A passage that a later one of the same name replaces.
  package struct Replaced {
    package var name: StorySlice
    /// The offset of the later one.
    package var later: UInt32

    package init(name: StorySlice, later: UInt32) { (self.name, self.later) = (name, later) }
  }

  /// A pair of segments, by their indices.
  package struct Link {
    package var from: Int32
    package var to: Int32

    package init(from: Int32, to: Int32) { (self.from, self.to) = (from, to) }
  }

  package init(text: StoryText) { self.text = text }

  /// Computes the hashes of all targets, for a reader that did not compute them while reading.
  package mutating func hashTargets() {
    for index in choices.indices {
      choices[index].targetHash = StoryIDTable.hash(text.bytes(choices[index].target))
    }
  }

  /// The number of segments that are not only parts of others, which come last.
  package var partsStart: Int {
    segments.count - segments.reversed().prefix { $0.flags.contains(.isPart) }.count
  }

  /// The number of choices, each once, without dynamic ones.
  var countedChoices: Int {
    guard includedChoices > 0 || hasPossibleLinks else { return choices.count }
    return choices.count { $0.flags.isDisjoint(with: [.isIncluded, .isDynamic, .isDisplay]) }
  }

  /// Returns the indices in `choices` of a segment's choices.
  @inline(__always)
  package func choiceRange(_ segment: Int) -> Range<Int> {
    let first = Int(segments[segment].firstChoice)
    return first..<first + Int(segments[segment].choiceCount)
  }

  /// Returns the id of a choice; for an imported one, its segment's id and its number in the segment.
  package func choiceID(_ choice: Int, of segment: Int) -> String {
    guard isImported else { return text.string(choices[choice].id) }
    return "\(text.string(segments[segment].id))-\(choice - Int(segments[segment].firstChoice) + 1)"
  }

  /// Returns the segment that has a choice, by binary search: segments are in the order of their choices.
  func segment(ofChoice choice: Int) -> Int {
    var low = 0
    var high = segments.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(segments[middle].firstChoice) <= choice { low = middle } else { high = middle }
    }
    return low
  }

  /// Whether a segment has no choices or is marked as an ending, and is not only a part of others.
  @inline(__always)
  func isEnding(_ segment: Int) -> Bool {
    let flags = segments[segment].flags
    return segments[segment].choiceCount == 0 && !flags.contains(.isPart) || flags.contains(.isMarkedEnding)
  }

  /// Returns a string of the story's header, escapes resolved; nil when it is missing or not a string.
  package func string(_ field: StoryField) -> String? {
    guard let value = header[field], field.shape == .text else { return nil }
    return resolved(value.slice, isEscaped: value.isEscaped)
  }

  /// Returns the text of a segment, escapes resolved.
  func segmentText(_ segment: Int) -> String {
    let record = segments[segment]
    return resolved(record.text, isEscaped: record.flags.contains(.isTextEscaped))
  }

  private func resolved(_ slice: StorySlice, isEscaped: Bool) -> String {
    isEscaped ? JSONEscape.resolved(text.bytes(slice)) : text.string(slice)
  }

  /// Notes that the text, or one of its files, starts with a byte-order mark, which was left out.
  mutating func noteByteOrderMark(at offset: Int) {
    faults.append(StoryFault(code: .byteOrderMark, offset: UInt32(truncatingIfNeeded: offset)))
  }

  /// Returns an integer of the story's header.
  func integer(_ field: StoryField) -> Int64? {
    header[field].flatMap { field.shape == .integer ? Int64(text.string($0.slice)) : nil }
  }

  func flag(_ field: StoryField) -> Bool? {
    guard let value = header[field], field.shape == .flag else { return nil }
    return value.slice.count == 4
  }
}

/// A finding without its message: small, so that a million of them fit in memory.
package struct StoryFault {
  /// The byte offset in the source.
  package var offset: UInt32
  /// The index of the segment; -1 for none.
  package var segment: Int32
  /// The index of the choice among all choices of the story; -1 for none.
  package var choice: Int32
  /// An additional index or count for the message.
  package var detail: Int32
  package var code: StoryFinding.Code
  package var field: StoryField?
  /// Whether the fault is a warning although its code is an error.
  package var isDowngraded: Bool

  package init(
    code: StoryFinding.Code, offset: UInt32, segment: Int32 = -1, choice: Int32 = -1,
    field: StoryField? = nil,
    detail: Int32 = -1, isDowngraded: Bool = false
  ) {
    (self.offset, self.segment, self.choice, self.detail) = (offset, segment, choice, detail)
    (self.code, self.field, self.isDowngraded) = (code, field, isDowngraded)
  }

  package var severity: StoryFinding.Severity { isDowngraded ? .warning : code.severity }
}
