import SatchelCore
import SatchelJSON
import Testing

@testable import SatchelStories
@testable import SatchelTwee

@Suite("Passages that are displayed or named by others") struct TweeIncludeTests {
  /// A story in a format, without findings on its start.
  static func report(_ format: String, _ passages: String) throws -> [String] {
    let data = ":: StoryData\n{\"ifid\": \"1\", \"format\": \"\(format)\"}\n\n"
    return try TweeFixture.story(reading: data + passages).check().findings.map {
      "\($0.severity.rawValue) \($0.code.rawValue) \($0.pointer)"
    }
  }

  static let includes: [(format: String, macro: String)] = [
    ("SugarCube", "<<include \"Well\">>"), ("SugarCube", "<<display Well>>"),
    ("SugarCube", "<<include [[Well]]>>"),
    ("Harlowe", "(display: \"Well\")"), ("Chapbook", "{embed passage: 'Well'}"),
    ("Chapbook", "{reveal link: 'look', passage: 'Well'}"), ("Snowman", "<%= story.render(\"Well\") %>"),
  ]

  @Test(
    "A displayed passage is a part of the segment, with its choices, and is not a choice", arguments: includes
  )
  func displayed(_ example: (format: String, macro: String)) throws {
    let data = ":: StoryData\n{\"ifid\": \"1\", \"format\": \"\(example.format)\"}\n\n"
    let text =
      data + ":: Start\n[[a->End]]\n\(example.macro)\n[[b->End]]\n\n:: Well\n[[c->End]]\n\n:: End\nOver."
    let story = try TweeFixture.story(reading: text)
    #expect(story.start?.choices.map(\.text) == ["a", "c", "b"])
    #expect(story.start?.choices.map(\.nextSegmentID) == ["End", "End", "End"])
    #expect(story.segment("Well")?.choices.map(\.text) == ["c"])
    #expect(story.segment("Well")?.isEnding == false)
    #expect(story.check().findings.map(\.code) == [])
    #expect((story.statistics.choices, story.statistics.endings, story.pathCount.saturated) == (3, 1, 3))
    #expect((story.statistics.shortestPath, story.statistics.longestPath) == (2, 2))
    let converted = try Story(Twee.story(story.text).serialized())
    #expect(converted.segment("Start")?.choices.map(\.text) == ["a", "c", "b"])
    #expect(converted.pathCount.saturated == 3)
    #expect(converted.segment("Well") == nil)
  }

