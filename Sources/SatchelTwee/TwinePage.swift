import SatchelCore
import SatchelStories

/// The passages of a published page, as Twine 2 and Twine 1 write it, in a text of the form of Twee.
///
/// Twine 2 has a `<tw-storydata>` with a `<tw-passagedata>` for each passage, Twine 1 a `<div tiddler="…">`.
struct TwinePage {
  let memory: TweeMemory
  let passages: ContiguousArray<Range<Int>>
  let origins: StoryOrigins

  /// Returns nil for a text that is no page.
  ///
  /// - Parameter story: the number of the story in an archive
  /// - Throws: `SatchelError` `.invalid`, with line and column, for an archive with several stories, and a passage that
  ///   is not closed
  init?(_ file: TweeBytes, story: Int?) throws {
    let stories = Self.stories(file)
    guard let first = stories.first else { return nil }
    if stories.count > 1, story == nil {
      throw file.failure(
        "it is an archive of \(stories.count) stories: publish one of them to a file of its own",
        at: stories[1].lowerBound)
    }
    var writer = TwinePageWriter(file)
    try writer.write(story.flatMap { stories.indices.contains($0) ? stories[$0] : nil } ?? first)
    memory = TweeMemory(writer.text)
    (passages, origins) = (writer.passages, writer.origins)
  }

  /// Returns the stories of a page or an archive, from their tags to their ends; none for another text.
  static func stories(_ file: TweeBytes) -> [Range<Int>] {
    var first = 0
    while first < file.count, TweeBytes.isSpace(file[first]) || [0xEF, 0xBB, 0xBF].contains(file[first]) {
      first += 1
    }
    guard file[first] == UInt8(ascii: "<") else { return [] }
    var stories: [Range<Int>] = []
    var index = first
    while let start = file.find("<tw-storydata", from: index, to: file.count) {
      let end = file.find("</tw-storydata>", from: start, to: file.count) ?? file.count
      // A format has an empty one.
      if file.find("<tw-passagedata", from: start, to: end) != nil { stories.append(start..<end) }
      index = end
    }
    if stories.isEmpty, let area = file.find("<div tiddler=", from: first, to: file.count) {
      stories.append(area..<file.count)
    }
    return stories
  }

  /// Whether a text is a page or an archive of Twine.
  static func isPage(_ text: UnsafeRawBufferPointer) -> Bool { !stories(TweeBytes(source: text)).isEmpty }
}

/// Writes the passages of a page as a text of the form of Twee.
private struct TwinePageWriter {
  private let file: TweeBytes
  private(set) var text: [UInt8] = []
  private(set) var passages: ContiguousArray<Range<Int>> = []
  private(set) var origins: StoryOrigins

  init(_ file: TweeBytes) {
    self.file = file
    origins = StoryOrigins(file.source)
  }

  mutating func write(_ story: Range<Int>) throws {
    if file.matches("<tw-storydata", at: story.lowerBound, to: story.upperBound) {
      try writeTwine2(story)
    } else {
      try writeTwine1(story)
    }
  }

  // MARK: - Twine 2

  private mutating func writeTwine2(_ story: Range<Int>) throws {
    guard let head = TwineTag(file, at: story.lowerBound, to: story.upperBound) else { return }
    var start: Range<Int>?
    let startNode = head["startnode"].map { file.raw($0) }
    let first = passages.count
    var index = head.end
    while let found = file.find(UInt8(ascii: "<"), from: index, to: story.upperBound) {
      index = found + 1
      if file.matches("<tw-passagedata", at: found, to: story.upperBound) {
        guard let tag = TwineTag(file, at: found, to: story.upperBound),
          let close = file.find("</tw-passagedata>", from: tag.end, to: story.upperBound)
        else { throw file.failure("the passage is not closed", at: found) }
        if let pid = tag["pid"], let startNode, file.raw(pid).elementsEqual(startNode) { start = tag["name"] }
        begin(tag, tags: tag["tags"])
        append(tag.end..<close, .entities)
        end()
        index = close
      } else if file.matches("<script", at: found, to: story.upperBound),
        let tag = TwineTag(file, at: found, to: story.upperBound)
      {
        let close = file.find("</script", from: tag.end, to: story.upperBound) ?? story.upperBound
        if !file.trimmed(tag.end..<close).isEmpty {
          beginSpecial("Story JavaScript [script]", at: found)
          append(tag.end..<close, .none)
          end()
        }
        index = close
      } else if file.matches("<style", at: found, to: story.upperBound) {
        index = file.find("</style", from: found, to: story.upperBound) ?? story.upperBound
      }
    }
    guard passages.count > first else { return }
    writeHead(head, start: start)
  }

