import SatchelJSON
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelStories
@testable import SatchelTwee

@Suite("Hostile Twee") struct TweeHostileTests {

  private static let pieces: [[UInt8]] = [
    "[[", "]]", "->", "<-", "|", "][", "<<", ">>", "<<link \"", "<<goto ", "(goto: \"", "(link-goto:",
    "{link to: '",
    "\"", "'", "`", "/*", "*/", "<!--", "{{{", "\n:: ", "::", "\\", "[", "]", "{", "}", "\n", "\r", "$", "(",
    ")",
    "[img[", "Engine.play(", "<script>", "data-passage=", "\n--\n", "\n[note]\n", "<%", ",", "\u{E9}",
    "StoryData\n{\"start\":\"", "Start",
  ].map { Array($0.utf8) }

  private static func errors(_ report: StoryReport) -> Set<StoryFinding.Code> {
    Set(report.findings.filter { $0.severity == .error }.map(\.code))
  }

  private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1 where place < bytes.count:
        bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
      case 2: bytes.removeLast(bytes.count - place)
      case 3:
        let copy = bytes[place..<min(bytes.count, place + 60)]
        bytes.insert(contentsOf: copy, at: Int.random(in: 0...bytes.count, using: &random))
      default: bytes.insert(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &random)], at: place)
      }
    }
  }

  @Test(
    "Any bytes give a report or an error with a position, also after converting")
  func mutations() throws {
    var random = SeededRandom(seed: 0x5A7C_4E10_0D15_EA5E)
    let sources = try TweeFixture.files.map { try TweeFixture.bytes($0) }
    var (read, refused, started) = (0, 0, 0)
    let rounds = Portion.count(20_000)
    for round in 0..<rounds {
      var bytes = sources[round % sources.count]
      Self.mutate(&bytes, &random)
      do {
        let story = try Story(bytes, source: .twee)
        let report = story.check()
        #expect(report.findings.allSatisfy { $0.position.offset <= bytes.count && $0.position.line > 0 })
        read += 1
        // Converting costs more than parsing: every tenth is enough.
        guard round % 10 == 0 else { continue }
        let converted = try Story(Twee.story(bytes).serialized())
        #expect(converted.segmentCount == story.analysis.table.partsStart)
        started += story.analysis.nearestEnding == nil ? 0 : 1
        // The start that a game names has no field in the result.
        let known = Self.errors(report).subtracting([.missingField])
        #expect(Self.errors(converted.check()) == known, "\(String(decoding: bytes, as: UTF8.self))")
      } catch let error as SatchelError {
        #expect(error.code == .invalid)
        #expect(error.message.contains("line "))
        refused += 1
      }
    }
    #expect(read > rounds / 4 && refused > rounds / 40 && started > rounds / 100)
  }

  @Test("A hundred thousand passages are parsed quickly, with every link at its position")
  func manyPassages() throws {
    func text(_ count: Int) -> [UInt8] {
      var text = ":: Start\n[[0]]\n\n"
      for index in 0..<count {
        text +=
          ":: \(index) [a b] {\"position\":\"1,2\"}\nSome \\words of it.\n[[on->\(index + 1)]]\n[[Same|\(index / 2)]]\n\n"
      }
      return Array((text + ":: \(count)\nEnd.").utf8)
    }
    let (small, large) = (text(10_000), text(100_000))
    _ = try Story(small, source: .twee).check()
    let short = try Work.processorSeconds { _ = try Story(small, source: .twee).check() }
    var story: Story?
    let long = try Work.processorSeconds {
      story = try Story(large, source: .twee)
      #expect(story?.check().isSound == true)
    }
    #expect(story?.segmentCount == 100_002)
    #expect(story?.analysis.table.choices.count == 200_001)
    // Ten times the text; quadratic work would take a hundred times as long.
    #expect(long < short * 30 + 0.2)
  }

  static let heavy: [(piece: String, format: String?)] = [
    ("[[", nil), ("[[a][", nil), ("[img[", "SugarCube"), ("[img[a][", "SugarCube"), ("<<a \"", "SugarCube"),
    ("<<a \\\"", "SugarCube"), ("<<link [[", "SugarCube"), ("<<goto `", "SugarCube"), ("(goto:", "Harlowe"),
    ("(a:(", "Harlowe"), ("(a:'\\", "Harlowe"), ("`` ` ```", "Harlowe"), ("{link to: '", "Chapbook"),
    ("{a: `\\`,", "Chapbook"), ("[note\n", "Chapbook"), ("\n[note]\n", "Chapbook"), ("/*", nil),
    ("<!--", nil),
    ("<script>", nil), ("<nowiki>", nil), ("<%", "Snowman"), ("{{{", nil), ("Engine.play('", nil),
    ("data-passage=\"", nil), ("\\", nil), ("[[a]]", nil), ("<<goto \"a\">>", "SugarCube"),
    ("(goto:\"a\")", "Harlowe"),
    ("<<link 'a'>>", "SugarCube"), ("(link:'a')[", "Harlowe"), ("(link:'a')+(b:", "Harlowe"), ("<a ", nil),
    ("<a>", nil), ("<a data-passage='", nil), ("<<b 'Cave'>>", "SugarCube"),
    ("<<include Cave>>", "SugarCube"),
    ("<<script>><<goto '", "SugarCube"), ("story.render('Cave')", "Snowman"), ("]", nil),
    ("[[->]]", nil), ("[[$a]]", nil), ("[[b (c:]]", nil), ("\n::", nil), ("\n:: a [", nil),
  ]

  @Test("Repeated unclosed constructs take linear time", arguments: heavy)
  func weigh(_ example: (piece: String, format: String?)) throws {
    func seconds(_ count: Int) throws -> Double {
      let text = Array(
        TweeFixture.story(String(repeating: example.piece, count: count), format: example.format).utf8)
      return try Work.processorSeconds { _ = try Story(text, source: .twee) }
    }
    let short = try seconds(5_000)
    let long = try seconds(100_000)
    // Twenty times the text; quadratic work would take four hundred times as long.
    #expect(long < short * 60 + 0.4)
  }
}
