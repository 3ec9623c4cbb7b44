import SatchelStories
import SatchelTwee
import Testing

@Suite("What links, macros, attributes and scripts lead to") struct TweeTargetTests {
  static let attributes: [(value: String, targets: [String])] = [
    ("'$back'", ["?"]), ("'_where'", ["?"]), ("'previous()'", ["?"]), ("'$menu.back'", ["?"]),
    ("\"'Buy ' + _item\"", ["?"]), ("'setup.home'", ["?"]), ("\"'Cave'\"", ["x -> Cave"]),
    ("'Cave'", ["x -> Cave"]),
    ("' Cave '", ["x -> Cave"]), ("'Cvae'", ["x -> Cvae"]), ("'$5'", ["x -> $5"]),
    ("'https://example.org'", []),
    ("'Tom &amp; Jo'", ["x -> Tom & Jo"]),
  ]

  @Test("An attribute is a name or an expression", arguments: attributes)
  func attribute(_ example: (value: String, targets: [String])) throws {
    let found = try TweeFixture.targets("<a data-passage=\(example.value)>x</a>", "SugarCube")
    #expect(found == example.targets)
  }

  @Test("An evaluated attribute is an expression, and the passage of a picture is no target") func others()
    throws
  {
    #expect(try TweeFixture.targets("<a sc-eval:data-passage=\"'Ca' + 've'\">x</a>", "SugarCube") == ["?"])
    #expect(try TweeFixture.targets("<a @data-passage=\"$x\">x</a>", "SugarCube") == ["?"])
    #expect(
      try TweeFixture.targets("<img data-passage=\"cave.png\"><img data-passage='pic'>", "SugarCube") == [])
  }

  static let printed: [TweeCase] = [
    TweeCase("SugarCube", "<<print \"Behind you is the [[door|Cave]].\">>", ["door -> Cave"]),
    TweeCase("SugarCube", "<<= \"[[door|Cave]]\">>", ["door -> Cave"]),
    TweeCase("SugarCube", "<<- '[[door|Cave]]'>>", ["door -> Cave"]),
    TweeCase(
      "SugarCube", "<<print either(\"the [[door|Cave][$g to 1]] back\", \"none\")>>", ["door -> Cave"]),
    TweeCase("SugarCube", "<<print `[[door|Cave]]`>>", ["door -> Cave"]),
    TweeCase("SugarCube", "<<print $rows[[1][0]]>>", []),
    TweeCase("Snowman", "<%= '[[door|Cave]]' %>", ["door -> Cave"]),
    TweeCase("Harlowe", "(print: \"[[door->Cave]]\")", ["door -> Cave"]),
  ]

  @Test("A printed text is read for links", arguments: printed)
  func text(_ example: TweeCase) throws {
    #expect(try TweeFixture.targets(example.body, example.format) == example.targets)
  }

  @Test("A text that is stored for later may lead to its links") func stored() throws {
    let twee = TweeFixture.story("<<set $t to \"[[door|Cave]]\">>$t [[Hill]]", format: "SugarCube")
    let story = try TweeFixture.story(reading: twee)
    #expect(story.start?.choices.map(\.isDynamic) == [false, true])
    #expect(story.start?.choices.map(\.nextSegmentID) == ["Hill", "Cave"])
    let severities = story.check().findings.filter { $0.code == .unreachable }.map(\.severity)
    #expect(severities == [.warning, .error])
  }

  @Test("A name with an escaped space at its end is found by its links") func blank() throws {
    let twee =
      ":: Start\n[[fast ]] [[slow]] <<goto \" fast\">>\n\n:: fast\\  {\"position\":\"1,2\"}\nEnd.\n\n:: slow\\ \nEnd."
    let story = try TweeFixture.story(reading: twee)
    #expect((0..<3).map { story.segment(at: $0)?.id } == ["Start", "fast", "slow"])
    #expect(story.check().findings.filter { $0.severity == .error } == [])
  }

  static let unknown: [(format: String, body: String)] = [
    ("Snowman", "<%= window.setup.glossary() %>"), ("SugarCube", "<<run setup.glossary()>>"),
    ("SugarCube", "<<glossary>>"), ("SugarCube", "<<= setup.glossary()>>"),
  ]

  @Test("Code of elsewhere may lead anywhere, and code of the game where it says", arguments: unknown)
  func elsewhere(_ example: (format: String, body: String)) throws {
    func severities(_ script: String) throws -> [String] {
      let twee = TweeFixture.story("[[$5]] [[Hill]] " + example.body, format: example.format) + script
      return try TweeFixture.story(reading: twee).check().findings.filter { $0.code == .unreachable }.map {
        "\($0.severity) \($0.pointer)"
      }
    }
    #expect(try severities("") == ["warning /segments/1"])
    #expect(
      try severities("\n\n:: Code [script]\nsetup.glossary = () => 1; Macro.add('glossary', {});") == [
        "error /segments/1"
      ])
    #expect(
      try severities("\n\n:: Code [script]\nsetup.glossary = () => Engine.play(x);") == [
        "warning /segments/1"
      ])
  }

  static let conditions: [(format: String, body: String, isDeadEnd: Bool)] = [
    ("SugarCube", "<<if $key>>[[Cave]]<</if>>", true),
    ("SugarCube", "<<if $key>>[[Cave]]<</if>> [[Hill]]", false),
    ("SugarCube", "<<if $key>>[[Cave]]<<else>>[[Hill]]<</if>>", false),
    ("SugarCube", "<<if $key>>[[Cave]]<<elseif $b>>x<<else>>[[Hill]]<</if>>", true),
    ("SugarCube", "<<switch $a>><<case 1>>[[Cave]]<<default>>[[Hill]]<</switch>>", false),
    ("SugarCube", "<<switch $a>><<case 1>>[[Cave]]<</switch>>", true),
    ("SugarCube", "<<if $a>><<if $b>>[[Cave]]<<else>>[[Hill]]<</if>><<else>>[[Hill]]<</if>>", false),
    ("SugarCube", "<<if $a>><<goto $x>><</if>>", true), ("SugarCube", "<<if $a>>x<</if>>", false),
    ("Harlowe", "(if: $key)[ [[Cave]] ]", true),
    ("Harlowe", "(if: $key)[ [[Cave]] ](else:)[ [[Hill]] ]", false),
    ("Harlowe", "(if: $key)[ [[Cave]] ]\n(else-if: $b)[ x ]\n(else:)[ [[Hill]] ]", true),
    ("Harlowe", "(if: $key)[x] (link: \"Go\")[(go-to: \"Cave\")]", false),
    ("Chapbook", "[if key]\n[[Cave]]\n[continue]\nx", true),
    ("Chapbook", "[if key]\n[[Cave]]\n[else]\n[[Hill]]", false),
    ("Chapbook", "[if key]\nx\n[continue]\n[[Hill]]", false),
    ("Snowman", "<% if (s.key) { %>[[Cave]]<% } %>", true),
    ("Snowman", "<% if (s.key) { %>[[Cave]]<% } else { %>[[Hill]]<% } %>", false),
    ("Snowman", "<% s.x = {a: 1}; %>[[Hill]]", false),
  ]

  @Test("A passage whose ways on all depend on conditions is a warning", arguments: conditions)
  func deadEnd(_ example: (format: String, body: String, isDeadEnd: Bool)) throws {
    let found = try TweeFixture.codes(TweeFixture.story(example.body, format: example.format))
    #expect(found.contains("conditional-dead-end") == example.isDeadEnd)
  }

  @Test("Where a menu offers a way on, no passage is a conditional dead end") func menu() throws {
    let twee =
      TweeFixture.story("<<if $key>>[[Cave]]<</if>>", format: "SugarCube") + "\n\n:: StoryMenu\n[[Hill]]"
    #expect(try !TweeFixture.codes(twee).contains("conditional-dead-end"))
  }
}
