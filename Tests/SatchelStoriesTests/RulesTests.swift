import SatchelStories
import Testing

private typealias Small = RulesStory

@Suite("Each rule, with passing and failing stories") struct RulesTests {
  struct Example: Sendable, CustomStringConvertible {
    var description: String
    var story: @Sendable () -> RulesStory
    var findings: [String]

    init(
      _ description: String, _ findings: String..., story: @autoclosure @escaping @Sendable () -> RulesStory
    ) {
      (self.description, self.story, self.findings) = (description, story, findings)
    }
  }

  @Test("Whole stories", arguments: wholeExamples) func whole(_ example: Example) throws {
    #expect(try example.story().findings() == example.findings)
  }

  static let wholeExamples: [Example] = [
    Example("sound", story: RulesStory()),
    Example("no segments", "no-segments /segments", story: Small.of()),
    Example(
      "no authentic path", "no-authentic-path /segments",
      story: Small.of(
        Small.segment("a", isAuthentic: false, choices: [], more: ",\"isEnding\":true"))),
    Example("one segment", story: Small.of(Small.ending("a"))),
    Example(
      "no ending", "no-ending /segments",
      "self-choice /segments/0/choices/0/nextSegmentId", story: Small.of(Small.segment("a", to: "a"))),
    Example(
      "authentic, but not from the start", "authentic-path-broken /segments/0",
      story: Small.of(
        Small.segment("a", isAuthentic: false, choices: [Small.choice("1", to: "b")]), Small.ending("b"))),
    Example(
      "authentic, but not to an ending", "authentic-path-broken /segments/1",
      story: Small.of(
        Small.segment("a", to: "b"), Small.segment("b", to: "c"),
        Small.segment("c", isAuthentic: false, choices: [], more: ",\"isEnding\":true"))),
    Example(
      "authentic to an ending with choices", "ending-with-choices /segments/0",
      story: Small.of(
        Small.segment("a", to: "b", more: ",\"isEnding\":true"),
        Small.segment("b", isAuthentic: false, choices: [], more: ",\"isEnding\":true"))),
    Example(
      "authentic round a loop",
      story: Small.of(
        Small.segment("a", to: "b"), Small.segment("b", to: "a", "c"), Small.ending("c"))),
  ]

  @Test("Paths", arguments: pathsExamples) func paths(_ example: Example) throws {
    #expect(try example.story().findings() == example.findings)
  }

  static let pathsExamples: [Example] = [
    Example(
      "broken choice", "broken-choice /segments/0/choices/1/nextSegmentId",
      story: Small.of(
        Small.segment("a", to: "b", "zz"), Small.ending("b"))),
    Example(
      "an id of other case is another id", "broken-choice /segments/0/choices/1/nextSegmentId",
      story: Small.of(
        Small.segment("a", to: "b", "B"), Small.ending("b"))),
    Example(
      "ids are compared by bytes, not by appearance",
      "broken-choice /segments/0/choices/1/nextSegmentId",
      story: Small.of(
        Small.segment("a", to: "\u{E9}", "e\u{301}"), Small.ending("\u{E9}"))),
    Example(
      "an escaped id is the same id",
      story: Small.of(
        Small.segment("a", to: "\\u0062"), Small.ending("b"))),
    Example(
      "an id with an escape",
      story: Small.of(
        Small.segment("a", to: "b\\/"), Small.ending("\\u0062/"))),
    Example(
      "unreachable", "unreachable /segments/2",
      story: Small.of(
        Small.segment("a", to: "b"), Small.ending("b"), Small.ending("c"))),
    Example(
      "only leading to each other", "unreachable /segments/2", "unreachable /segments/3",
      story: Small.of(
        Small.segment("a", to: "b"), Small.ending("b"), Small.segment("c", to: "d"),
        Small.segment("d", to: "c"))),
    Example(
      "only reached through what is unreachable", "unreachable /segments/2",
      story: Small.of(
        Small.segment("a", to: "b"), Small.ending("b"), Small.segment("c", to: "d"), Small.ending("d"))),
    Example(
      "a trap", "trap /segments/2", "self-choice /segments/2/choices/0/nextSegmentId",
      story: Small.of(
        Small.segment("a", to: "b", "t"), Small.ending("b"), Small.segment("t", to: "t"))),
    Example(
      "a dead end whose only choice is broken", "broken-choice /segments/2/choices/0/nextSegmentId",
      story: Small.of(
        Small.segment("a", to: "b", "t"), Small.ending("b"), Small.segment("t", to: "nowhere"))),
    Example(
      "self choice, with another choice", "self-choice /segments/0/choices/0/nextSegmentId",
      story: Small.of(
        Small.segment("a", to: "a", "b"), Small.ending("b"))),
    Example(
      "unmarked ending", "unmarked-ending /segments/1",
      story: Small.of(
        Small.segment("a", to: "b"), Small.segment("b", choices: []))),
    Example(
      "an ending that is marked as none", "unmarked-ending /segments/1",
      story: Small.of(
        Small.segment("a", to: "b"), Small.segment("b", choices: [], more: ",\"isEnding\":false"))),
    Example(
      "an ending that is marked as null", "unmarked-ending /segments/1",
      story: Small.of(
        Small.segment("a", to: "b"), Small.segment("b", choices: [], more: ",\"isEnding\":null"))),
    Example(
      "no ending, and marked so",
      story: Small.of(
        Small.segment("a", to: "b", more: ",\"isEnding\":false"), Small.ending("b"))),
    Example(
      "ending with choices", "ending-with-choices /segments/1",
      story: Small.of(
        Small.segment("a", to: "b"), Small.segment("b", to: "c", more: ",\"isEnding\":true"),
        Small.ending("c"))),
  ]