  /// Writes the attributes of the story as its StoryTitle and StoryData.
  private mutating func writeHead(_ head: TwineTag, start: Range<Int>?) {
    if let name = head["name"], !name.isEmpty {
      beginSpecial("StoryTitle", at: name.lowerBound)
      append(name, .entities)
      end()
    }
    beginSpecial("StoryData", at: head.start)
    var separator = "{"
    for (key, value) in [
      ("ifid", head["ifid"]), ("format", head["format"]), ("format-version", head["format-version"]),
      ("start", start),
    ] {
      guard let value else { continue }
      text += "\(separator)\"\(key)\":\"".utf8
      append(value, .entitiesOfJSON)
      text.append(UInt8(ascii: "\""))
      separator = ","
    }
    text += separator == "{" ? "{}".utf8 : "}".utf8
    end()
  }

  // MARK: - Twine 1

  private mutating func writeTwine1(_ story: Range<Int>) throws {
    var index = story.lowerBound
    while let found = file.find("<div tiddler=", from: index, to: story.upperBound) {
      guard let tag = TwineTag(file, at: found, to: story.upperBound),
        let close = file.find("</div>", from: tag.end, to: story.upperBound)
      else { throw file.failure("the passage is not closed", at: found) }
      begin(tag, tags: tag["tags"])
      append(tag.end..<close, .tiddler)
      end()
      index = close
    }
  }

  // MARK: - Passages

  private mutating func begin(_ tag: TwineTag, tags: Range<Int>?) {
    origins.append(text: text.count, file: tag.start)
    passages.append(text.count..<text.count)
    text += ":: ".utf8
    if let name = tag["name"] ?? tag["tiddler"] { append(name, .entitiesOfHeader) }
    if let tags, !file.trimmed(tags).isEmpty {
      text += " [".utf8
      append(tags, .entitiesOfHeader)
      text.append(UInt8(ascii: "]"))
    }
    var separator = " {"
    for key: StaticString in ["position", "size"] {
      guard let value = tag[key] else { continue }
      text += "\(separator)\"\(key)\":\"".utf8
      append(value, .entitiesOfJSON)
      text.append(UInt8(ascii: "\""))
      separator = ","
    }
    if separator == "," { text.append(UInt8(ascii: "}")) }
    text.append(0x0A)
  }

  private mutating func beginSpecial(_ header: StaticString, at offset: Int) {
    origins.append(text: text.count, file: offset)
    passages.append(text.count..<text.count)
    text += ":: \(header)\n".utf8
  }

  private mutating func end() {
    let start = passages[passages.count - 1].lowerBound
    passages[passages.count - 1] = start..<text.count
    text.append(0x0A)
  }

  private enum Encoding { case none, entities, entitiesOfHeader, entitiesOfJSON, tiddler }

  /// Appends a range of the page without its entities, and notes where it is.
  private mutating func append(_ range: Range<Int>, _ encoding: Encoding) {
    origins.append(text: text.count, file: range.lowerBound)
    var copied = range.lowerBound
    var index = copied
    func copy(to end: Int) { text += file.raw(copied..<end) }
    while index < range.upperBound {
      let byte = file[index]
      var replacement: [UInt8]?
      var length = 1
      if byte == UInt8(ascii: "&"), encoding != .none,
        let found = TwineEntity(file, at: index, to: range.upperBound)
      {
        (replacement, length) = (found.bytes, found.length)
      } else if byte == UInt8(ascii: "\\"), encoding == .tiddler {
        switch file[index + 1] {
        case UInt8(ascii: "n"): (replacement, length) = ([0x0A], 2)
        case UInt8(ascii: "t"): (replacement, length) = ([0x09], 2)
        case UInt8(ascii: "s"): (replacement, length) = ([UInt8(ascii: "\\")], 2)
        default: break
        }
      } else if encoding == .entitiesOfHeader || encoding == .entitiesOfJSON {
        replacement = [byte]
      }
      guard var replacement else {
        index += 1
        continue
      }
      switch encoding {
      case .entitiesOfHeader: replacement = replacement.flatMap(Self.escapedInHeader)
      case .entitiesOfJSON: replacement = replacement.flatMap(Self.escapedInJSON)
      default: break
      }
      copy(to: index)
      text += replacement
      index += length
      copied = index
      if length > 1 || replacement.count > 1 { origins.append(text: text.count, file: index) }
    }
    copy(to: range.upperBound)
  }

  private static func escapedInHeader(_ byte: UInt8) -> [UInt8] {
    if byte == 0x0A || byte == 0x0D { return [0x20] }
    return "[]{}\\".utf8.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte]
  }

  private static func escapedInJSON(_ byte: UInt8) -> [UInt8] {
    if byte < 0x20 { return [0x20] }
    return byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
  }
}