  @Test(
    "A displayed passage without choices is not an ending, and one that a choice leads to stays a segment")
  func parts() throws {
    #expect(
      try Self.report("SugarCube", ":: Start\n<<include Note>>[[Start]]\n\n:: Note\nNear.") == [
        "error no-ending /segments", "warning self-choice /segments/0/choices/0/nextSegmentId",
      ])
    #expect(try Self.report("SugarCube", ":: Start\n<<include Note>>[[Note]]\n\n:: Note\nNear.") == [])
  }

  @Test("Passages that display each other end, and a missing one is an error where it is displayed")
  func cycles() throws {
    let text =
      ":: Start\n<<include A>>\n\n:: A\n<<include B>>[[x->End]]\n\n:: B\n<<include A>><<include Gone>>\n\n:: End\nOver."
    #expect(try Self.report("SugarCube", text) == ["error broken-choice /twinePassages/1"])
    let story = try TweeFixture.story(reading: text)
    #expect(story.check().findings.first?.message == "segment \"B\" displays \"Gone\", which does not exist")
  }

  @Test("Copies of choices are limited, and further ones are a jump")
  func limit() throws {
    var text =
      ":: StoryData\n{\"format\": \"SugarCube\"}\n\n:: Start\n" + (0..<400).map { "[[s\($0)]]" }.joined()
    for index in 0..<400 { text += "\n\n:: s\(index)\n<<include Menu>>" }
    text += "\n\n:: Menu\n" + (0..<400).map { "[[m\($0)->End]]" }.joined() + "\n\n:: End\nOver."
    let story = try TweeFixture.story(reading: text)
    #expect(story.analysis.table.includedChoices < 100_000)
    #expect(story.statistics.choices == 800)
    let codes = Set(story.check().findings.map(\.code))
    #expect(codes == [.dynamicJump])
  }

  static let mentions: [(format: String, code: String)] = [
    ("SugarCube", "<<travel \"Cave\">>"), ("SugarCube", "<<travel Cave>>"),
    ("SugarCube", "<<set $next to 'Cave'>>"),
    ("SugarCube", "<div data-target=\"Cave\">in</div>"),
    ("SugarCube", "<div onclick=\"go('Cave')\">in</div>"),
    ("SugarCube", "<<script>>setup.go(['Cave']);<</script>>"),
    ("SugarCube", "<<link \"in\" `\"Cave\"`>><</link>>"),
    ("Harlowe", "(set: $next to \"Cave\")"), ("Harlowe", "(travel: (a: 'Hill', 'Cave'))"),
    ("Chapbook", "next: 'Cave'\n--\nText."), ("Chapbook", "{map to: 'Cave'}"),
    ("Snowman", "<% s.next = 'Cave'; %>"),
  ]

  @Test("A passage that code names in quotes is at most a warning", arguments: mentions)
  func named(_ example: (format: String, code: String)) throws {
    let passages = ":: Start\n\(example.code)\n\n:: Cave\n[[Hill]]\n\n:: Hill\nHigh.\n\n:: Moor\nWet."
    let found = try Self.report(example.format, passages)
    #expect(!found.contains { $0.hasPrefix("error unreachable") && !$0.hasSuffix("/segments/3") })
    #expect(found.contains { $0.hasSuffix(" unreachable /segments/1") && $0.hasPrefix("warning") })
    // What only it leads to is counted in it.
    #expect(!found.contains { $0.hasSuffix(" unreachable /segments/2") })
  }

  @Test("The second argument of renderToSelector is the displayed passage")
  func selector() throws {
    let text =
      ":: Start\n<script>renderToSelector(\"#hud\", \"HUD\");</script>[[End]]\n\n:: HUD\n[[Map]]\n\n"
      + ":: Map\nHere.\n\n:: End\nOver."
    #expect(try Self.report("Snowman", text) == [] && TweeFixture.codes(text) == [])
  }

  @Test("Without a format, a name in quotes may be in code")
  func unknownFormat() throws {
    let passages = ":: Start\n[JavaScript]\ngo('Cave');\n\n:: Cave\nDark.\n\n:: Hill\nHigh."
    #expect(
      try TweeFixture.story(reading: passages).check().findings.filter { $0.code == .unreachable }.map {
        "\($0.severity.rawValue) \($0.pointer)"
      } == ["warning /segments/1", "error /segments/2"])
  }

  @Test("A passage that only a condition names is still an error")
  func asked() throws {
    for (format, code) in [
      ("SugarCube", "<<if visited('Cave')>>x<</if>>"), ("Harlowe", "(if: (history:) contains 'Cave')[x]"),
    ] {
      #expect(
        try Self.report(format, ":: Start\n\(code)\n\n:: Cave\nDark.") == ["error unreachable /segments/1"])
    }
  }

  @Test("A loop with code that may lead out of it is not a trap")
  func loop() throws {
    let passages = ":: Start\n[[A]]\n\n:: A\n[[A]] <<travel \"End\">>\n\n:: End\nOver."
    #expect(try Self.report("SugarCube", passages).filter { $0.hasPrefix("error") } == [])
  }

  @Test("Harlowe's tags count without StoryData, and a tagged passage that a link leads to is a segment")
  func tags() throws {
    let text =
      ":: Start\n[[Bag]]\n\n:: Setup [startup]\n(set: $a to 1)\n\n:: Foot [footer]\nx\n\n:: Bag [header]\nOver."
    #expect(try TweeFixture.codes(text) == [])
    #expect(try TweeFixture.story(reading: text).segmentCount == 2)
  }

  @Test("A passage that leads only back to the start is where a game ends")
  func again() throws {
    #expect(try Self.report("Harlowe", ":: Start\n[[On]]\n\n:: On\nOver. [[Play again->Start]]") == [])
    // Also back to what comes first after the title.
    let again = "[[Again->One]] [[Title->Start]]"
    #expect(
      try Self.report(
        "Harlowe", ":: Start\n[[One]]\n\n:: One\n[[a->C]] [[b->B]]\n\n:: B\n[[C]]\n\n:: C\n\(again)") == [])
    #expect(
      try Self.report("Harlowe", ":: Start\n[[On]]\n\n:: On\n[[B]]\n\n:: B\n[[On]]") == [
        "error no-ending /segments"
      ])
  }

  @Test("Files with one StoryData are one story, and findings name their file")
  func files() throws {
    func file(_ name: String, _ text: String) -> (name: String, text: [UInt8]) { (name, Array(text.utf8)) }
    let files = [
      file("a/start.twee", "\u{FEFF}:: Start\n[[In->Cave]]\n[[Up->Hil]]"),
      file("code.js", "Engine.play(x);\n:: no passage"),
      file("data.tw", ":: StoryData\n{\"ifid\": \"1\", \"format\": \"SugarCube\"}\n"),
      file("end.twee", "\n:: Cave\nÜ [[->Start]]\n"),
    ]
    let story = try Story(TweeGame(files))
    let found = story.check().findings.map {
      "\($0.file ?? "?") \($0.position.line):\($0.position.column) \($0.code.rawValue)"
    }
    #expect(
      found == [
        "a/start.twee 1:1 byte-order-mark", "a/start.twee 3:7 broken-choice", "end.twee 3:4 empty-text",
      ])
    #expect(story.check().text(name: "game").hasPrefix("game/a/start.twee:1:1: warning: "))
    #expect(throws: SatchelError.self) { try TweeGame([files[1]]) }
    #expect(throws: SatchelError.self) { try TweeGame(files + [files[2]]) }
  }
}
