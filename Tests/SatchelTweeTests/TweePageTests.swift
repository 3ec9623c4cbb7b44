import SatchelCore
import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelStories
@testable import SatchelTwee

@Suite("Published pages and archives of Twine") struct TweePageTests {
  /// A page with the passages of Twee, as Twine writes it.
  static func page(_ passages: [(name: String, tags: String, body: String)], format: String, start: Int = 1)
    -> String
  {
    let data = passages.enumerated().map { number, passage in
      "<tw-passagedata pid=\"\(number + 1)\" name=\"\(escaped(passage.name))\" tags=\"\(passage.tags)\" "
        + "position=\"1,1\" size=\"100,100\">\(escaped(passage.body))</tw-passagedata>"
    }
    return "<!DOCTYPE html>\n<html><body><script>var x = \"<b>\";</script>\n"
      + "<tw-storydata name=\"The &quot;Well&quot;\" startnode=\"\(start)\" ifid=\"1\" format=\"\(format)\" hidden>"
      + "<style role=\"stylesheet\" type=\"text/twine-css\">a > b {}</style>"
      + "<script role=\"script\" type=\"text/twine-javascript\">if (1 < 2) Engine.play('Menu');</script>"
      + "<tw-tag name=\"a\" color=\"red\"></tw-tag>" + data.joined() + "</tw-storydata></body></html>\n"
  }

  static func escaped(_ text: String) -> String {
    var text = text
    for (character, entity) in [
      ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;"),
    ] {
      text = text.split(separator: character, omittingEmptySubsequences: false).joined(separator: entity)
    }
    return text
  }

  static let passages: [(name: String, tags: String, body: String)] = [
    (
      "Start", "a b",
      "It falls.\n[[Climb down->Tom & Jo's]] [[Hoem]]\n:: [[x->{1}]]\n<<link \"Go\" \"{1}\">><</link>>"
    ),
    ("Tom & Jo's", "", "Deep & \"dark\". [[back <-> forth|Start]]"), ("{1}", "", "Ü [[Start]] <b>bold</b>"),
    ("Menu", "", "[[Home]]"), ("Home", "authentic", "Over."),
  ]

  @Test(
    "A page and its Twee have the same findings, segments and conversion",
    arguments: ["SugarCube", "Harlowe"])
  func same(_ format: String) throws {
    var twee =
      ":: StoryTitle\nThe \"Well\"\n\n:: Story JavaScript [script]\nif (1 < 2) Engine.play('Menu');\n\n"
    twee += ":: StoryData\n{\"ifid\":\"1\",\"format\":\"\(format)\",\"start\":\"Start\"}\n\n"
    // A line that starts with "::" would start a passage of Twee.
    let passages = Self.passages.map { ($0.name, $0.tags, $0.body.replacing("\n::", with: "\n ::")) }
    for (name, tags, body) in passages {
      let header = name.replacing("{", with: "\\{").replacing("}", with: "\\}")
      twee += ":: \(header) [\(tags)] {\"position\":\"1,1\",\"size\":\"100,100\"}\n\(body)\n\n"
    }
    let page = Self.page(passages.map { (name: $0.0, tags: $0.1, body: $0.2) }, format: format)
    let (one, other) = (try Story(Array(twee.utf8)), try Story(Array(page.utf8)))
    func facts(_ story: Story) -> [String] {
      story.check().findings.map {
        "\($0.severity) \($0.code) \($0.pointer) \($0.message) \($0.suggestion ?? "-") \(String(describing: $0.passage))"
      }
    }
    #expect(facts(one) == facts(other))
    #expect(!facts(one).isEmpty && one.segmentCount == 5)
    #expect((0..<5).map { one.segment(at: $0) } == (0..<5).map { other.segment(at: $0) })
    #expect(other.header.title == "The \"Well\"")
    let (converted, convertedPage) = (try Twee.story(Array(twee.utf8)), try Twee.story(Array(page.utf8)))
    #expect(converted["segments"] == convertedPage["segments"])
    #expect(converted["id"] == convertedPage["id"])
  }

  @Test("A finding has its place in the page and in the passage") func places() throws {
    let page = Self.page(Self.passages, format: "Harlowe")
    let report = try Story(Array(page.utf8)).check()
    let finding = try #require(report.findings.first { $0.code == .brokenChoice })
    let line = try #require(
      page.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("[[Hoem]]") })
    let before = page.split(separator: "\n", omittingEmptySubsequences: false)[line]
    let column = try #require(before.range(of: "Hoem")).lowerBound
    #expect(finding.position.line == line + 1)
    #expect(finding.position.column == before.utf8.distance(from: before.startIndex, to: column) + 1)
    #expect(finding.passage == StoryFinding.Passage(name: "Start", line: 2, column: 30))
    #expect(
      finding.text(name: "well.html").contains(": error: passage \"Start\", line 2, column 30: choice "))
    #expect(finding.suggestion == "Home")
  }

  @Test("The storage of Twine 1 is read") func twine1() throws {
    let page =
      "<html><div id=\"storeArea\"><div tiddler=\"Start\" tags=\"\" created=\"1\">A\\n[[B]]\\s &lt;&lt;display 'C'&gt;&gt;</div>"
      + "<div tiddler=\"B\" tags=\"x\">Over.</div><div tiddler=\"C\">c</div></div></html>"
    let story = try Story(Array(page.utf8))
    #expect(story.start?.text == "A\n[[B]]\\ <<display 'C'>>")
    #expect(story.check().findings == [])
    #expect(story.segmentCount == 3)
  }

  @Test("An archive is not one story, and says so; each of its stories can be read") func archive() throws {
    let page = Self.page(Self.passages, format: "Harlowe")
    let story = String(
      page[
        try #require(page.range(of: "<tw-storydata"))
          .lowerBound..<(try #require(page.range(of: "</body>")).lowerBound)])
    let archive = Array((story + "\n" + story.replacing("Hoem", with: "Home")).utf8)
    #expect(TweeGame.storyCount(ofPage: archive) == 2)
    let error = #expect(throws: SatchelError.self) { try Story(archive) }
    #expect(error?.message.contains(": it is an archive of 2 stories") == true)
    let codes = try (0..<2).map { number in
      try Story(archive, source: .page(story: number)).check().findings.filter { $0.code == .brokenChoice }
        .count
    }
    #expect(codes == [2, 1])
  }

  @Test("Any bytes of a page give a report or an error with a position") func hostile() throws {
    var random = SeededRandom(seed: 0x9A6E)
    let source = Array(Self.page(Self.passages, format: "SugarCube").utf8)
    let pieces = [
      "<tw-passagedata", "</tw-passagedata>", "&#x110000;", "&#0;", "&amp", "\"", ">", "<div tiddler=",
      "&#xD800;",
    ]
    var read = 0
    for _ in 0..<2_000 {
      var bytes = source
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...30, using: &random)))
        case 1: bytes.removeLast(bytes.count - place)
        default:
          bytes.insert(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &random)].utf8, at: place)
        }
      }
      do {
        let report = try Story(bytes, source: .twee).check()
        #expect(report.findings.allSatisfy { $0.position.offset <= bytes.count && $0.position.line > 0 })
        read += 1
      } catch let error as SatchelError {
        #expect(error.code == .invalid && error.message.contains("line "))
      }
    }
    #expect(read > 500)
  }
}