  @Test("Ids and strings", arguments: namesExamples) func names(_ example: Example) throws {
    #expect(try example.story().findings() == example.findings)
  }

  static let namesExamples: [Example] = [
    Example(
      "duplicate segment", "duplicate-segment /segments/2/id",
      story: Small.of(
        Small.segment("a", to: "b"), Small.ending("b"), Small.ending("b"))),
    Example(
      "three of one id", "duplicate-segment /segments/2/id", "duplicate-segment /segments/3/id",
      story: Small.of(
        Small.segment("a", to: "b"), Small.ending("b"), Small.ending("\\u0062"), Small.ending("b"))),
    Example(
      "duplicate choice in one segment", "duplicate-choice /segments/0/choices/1/id",
      story: Small.of(
        Small.segment(
          "a", choices: [Small.choice("1", to: "b", text: "x"), Small.choice("1", to: "b", text: "y")]),
        Small.ending("b"))),
    Example(
      "duplicate choice in two segments", "duplicate-choice /segments/1/choices/0/id",
      story: Small.of(
        Small.segment("a", choices: [Small.choice("1", to: "b")]),
        Small.segment("b", choices: [Small.choice("1", to: "c")]), Small.ending("c"))),
    Example(
      "a choice may be called as a segment is",
      story: Small.of(
        Small.segment("a", choices: [Small.choice("b", to: "b")]), Small.ending("b"))),
    Example(
      "two choices with one text", "duplicate-choice-text /segments/0/choices/1/text",
      story: Small.of(
        Small.segment(
          "a", choices: [Small.choice("1", to: "b", text: "x"), Small.choice("2", to: "b", text: "\\u0078")]),
        Small.ending("b"))),
    Example(
      "one text in two segments",
      story: Small.of(
        Small.segment("a", choices: [Small.choice("1", to: "b", text: "x")]),
        Small.segment("b", choices: [Small.choice("2", to: "c", text: "x")]), Small.ending("c"))),
    Example(
      "one text twice among many", "duplicate-choice-text /segments/0/choices/11/text",
      story: Small.of(
        Small.segment(
          "a", choices: (0..<12).map { Small.choice("\($0)", to: "b", text: $0 == 11 ? "t3" : "t\($0)") }),
        Small.ending("b"))),
    Example(
      "empty id of a segment", "invalid-id /segments/1/id",
      story: Small.of(
        Small.segment("a", to: ""), Small.ending(""))),
    Example(
      "empty id of a choice", "invalid-id /segments/0/choices/0/id",
      story: Small.of(
        Small.segment("a", choices: [Small.choice("", to: "b")]), Small.ending("b"))),
    Example(
      "no words in a segment", "empty-text /segments/0/text",
      story: Small.of(
        "{\"id\":\"a\",\"text\":\" \\n\\u00a0\",\"isAuthenticPath\":true,\"isEnding\":true,\"choices\":[]}")),
    Example(
      "no words in a choice", "empty-text /segments/0/choices/0/text",
      story: Small.of(
        Small.segment("a", choices: [Small.choice("1", to: "b", text: "")]), Small.ending("b"))),
  ]

