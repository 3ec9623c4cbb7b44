import Testing

import SatchelStories
import SatchelTwee

@Suite("Links in Twee") struct TweeLinkTests {
  static let forms: [TweeCase] = [
    TweeCase(nil, "[[Cave]]", ["Cave -> Cave"]),
    TweeCase(nil, "[[ Cave ]]", ["Cave -> Cave"]),
    TweeCase(nil, "[[in->Cave]]", ["in -> Cave"]),
    TweeCase(nil, "[[ in -> Cave ]]", ["in -> Cave"]),
    TweeCase(nil, "[[Cave<-in]]", ["in -> Cave"]),
    TweeCase(nil, "[[in|Cave]]", ["in -> Cave"]),
    TweeCase(nil, "[[in|Cave][$a to 1]]", ["in -> Cave"]),
    TweeCase(nil, "[[Cave][$a to $b[0]]]", ["Cave -> Cave"]),
    TweeCase(nil, "[[in->Cave]] and [[up->Hill]]", ["in -> Cave", "up -> Hill"]),
    TweeCase(nil, "[[[in->Cave]]]", ["in -> Cave"]),
    TweeCase(nil, "[[höher->Hill]]", ["höher -> Hill"]),
    TweeCase(nil, "[[in->Nowhere]]", ["in -> Nowhere"]),
    TweeCase(nil, "[[in->]]", ["in -> "]),
    TweeCase(nil, "[[->Cave]]", [" -> Cave"]),
    TweeCase(nil, "[[]] [[ ]] [Cave] [[Cave] [[Cave\n]]", []),
    TweeCase(nil, "[[a]b->Cave]]", ["a]b -> Cave"]),
    TweeCase("Harlowe", "[[A->B->Cave]]", ["A->B -> Cave"]),
    TweeCase("Harlowe", "[[Cave<-B<-A]]", ["B<-A -> Cave"]),
    TweeCase("Harlowe", "[[Cave<-A->Hill]]", ["Cave<-A -> Hill"]),
    TweeCase("Harlowe", "(if: $a)[[[in->Cave]]]", ["in -> Cave"]),
    TweeCase("SugarCube", "[[in|Cave->Hill]]", ["in -> Cave->Hill"]),
    TweeCase("SugarCube", "[[in->Cave][$a to \"x\"; $b to [1, [2]]]]", ["in -> Cave"]),
    TweeCase("SugarCube", "[[in|'Cave']]", ["in -> Cave"]),
    TweeCase("SugarCube", "[img[door.png][Cave]]", ["Cave"]),
    TweeCase("SugarCube", "[<img[A door|door.png][Cave][$a to 1]]", ["Cave"]),
    TweeCase("SugarCube", "[img[door.png]]", []),
    TweeCase("SugarCube", "<a data-passage=\"Cave\">in</a>", ["in -> Cave"]),
    TweeCase("SugarCube", "<a @data-passage=\"$x\">in</a>", ["?"]),
  ]

  @Test("Every form of a link has its target", arguments: forms) func lead(_ example: TweeCase) throws {
    #expect(try TweeFixture.targets(example.body, example.format) == example.targets)
  }

  static let targets: [TweeCase] = [
    TweeCase(nil, "[[chart->https://example.org]] [[HTTP://example.org]] [[write|mailto:a@example.org]]", []),
    TweeCase(nil, "[[go->$place]]", ["?"]),
    TweeCase(nil, "[[go->Room $number]]", ["?"]),
    TweeCase(nil, "[[go->(print: $place)]]", ["?"]),
    TweeCase(nil, "[[pay->$5]]", ["pay -> $5"]),
    TweeCase(nil, "[[pay->$6]]", ["pay -> $6"]),
    TweeCase(nil, "[[Cave (night)]]", ["Cave (night) -> Cave (night)"]),
    TweeCase("SugarCube", "[[go|_place]]", ["?"]),
    TweeCase("SugarCube", "[[go|either(\"Cave\", \"Hill\")]]", ["?"]),
    TweeCase("SugarCube", "[[go|\"Ca\" + \"ve\"]]", ["?"]),
    TweeCase("SugarCube", "[[go|setup.place]]", ["?"]),
    TweeCase("Chapbook", "[[go->{place}]]", ["?"]),
    TweeCase("Snowman", "[[go-><%= s.place %>]]", ["?"]),
  ]

  @Test("A target that is an address is external, and an expression is a jump", arguments: targets)
  func leadOut(_ example: TweeCase) throws {
    #expect(try TweeFixture.targets(example.body, example.format) == example.targets)
  }

  static let hidden: [TweeCase] = [
    TweeCase(
      nil, "/* [[Cave]] */ /% [[Cave]] %/ <!-- [[Cave]] --> {{{[[Cave]]}}} <nowiki>[[Cave]]</nowiki>", []),
    TweeCase(nil, "`[[Cave]]` \"\"\"[[Hill]]\"\"\"", ["Cave -> Cave", "Hill -> Hill"]),
    TweeCase(nil, "<script>var a = [[1]];</script><style>a { }</style>", []),
    TweeCase("SugarCube", "/* [[Cave]] */ /% [[Cave]] %/ <!-- [[Cave]] -->", []),
    TweeCase("SugarCube", "{{{[[Cave]]}}} <nowiki>[[Cave]]</nowiki> \"\"\"[[Cave]]\"\"\"", []),
    TweeCase("SugarCube", "`[[Cave]]`", ["Cave -> Cave"]),
    TweeCase("SugarCube", "<<set $a to [[1, 2]]>> <<script>>let a = [[1]];<</script>>", []),
    TweeCase("Harlowe", "`[[Cave]]` ``a ` [[Cave]]`` <!-- [[Cave]] -->", []),
    TweeCase("Harlowe", "/* [[Cave]] */ {{{[[Hill]]}}}", ["Cave -> Cave", "Hill -> Hill"]),
    TweeCase("Chapbook", "rows: [[1]]\n--\n[[Cave]]", ["Cave -> Cave"]),
    TweeCase("Chapbook", "[note]\n[[Cave]]\n[cont]\n[[Hill]]", ["Hill -> Hill"]),
    TweeCase("Chapbook", "[JavaScript]\nlet a = [[1]];\n[continue]\n[[Hill]]", ["Hill -> Hill"]),
    TweeCase("Snowman", "/* [[Cave]] */ <!-- [[Cave]] --> <% let a = [[1]]; %> [[Hill]]", ["Hill -> Hill"]),
  ]

  @Test("Links in comments, in code and in verbatim text do not count", arguments: hidden)
  func hide(_ example: TweeCase) throws {
    #expect(try TweeFixture.targets(example.body, example.format) == example.targets)
  }

  @Test(
    "Unclosed constructs are prose",
    arguments: ["/*", "/%", "<!--", "{{{", "<nowiki>", "<<", "(if: ", "`"])
  func unclosed(_ mark: String) throws {
    for format in [nil, "SugarCube", "Harlowe", "Chapbook", "Snowman"] {
      #expect(try TweeFixture.targets("\(mark) it's [[Cave]]", format) == ["Cave -> Cave"])
    }
  }
}
