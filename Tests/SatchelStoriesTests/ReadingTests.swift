import SatchelJSON
import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelStories

private typealias Small = RulesStory

@Suite("Parsing a story's text") struct ReadingTests {
  /// Texts of every kind of value.
  static let values = [
    "\"x\"", "5", "-0.5", "5.0", "1e2", "true", "false", "null", "[]", "[\"x\"]", "{}", "{\"id\":[{}]}",
  ]

  private func isText(_ value: String) -> Bool { value.hasPrefix("\"") }
  private func isFlag(_ value: String) -> Bool { value == "true" || value == "false" }

  @Test(
    "Every type for every string of the story",
    arguments: [
      "id", "title", "author", "synopsis", "coverImageName", "ageRange", "originalSource", "culturalOrigin",
    ]) func texts(_ key: String) throws
  {
    for value in Self.values {
      let isOptional = key == "originalSource" || key == "culturalOrigin"
      let isRight = isText(value) || (isOptional && value == "null")
      let malformed = key == "ageRange" && isRight ? ["malformed-age-range /ageRange"] : []
      #expect(
        try Small.with(key, value).findings() == (isRight ? malformed : ["wrong-type /\(key)"]), "\(value)")
    }
  }

  @Test("Every type for the story's other fields") func others() throws {
    for value in Self.values {
      let minutes = try Small.with("estimatedReadingMinutes", value).findings()
      // Five minutes do not match four words.
      #expect(
        minutes == [
          value == "5" ? "reading-time /estimatedReadingMinutes" : "wrong-type /estimatedReadingMinutes"
        ])
      #expect(
        try Small.with("isPurchased", value).findings() == (isFlag(value) ? [] : ["wrong-type /isPurchased"]))
      #expect(try Small.with("tags", value).findings() == (value.hasPrefix("[") ? [] : ["wrong-type /tags"]))
      guard value != "[\"x\"]" else { continue }
      var story = RulesStory()
      story.segments = value
      #expect(try story.findings() == [value == "[]" ? "no-segments /segments" : "wrong-type /segments"])
    }
  }

  @Test("Every type for a tag, a segment and a choice") func elements() throws {
    for value in Self.values {
      let tags = try Small.with("tags", "[\"a\", \(value), \"b\"]").findings()
      #expect(tags == (isText(value) ? [] : ["wrong-type /tags/1"]), "\(value)")
      guard !value.hasPrefix("{") else { continue }
      let segments = try Small.of(Small.segment("a", to: "b"), value, Small.ending("b")).findings()
      #expect(segments == ["wrong-type /segments/1"], "\(value)")
      let choices = try Small.of(
        Small.segment("a", choices: [value, Small.choice("1", to: "b")]), Small.ending("b")
      ).findings()
      #expect(choices == ["wrong-type /segments/0/choices/0"], "\(value)")
    }
  }

  @Test("Every type for every field of a segment") func segmentFields() throws {
    for value in Self.values {
      func findings(_ key: String) throws -> [String] {
        let fields = [
          ("id", "\"b\""), ("text", "\"x\""), ("isAuthenticPath", "true"), ("choices", "[]"),
          ("isEnding", "true"),
        ]
        let members = fields.map { "\"\($0)\":\($0 == key ? value : $1)" }.joined(separator: ",")
        let choices = ["b", "x"].filter { $0 == "b" || key == "id" && isText(value) }.map {
          Small.choice($0, to: $0)
        }
        return try Small.of(Small.segment("a", choices: choices), Small.ending("x"), "{\(members)}")
          .findings()
          .filter { $0.hasSuffix("/\(key)") && $0.hasPrefix("wrong-type /segments/2") }
      }
      #expect(try findings("id").isEmpty == isText(value), "\(value)")
      #expect(try findings("text").isEmpty == isText(value), "\(value)")
      #expect(try findings("isAuthenticPath").isEmpty == isFlag(value), "\(value)")
      #expect(try findings("isEnding").isEmpty == (isFlag(value) || value == "null"), "\(value)")
      #expect(try findings("choices").isEmpty == value.hasPrefix("["), "\(value)")
    }
  }

  @Test("Every type for every field of a choice", arguments: ["id", "text", "nextSegmentId"])
  func choiceFields(_ key: String) throws {
    for value in Self.values {
      let fields = [("id", "\"1\""), ("text", "\"t\""), ("nextSegmentId", "\"x\"")]
      let members = fields.map { "\"\($0)\":\($0 == key ? value : $1)" }.joined(separator: ",")
      let findings = try Small.of(
        Small.segment("a", choices: ["{\(members)}", Small.choice("2", to: "x")]), Small.ending("x")
      ).findings()
      #expect(findings == (isText(value) ? [] : ["wrong-type /segments/0/choices/0/\(key)"]), "\(value)")
    }
  }

  @Test("Every required field, missing") func missing() throws {
    for (key, _) in RulesStory().header {
      #expect(try Small.with(key, nil).findings() == ["missing-field "])
      let finding = try #require(
        try StoryReport.check(Small.with(key, nil).json, source: .json).findings.first)
      #expect(finding.message == "the story has no \"\(key)\"")
    }
    var story = RulesStory()
    story.segments = nil
    #expect(try story.findings() == ["no-segments "])
    #expect(try StoryReport.check("{}".utf8, source: .json).findings.count == 10)
    let bare = Small.of(
      Small.segment("a", choices: ["{}", Small.choice("1", to: "b")]), Small.ending("b"), "{}")
    let report = try StoryReport.check(bare.json, source: .json).findings
    #expect(
      report.map(\.pointer) == Array(repeating: "/segments/0/choices/0", count: 3)
        + Array(repeating: "/segments/2", count: 4))
    #expect(report.allSatisfy { $0.code == .missingField })
    #expect(
      report.map(\.message) == [
        "choice 0 of segment \"a\" has no \"id\"", "choice 0 of segment \"a\" has no \"text\"",
        "choice 0 of segment \"a\" has no \"nextSegmentId\"", "segment 2 has no \"id\"",
        "segment 2 has no \"text\"",
        "segment 2 has no \"choices\"", "segment 2 has no \"isAuthenticPath\"",
      ])
  }

  static let refusals: [(String, [UInt8], line: Int, column: Int)] = {
    let sound = RulesStory().json
    let deep = String(repeating: "[", count: 520) + String(repeating: "]", count: 520)
    return [
      ("nothing", [], 1, 1), ("only space", Array(" \n ".utf8), 2, 2), ("a word", Array("story".utf8), 1, 1),
      ("an array", Array("\n [1, 2]".utf8), 2, 2), ("a text", Array("  \"x\"".utf8), 1, 3),
      ("a number", Array("\n\n5".utf8), 3, 1), ("null", Array("null".utf8), 1, 1),
      ("two marks", [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + sound, 1, 1),
      ("half of it", Array(sound.prefix(16)), 2, 6),
      ("trailing text", sound + Array("\n  x".utf8), 12, 3), ("two of them", sound + sound, 11, 80),
      ("bad UTF-8", Array("{\"id\":\"".utf8) + [0xFF] + Array("\"}".utf8), 1, 8),
      (
        "invalid UTF-8 in an ignored value",
        Array("{\n\"x\":[\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"]}".utf8), 2, 7
      ),
      ("a lone surrogate", Array("{\"id\":\"\\ud800\"}".utf8), 1, 8),
      ("a key twice", Array("{\"id\":\"a\",\n \"id\":\"b\"}".utf8), 2, 2),
      ("a key twice, once with an escape", Array("{\"\\u0069d\":\"a\",\n \"id\":\"b\"}".utf8), 2, 2),
      ("an unknown key twice", Array("{\"x\":1,\"y\":2,\"x\":3}".utf8), 1, 14),
      ("a key twice in a segment", Array("{\"segments\":[{\"text\":\"\",\"text\":\"\"}]}".utf8), 1, 25),
      ("a key twice in a choice", Array("{\"segments\":[{\"choices\":[{\"id\":1,\"id\":1}]}]}".utf8), 1, 34),
      ("a repeated key in an ignored value", Array("{\"x\":{\"a\":1,\"a\":1}}".utf8), 1, 13),
      ("a NUL in a key", Array("{\"\\u0000\":1}".utf8), 1, 2),
      ("too deep", Array("{\"x\":\(deep)}".utf8), 1, 517),
      ("too deep in a segment", Array("{\"segments\":[{\"x\":\(deep)}]}".utf8), 1, 528),
      ("a comma too many", Array("{\"id\":\"a\",}".utf8), 1, 11),
      ("a comma too few", Array("{\"tags\":[\"a\" \"b\"]}".utf8), 1, 14),
      ("a comma before the end of segments", Array("{\"segments\":[{},]}".utf8), 1, 17),
      ("no colon", Array("{\"id\" \"a\"}".utf8), 1, 7),
      ("a line break in a text", Array("{\"id\":\"a\nb\"}".utf8), 1, 9),
      ("an exponent beyond 64 bits", Array("{\"x\":1e9223372036854775808}".utf8), 1, 6),
      ("a leading zero", Array("{\"x\":012}".utf8), 1, 6),
    ]
  }()

  @Test("A text that is not a story is rejected with line and column", arguments: refusals)
  func refused(_ name: String, _ text: [UInt8], line: Int, column: Int) throws {
    let error = try #require(throws: SatchelError.self) { try StoryReport.check(text, source: .json) }
    #expect(error.code == .invalid)
    #expect(error.message.contains("line \(line), column \(column)"), "\(error.message)")
    let cause = try #require(error.underlying as? JSONError)
    #expect(cause.position?.line == line && cause.position?.column == column)
    #expect(throws: SatchelError.self) { try Story(text, source: .json) }
  }

  @Test("The maximum depth is accepted") func depth() throws {
    func text(_ levels: Int) -> [UInt8] {
      Array("{\"x\":\(String(repeating: "[", count: levels))\(String(repeating: "]", count: levels))}".utf8)
    }
    #expect(throws: Never.self) { try StoryReport.check(text(511), source: .json) }
    #expect(throws: SatchelError.self) { try StoryReport.check(text(512), source: .json) }
  }

  @Test("Keys in any order, with escapes, and unknown ones") func keys() throws {
    let text = """
      {"\\u0073egments":[{"choices":[],"isEnding":true,"isAuthenticPath":true,"\\u0074ext":"x","i\\u0064":"a",
      "x":{"id":1},"nextSegmentId":7,"title":9}],"isPurchased":true,"tags":[],"ageRange":"5+",
      "estimatedReadingMinutes":0,"coverImageName":"","synopsis":"s","author":"a","\\u0074itle":"t","id":"i","text":5,
      "choices":{},"":null}
      """
    let story = try Story(Array(text.utf8), source: .json)
    #expect(story.check().findings.isEmpty)
    #expect(story.header.title == "t" && story.header.isPurchased == true && story.start?.id == "a")
  }

  @Test("Values are read unchanged") func values() throws {
    var story = RulesStory.of(
      Small.segment(
        "a\\u00e9", choices: [Small.choice("1\\/", to: "b", text: "Go \\\"on\\\"\\ud83d\\udc09")]),
      Small.ending("b"))
    story["title"] = "\"Gr\\u00f6\\u00dfe\\n\""
    story["tags"] = "[\"\", \"\\u0061\", \"b\"]"
    story["originalSource"] = "null"
    let read = try Story(story.json, source: .json)
    #expect(read.header.title == "Größe\n" && read.header.tags == ["", "a", "b"])
    #expect(read.header.originalSource == nil && read.header.estimatedReadingMinutes == 1)
    let start = try #require(read.start)
    #expect(start.id == "aé" && !start.isEnding && start.isAuthenticPath)
    #expect(start.choices == [StorySegment.Choice(id: "1/", text: "Go \"on\"🐉", nextSegmentID: "b")])
    #expect(read.segment("aé") == start && read.segment("b")?.isEnding == true)
    #expect(
      read.segment("") == nil && read.segment("a") == nil && read.segment(at: 2) == nil
        && read.segment(at: -1) == nil)
    #expect(read.text == story.json && read.byteCount == story.json.count)
  }
}
