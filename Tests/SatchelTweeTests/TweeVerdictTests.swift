import Foundation
import SatchelJSON
import SatchelStories
import SatchelTesting
import Testing

@testable import SatchelTwee

@Suite("A converted game has the errors of the game") struct TweeVerdictTests {
  /// Those of its passages: the start that a game names has no field in the result.
  private static func errors(_ story: Story) -> [String] {
    story.check().findings.filter { $0.severity == .error && $0.code != .missingField }.map(\.code.rawValue)
      .sorted()
  }

  private static let bodies: [(format: String, pieces: [String])] = [
    (
      "SugarCube",
      [
        "[[%]]", "[[go|%]]", "[[go|$x]]", "<<goto \"%\">>", "<<link \"Follow\" $goal>><</link>>", "<<back>>",
        "<<if $a>>[[%]]<</if>>", "<<set $t to \"%\">>", "<<print \"[[p|%]]\">>",
        "<a data-passage=\"%\">x</a>",
        "<<link \"l\">><<goto '%'>><</link>>", "<<foreign \"%\">>", "Text.", "[[%][$a to 1]]",
      ]
    ),
    (
      "Harlowe",
      [
        "[[%]]", "[[go->%]]", "(go-to: \"%\")", "(link: \"l\")[(goto: '%')]", "(goto: $x)", "(undo:)",
        "(if: $a)[ [[%]] ]", "(set: $t to \"%\")", "(link-goto: \"l\", \"%\")", "Text.", "(print: \"[[%]]\")",
      ]
    ),
    (
      "Chapbook",
      [
        "[[%]]", "[[go->%]]", "{link to: '%', label: 'l'}", "{back link}", "[if a]\n[[%]]\n[continue]",
        "{map to: '%'}", "Text.", "{link to: where}",
      ]
    ),
    (
      "Snowman",
      [
        "[[%]]", "[[go|%]]", "<% story.show(\"%\") %>", "<%= window.setup.x() %>",
        "<a data-passage=\"%\">x</a>",
        "<% if (a) { %>[[%]]<% } %>", "<% s.t = '%'; %>", "Text.", "<% history.back() %>",
      ]
    ),
  ]

  private static func game(_ random: inout SeededRandom) -> String {
    let (format, pieces) = bodies[random.below(bodies.count)]
    let count = 1 + random.below(9)
    func name() -> String {
      random.once(in: 12) ? "gone \(random.below(3))" : "passage \(random.below(count))"
    }
    func body() -> String {
      (0..<random.below(4)).map { _ in pieces[random.below(pieces.count)].replacing("%", with: name()) }
        .joined(separator: "\n")
    }
    var twee = ":: StoryData\n{\"format\": \"\(format)\", \"start\": \"passage 0\"}\n\n"
    for index in 0..<count { twee += ":: passage \(index)\n\(body())\n\n" }
    if random.once(in: 5) { twee += ":: passage \(random.below(count))\n\(body())\n\n" }
    if format == "SugarCube", random.once(in: 5) { twee += ":: StoryMenu\n\(body())\n\n" }
    if random.once(in: 8) { twee += ":: Code [script]\nEngine.play(x); call('\(name())');\n" }
    return twee
  }

  @Test("Random games") func random() throws {
    var random = SeededRandom(seed: 0x0E44_0E44)
    var kinds: Set<String> = []
    for _ in 0..<6_000 {
      let twee = Self.game(&random)
      let errors = Self.errors(try Story(Array(twee.utf8)))
      let converted = Self.errors(try Story(Twee.story(Array(twee.utf8)).serialized()))
      #expect(converted == errors, "\(twee)")
      kinds.insert(errors.joined(separator: " "))
    }
    #expect(kinds.count > 8 && kinds.contains(""))
  }

  @Test("Random games whose passages display each other") func displayed() throws {
    var random = SeededRandom(seed: 0x01DC)
    for _ in 0..<3_000 {
      var twee = Self.game(&random)
      for index in 0..<3 where twee.contains("SugarCube") {
        twee = twee.replacing(
          ":: passage \(index)\n", with: ":: passage \(index)\n<<include \"passage \(random.below(6))\">>\n")
      }
      let errors = Set(Self.errors(try Story(Array(twee.utf8))))
      let converted = Set(Self.errors(try Story(Twee.story(Array(twee.utf8)).serialized())))
      // The choices of a part are choices of each segment that displays it.
      #expect(converted == errors, "\(twee)")
    }
  }

  static let examples: [String] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return ["Examples", "Tests/Fixtures/twee"].flatMap { folder -> [String] in
      let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      return (files?.compactMap { $0 as? String } ?? []).filter {
        $0.hasSuffix(".twee") || $0.hasSuffix(".tw")
      }
      .sorted().map { root.appending(path: folder).appending(path: $0).path }
    }
  }()

  @Test("The games of the examples", arguments: examples) func example(_ path: String) throws {
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
    let errors = Self.errors(try Story(bytes, source: .twee))
    #expect(Self.errors(try Story(Twee.story(bytes).serialized())) == errors)
    #expect(!Self.examples.isEmpty)
  }

  static let kept: [(name: String, passages: String)] = [
    (
      "a link by variable",
      ":: Start\n[[Look]] <<link \"Follow\" $goal>><</link>>\n\n:: Look\nNothing.\n\n:: Sea\nThe sea."
    ),
    ("play again", ":: Start\n[[Go]]\n\n:: Go\nThe end. [[Play again->Start]]"),
    ("a menu", ":: Start\n[[Go]]\n\n:: Go\nDone.\n\n:: StoryMenu\n[[Credits]]\n\n:: Credits\nBy us."),
    ("a script", ":: Start\n[[Go]]\n\n:: Go\n[[Start]]\n\n:: End\nOver.\n\n:: S [script]\nEngine.play(x);"),
  ]

  @Test("What only the game knows is kept in the JSON", arguments: kept)
  func possible(_ example: (name: String, passages: String)) throws {
    let twee = ":: StoryData\n{\"format\": \"SugarCube\"}\n\n" + example.passages
    #expect(Self.errors(try Story(Array(twee.utf8))) == [])
    let json = try Twee.story(Array(twee.utf8))
    let story = try Story(json.serialized())
    #expect(Self.errors(story) == [])
    let text = String(decoding: try json.serialized(), as: UTF8.self)
    switch example.name {
    case "a link by variable":
      #expect(text.contains("\"id\":\"Start-2\",\"text\":\"Follow\",\"dynamic\":true"))
      #expect(story.start?.choices.last?.isDynamic == true && story.start?.choices.last?.nextSegmentID == "")
      #expect(story.graph(.dot).contains("style=dashed"))
    case "play again": #expect(story.segment("Go")?.isEnding == true && story.pathCount.saturated == 1)
    default: #expect(text.contains("\"entry\":\"possible\""))
    }
  }
}