  static let ages: [(String, Bool)] = [
    ("5-8", true), ("0-0", true), ("12+", true), ("0+", true), ("3-120", true), ("5-5", true), ("8-5", false),
    ("5-121", false), ("", false), ("+", false), ("-", false), ("5", false), ("5-", false), ("-8", false),
    ("5 - 8", false), (" 5-8", false), ("5–8", false), ("5-8+", false), ("5--8", false), ("1000+", false),
    ("five+", false), ("٥-٨", false), ("5-8-9", false), ("12\u{600}+", false), ("5-\u{301}8", false),
    ("+5-8", false),
  ]

  @Test("Age ranges", arguments: ages) func age(_ text: String, _ isWellFormed: Bool) throws {
    let findings = try Small.with("ageRange", "\"\(text)\"").findings()
    #expect(findings == (isWellFormed ? [] : ["malformed-age-range /ageRange"]))
    #expect((AgeRange(text) != nil) == isWellFormed)
  }

  static let ids: [(String, Bool)] = [
    ("t", true), ("frau-holle", true), ("a.b", true), ("Größe 1", true),
    (String(repeating: "x", count: 200), true),
    ("", false), (".", false), ("..", false), (".hidden", false), ("../x", false), ("/etc", false),
    ("a/b", false),
    ("a\\\\b", false), ("a\\u0000b", false), ("a\\nb", false), ("a\\u007f", false), ("\\u002e", false),
    (String(repeating: "x", count: 201), false), (String(repeating: "é", count: 101), false),
  ]

  @Test("Ids of stories are names", arguments: ids) func id(_ text: String, _ isName: Bool) throws {
    #expect(try Small.with("id", "\"\(text)\"").findings() == (isName ? [] : ["invalid-id /id"]))
  }

  static let minutes: [(Int64, Bool)] = [
    // 900 words take 3 minutes at 300 a minute, and 9 at 100: from -0.5 to 20.
    (0, true), (1, true), (20, true), (21, false), (-1, false), (.max, false), (.min, false),
  ]

  @Test("Reading times", arguments: minutes) func readingTime(_ minutes: Int64, _ isNear: Bool) throws {
    var story = Small.with("estimatedReadingMinutes", String(minutes))
    let text = String(repeating: "word ", count: 900)
    story.segments =
      "[{\"id\":\"a\",\"text\":\"\(text)\",\"isAuthenticPath\":true,\"isEnding\":true,\"choices\":[]}]"
    #expect(try story.findings() == (isNear ? [] : ["reading-time /estimatedReadingMinutes"]))
  }

  @Test("A long story with a short estimate has a finding") func tooShort() throws {
    var story = Small.with("estimatedReadingMinutes", "2")
    let text = String(repeating: "word ", count: 3_000)
    story.segments =
      "[{\"id\":\"a\",\"text\":\"\(text)\",\"isAuthenticPath\":true,\"isEnding\":true,\"choices\":[]}]"
    #expect(try story.findings() == ["reading-time /estimatedReadingMinutes"])
    story["estimatedReadingMinutes"] = "3"
    #expect(try story.findings().isEmpty)
  }

  @Test("The strings of the header need words; an image name does not") func headerTexts() throws {
    for key in ["title", "author", "synopsis"] {
      #expect(try Small.with(key, "\" \\t\"").findings() == ["empty-text /\(key)"])
    }
    #expect(try Small.with("coverImageName", "\"\"").findings().isEmpty)
    #expect(try Small.with("originalSource", "\"\"").findings().isEmpty)
  }
}
