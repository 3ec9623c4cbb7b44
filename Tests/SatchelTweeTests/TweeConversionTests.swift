import SatchelJSON
import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelStories
@testable import SatchelTwee

@Suite("Conversion of Twee to the library's format") struct TweeConversionTests {
  /// The codes for fields that Twee does not have, which do not concern the paths through the story.
  static let expected: Set<StoryFinding.Code> = [.emptyText, .malformedAgeRange, .readingTime]

  /// The codes for choices of displayed passages, which are choices of the segments that display them: a menu
  /// may lead back to its segment, and repeat its texts.
  static func expected(of story: Story) -> Set<StoryFinding.Code> {
    story.analysis.table.includedChoices > 0 ? expected.union([.selfChoice, .duplicateChoiceText]) : expected
  }

  static func json(_ text: String, id: String? = nil) throws -> JSONValue {
    try Twee.story([UInt8](text.utf8), id: id)
  }

  static func segment(_ body: String, _ format: String? = nil) throws -> JSONValue? {
    try json(TweeFixture.story(body, format: format))["segments"]?.arrayValue?.first
  }

  @Test("A converted story has no finding that the Twee text did not have", arguments: TweeFixture.files)
  func round(_ file: String) throws {
    let bytes = try TweeFixture.bytes(file)
    let twee = try Story(bytes, source: .twee)
    let json = try Story(Twee.story(bytes).serialized())
    let known = Set(twee.check().findings.map(\.code))
    let added = Set(json.check().findings.map(\.code)).subtracting(known)
    #expect(added.subtracting(Self.expected(of: twee)) == [])
    #expect(json.segmentCount == twee.analysis.table.partsStart)
    #expect(json.pathCount == twee.pathCount)
    for index in 0..<json.segmentCount {
      #expect(json.segment(at: index)?.id == twee.segment(at: index)?.id)
      #expect(
        json.segment(at: index)?.choices.map(\.nextSegmentID)
          == twee.segment(at: index)?.choices.map(\.nextSegmentID))
    }
  }

  @Test("Every key of the format is written, and additional Twee data is kept")
  func whole() throws {
    let story = try Twee.story(TweeFixture.bytes("lighthouse.twee"))
    #expect(
      story.objectValue?.keys == [
        "id", "title", "author", "originalSource", "culturalOrigin", "synopsis", "coverImageName",
        "estimatedReadingMinutes", "ageRange", "tags", "isPurchased", "segments", "twine", "twinePassages",
      ])
    #expect(story["id"] == "the-lighthouse-keeper")
    #expect(story["title"] == "The Lighthouse Keeper")
    #expect(story["estimatedReadingMinutes"] == 1)
    #expect(story["twine"]?["format"] == "SugarCube")
    #expect(
      story["twinePassages"]?.arrayValue?.compactMap { $0["id"]?.stringValue } == [
        "Clock", "StoryInit", "StoryCaption", "Styles",
      ])
    let segments = story["segments"]?.arrayValue ?? []
    #expect(
      segments.first
        == [
          "id": "Shore",
          "text":
            "Waves. The door of the lighthouse stands open, and <<if $lamp>>light<<else>>dark<</if>> lies behind it.",
          "choices": [
            ["id": "Shore-1", "text": "Go in", "nextSegmentId": "Hall"],
            ["id": "Shore-2", "text": "Row away", "nextSegmentId": "Sea"],
          ],
          "isAuthenticPath": true, "isEnding": false, "twineTags": ["outdoors", "authentic"],
          "position": "100,100", "size": "100,100",
        ])
    #expect(segments.last?["isEnding"] == true)
    #expect(segments.last?["isAuthenticPath"] == false)
    #expect(segments.last?["text"] == "The boat drifts. [[See the chart|https://example.org/chart]]")
  }

  static let texts: [(body: String, text: String)] = [
    ("Fork.\n\n[[Cave]]\n[[Hill]]", "Fork."), ("Fork.\n* [[Cave]]\n- [[up->Hill]]\n", "Fork."),
    ("Go [[in->Cave]] now.", "Go in now."), ("[[Cave]] is dark.\n[[Hill]]", "Cave is dark."),
    ("[[Cave]]\nor not\n[[Hill]] | [[Cave]]", "Cave\nor not"), ("[[Cave]]", ""),
    ("Dark.\n<<goto \"Cave\">>", "Dark.\n<<goto \"Cave\">>"), ("A\n\n[[Cave]]\n\nB", "A\n\nCave\n\nB"),
    ("Dark. /* [[Cave]] */\n[[Hill]]", "Dark. /* [[Cave]] */"), ("Dark.\r\n\r\n[[Hill]]\r\n", "Dark."),
    ("[[a|$5][$x to 1]]!", "a!"),
  ]

  @Test("Trailing links are omitted from the text, others are replaced by their texts", arguments: texts)
  func convertText(_ example: (body: String, text: String)) throws {
    #expect(try Self.segment(example.body)?["text"]?.stringValue == example.text)
  }

  @Test("Without a tag the shortest path to an ending is the authentic one")
  func shortest() throws {
    let story = try Self.json(":: Start\n[[A]] [[B]]\n\n:: A\n[[C]]\n\n:: B\nEnd.\n\n:: C\nEnd.")
    let authentic = (story["segments"]?.arrayValue ?? []).filter { $0["isAuthenticPath"] == true }
    #expect(authentic.compactMap { $0["id"]?.stringValue } == ["Start", "B"])
  }

  @Test("Of passages with the same name the last one is converted")
  func duplicates() throws {
    let text = ":: Start\n[[A]]\n\n:: A\n[[C]]\n\n:: A\n[[B]]\n\n:: B\nEnd."
    let story = try Self.json(text)
    let codes = try StoryReport.check(story.serialized()).findings.map(\.code)
    #expect(Set(codes).subtracting(Self.expected) == [])
    #expect(story["segments"]?.arrayValue?.compactMap { $0["id"]?.stringValue } == ["Start", "A", "B"])
  }

  @Test("A choice has the same id in Twee and in the converted story")
  func choiceIDs() throws {
    let story = try TweeFixture.story(reading: ":: Start\n[[A]] [[B]]\n:: A\n[[B]]\n:: B\nEnd.")
    // The table references the story's bytes.
    let ids = withExtendedLifetime(story) {
      [(0, 0), (1, 0), (2, 1)].map { story.analysis.table.choiceID($0.0, of: $0.1) }
    }
    #expect(ids == ["Start-1", "Start-2", "A-1"])
  }

  static let ids: [(title: String, id: String)] = [
    ("Frau Holle", "frau-holle"), ("  ..A/B\\c..  ", "a-b-c"), ("Höhle 3: नमस्ते", "höhle-3-नमस्ते"), ("", "story"),
    ("!?", "story"), (String(repeating: "ä", count: 150), String(repeating: "ä", count: 100)),
  ]

  @Test("The id is derived from the title", arguments: ids)
  func nameStory(_ example: (title: String, id: String)) throws {
    let story = try Self.json(":: StoryTitle\n\(example.title)\n\n:: Start\nEnd.")
    #expect(story["id"]?.stringValue == example.id)
    #expect(StoryID.isName(example.id))
  }

  @Test("A given id is used when it is valid")
  func givenID() throws {
    #expect(try Self.json(":: Start\nEnd.", id: "cave")["id"] == "cave")
    #expect(throws: SatchelError.self) { try Self.json(":: Start\nEnd.", id: "../cave") }
  }
}
