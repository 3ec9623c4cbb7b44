import SatchelJSON
import SatchelStories

/// Converts the segments of a Twee text to JSON values, in the order of its `StoryTable`.
struct TweeSegments {
  private let reader: TweeReader
  private let analysis: StoryAnalysis
  private var scanner: TweeScanner
  private var text: TweeText

  private var table: StoryTable { analysis.table }

  init(_ reader: TweeReader, _ analysis: StoryAnalysis) {
    self.reader = reader
    self.analysis = analysis
    scanner = TweeScanner(
      reader.bytes, reader.format, names: TweeNames(reader.passages, reader.table.text, reader.bytes))
    text = TweeText(reader.bytes)
  }

  mutating func all() -> [JSONValue] {
    let authentic = authenticSegments()
    return (0..<analysis.table.partsStart).map { segment($0, isAuthentic: authentic[$0]) }
  }

  /// Returns the passages that are not segments, with their names, tags and raw bodies: first those that are
  /// only parts of segments.
  func otherPassages() -> [JSONValue] {
    let others = reader.passages.filter { $0.kind != .segment && !isRepresented($0) }
    return (reader.partPassages + others).map { passage in
      var object: JSONObject = ["id": .string(table.text.string(passage.name))]
      let tags = tags(reader.header(passage))
      if !tags.isEmpty { object["twineTags"] = .array(tags) }
      object["text"] = .string(reader.bytes.string(passage.body))
      return .object(object)
    }
  }

  /// Whether other keys of the story represent a passage.
  private func isRepresented(_ passage: TweePassage) -> Bool {
    passage.body == reader.dataBody || reader.bytes.trimmed(passage.body) == titleBody
  }

  private var titleBody: Range<Int>? {
    table.header[.title].map { Int($0.slice.start)..<Int($0.slice.start) + Int($0.slice.count) }
  }

  /// Returns which segments are authentic: those with the tag, else those of a likely path.
  private func authenticSegments() -> [Bool] {
    var result = table.segments.map { $0.flags.contains(.isAuthentic) }
    if !result.contains(true), !result.isEmpty {
      for segment in analysis.likelyPath { result[segment] = true }
    }
    return result
  }

  private mutating func segment(_ index: Int, isAuthentic: Bool) -> JSONValue {
    let record = analysis.table.segments[index]
    let body = Int(record.text.start)..<Int(record.text.start) + Int(record.text.count)
    scanner.scan(body)
    var object: JSONObject = [
      "id": .string(analysis.id(index)), "text": .string(text.text(body, scanner.markups)),
      "choices": .array(analysis.table.choiceRange(index).map { choice($0, of: index) }),
      "isAuthenticPath": .bool(isAuthentic), "isEnding": .bool(analysis.isEnding(index)),
    ]
    // The first one says that all of them may be entered.
    let isEntered =
      index == 0
      ? table.hasOutsideLinks
      : record.flags.contains(.mayBeEntered) || table.hasOutsideLinks && !analysis.isReached(index)
    if isEntered { object["entry"] = "possible" }
    let header = reader.header(at: Int(record.start))
    let tags = tags(header)
    if !tags.isEmpty { object["twineTags"] = .array(tags) }
    if !header.metadata.isEmpty, let metadata = try? JSONValue(parsing: reader.bytes.raw(header.metadata)) {
      for key in ["position", "size"] { object[key] = metadata[key] }
    }
    return .object(object)
  }

  /// Returns a choice. The text of a macro without one is its target; code that may lead on has none.
  private func choice(_ index: Int, of segment: Int) -> JSONValue {
    let choice = table.choices[index]
    let (target, isDynamic) = (table.text.string(choice.target), choice.flags.contains(.isDynamic))
    let text = choice.flags.contains(.hasText) ? table.text.string(choice.text) : isDynamic ? "" : target
    var json: JSONObject = ["id": .string(table.choiceID(index, of: segment)), "text": .string(text)]
    if choice.flags.contains(.hasTarget) { json["nextSegmentId"] = .string(target) }
    if isDynamic { json["dynamic"] = true }
    return .object(json)
  }

  private func tags(_ header: TweeHeader) -> [JSONValue] {
    var tags: [JSONValue] = []
    header.forEachTag(reader.bytes) { tags.append(.string(TweeEscape.resolved(reader.bytes.raw($0)))) }
    return tags
  }
}
