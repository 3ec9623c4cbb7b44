import SatchelCore
import SatchelStorage
import Testing

import SatchelStories
import SatchelTwee

@Suite("Passages of Twee") struct TweePassageTests {
  static let names: [(line: String, name: String)] = [
    (":: Cave", "Cave"), ("::Cave", "Cave"), ("::   The cave  \r", "The cave"),
    (":: Cave [dark deep]", "Cave"), (":: Cave {\"position\":\"1,2\"}", "Cave"),
    ("::Cave[dark]{\"position\":\"1,2\"}", "Cave"), (":: \\[Cave\\] \\{x\\}", "[Cave] {x}"),
    (":: a\\\\b", "a\\b"), (":: \\q\\", "q\\"), (":: x] }", "x] }"), (":: Höhle 洞", "Höhle 洞"), (":: ", ""),
    ("::: odd", ": odd"), (":: Cave [open", "Cave"),
  ]

  @Test("Names are parsed without escapes, tags and metadata", arguments: names)
  func read(_ example: (line: String, name: String)) throws {
    let story = try TweeFixture.story(reading: "\(example.line)\nText.")
    #expect(story.segmentCount == 1)
    #expect(story.start?.id == example.name)
    #expect(story.start?.text == "Text.")
  }

  @Test("A body ends before trailing blank lines, and \"::\" counts only at the start of a line")
  func bodies() throws {
    let story = try TweeFixture.story(reading: ":: Start\n\n  One :: two\n :: three\n\n \r\n\n:: B\n:: C\n\n")
    #expect(story.segmentCount == 3)
    #expect(story.segment("Start")?.text == "\n  One :: two\n :: three")
    #expect(story.segment("B")?.text == "")
    #expect(story.segment("C")?.text == "")
  }

  @Test("The story starts at the passage in StoryData, else at Start; the others keep their order")
  func start() throws {
    let passages = ":: A\n[[B]]\n\n:: Start\n[[A]]\n\n:: B\nEnd."
    func order(_ text: String) throws -> [String] {
      let story = try TweeFixture.story(reading: text)
      return (0..<story.segmentCount).compactMap { story.segment(at: $0)?.id }
    }
    #expect(try order(passages) == ["Start", "A", "B"])
    #expect(try order(passages + "\n\n:: StoryData\n{\"start\": \"B\"}") == ["B", "A", "Start"])
    #expect(try order(":: StoryData\n{\"start\": \"\\u0042\"}\n" + passages) == ["B", "A", "Start"])
  }

  @Test("A missing start is an error at its name")
  func missingStart() throws {
    let text = ":: StoryData\n{\n  \"start\": \"Cellar\"\n}\n\n:: Start\nDark."
    let finding = try #require(try TweeFixture.story(reading: text).check().findings.first)
    #expect(finding.code == .missingField)
    #expect(finding.severity == .error)
    #expect(finding.pointer == "")
    #expect((finding.position.line, finding.position.column) == (3, 13))
    #expect(finding.message == "StoryData names \"Cellar\" as the start, but no segment has this name")
    #expect(try TweeFixture.codes(":: Cave\nDark.") == ["missing-field"])
    #expect(try TweeFixture.codes(":: Start\nDark.") == [])
  }

  @Test("Special passages are not segments, and StoryTitle is the story's title")
  func special() throws {
    let story = try Story(TweeFixture.bytes("lighthouse.twee"))
    #expect(
      (0..<story.segmentCount).map { story.segment(at: $0)?.id } == [
        "Shore", "Attic", "Hall", "Lamp", "Sea", "Clock",
      ])
    #expect(story.header.title == "The Lighthouse Keeper")
    #expect(story.segment("Lamp")?.isAuthenticPath == true)
    #expect(story.check().findings == [])
    #expect(try TweeFixture.codes(":: StoryTitle\nNothing\n") == ["no-segments"])
  }

  @Test("A macro that displays a special passage is not a broken choice")
  func shownSpecial() throws {
    #expect(try TweeFixture.codes(":: Start\n<<include \"StoryCaption\">>\n:: StoryCaption\nHi.") == [])
  }

  @Test("Errors that compilers ignore are warnings at their position")
  func tolerated() throws {
    let text = "# Notes\n\n:: Start {oops}\nDay.\n\n:: StoryData\n{\"ifid\": }"
    let report = try TweeFixture.story(reading: text).check()
    #expect(report.isSound)
    #expect(report.findings.map(\.code) == [.wrongType, .wrongType, .wrongType])
    #expect(report.findings.map(\.position.line) == [1, 3, 7])
    #expect(report.findings.map(\.pointer) == ["", "/segments/0", ""])
    #expect(report.findings[1].message == "segment \"Start\" has metadata that is not JSON")
  }

  @Test("Findings have their line and column in the Twee text")
  func places() throws {
    let text =
      ":: Start\nGo [[on->Cav]] or [[Start]].\n\n:: Cave\n[[->Start]]\n\n:: Cave\n\n:: \\[x\\]\n[[Start]]"
    let findings = try TweeFixture.story(reading: text).check().findings
    let actual = findings.map {
      "\($0.code.rawValue) \($0.position.line):\($0.position.column) \($0.pointer)"
    }
    #expect(
      actual == [
        "broken-choice 2:10 /segments/0/choices/0/nextSegmentId",
        "self-choice 2:21 /segments/0/choices/1/nextSegmentId", "duplicate-segment 4:1 ",
        "empty-text 7:1 /segments/1/text", "unreachable 9:1 /segments/2",
      ])
    #expect(findings[0].suggestion == "Cave")
    #expect(findings[2].message == "the passage \"Cave\" is replaced by the one of this name at line 7")
    // What follows from the broken link is counted in it.
    #expect(
      findings[0].message.hasSuffix("which does not exist, with 1 segment that cannot be reached without it"))
  }

  @Test("A passage without a name has an invalid id")
  func nameless() throws {
    #expect(try TweeFixture.codes(":: Start\n[[x->]]\n\n::\nNowhere.") == ["invalid-id"])
  }

  static let refused: [(bytes: [UInt8], message: String)] = [
    ([], "not Twee: line 1, column 1: it has no passage"),
    (Array("Once upon a time\n :: x".utf8), "not Twee: line 1, column 1: it has no passage"),
    (Array(":: a\nb\u{0}c".utf8), "not Twee: line 2, column 2: a NUL"),
    (Array(":: a\n\nxy".utf8) + [0xFF], "not Twee: line 3, column 3: invalid UTF-8"),
    (Array(":: a\n".utf8) + [0xED, 0xA0, 0x80], "not Twee: line 2, column 1: invalid UTF-8"),
    (Array(":: a\n".utf8) + [0xC3], "not Twee: line 2, column 1: invalid UTF-8"),
  ]

  @Test("A text that is not Twee is rejected with the position", arguments: refused)
  func refuse(_ example: (bytes: [UInt8], message: String)) throws {
    let error = #expect(throws: SatchelError.self) { try Story(example.bytes, source: .twee) }
    #expect(error?.code == .invalid)
    #expect(error?.message == example.message)
  }
}
