import Testing

import SatchelStories
import SatchelTwee

@Suite("Macros in Twee") struct TweeMacroTests {
  static let sugarCube: [TweeCase] = [
    TweeCase("SugarCube", "<<goto \"Cave\">>", ["Cave"]),
    TweeCase("SugarCube", "<<goto 'Cave'>> <<goto Hill>>", ["Cave", "Hill"]),
    TweeCase("SugarCube", "<<goto [[in|Cave]]>>", ["in -> Cave"]),
    TweeCase("SugarCube", "<<goto $place>>", ["?"]),
    TweeCase("SugarCube", "<<goto `\"Ca\" + $x`>>", ["?"]),
    TweeCase("SugarCube", "<<goto>>", ["?"]),
    TweeCase("SugarCube", "<<link \"in >> out\" \"Cave\">><<set $a to 1>><</link>>", ["in >> out -> Cave"]),
    TweeCase("SugarCube", "<<link \"say \\\"hi\\\"\" \"Cave\">><</link>>", ["say \"hi\" -> Cave"]),
    TweeCase("SugarCube", "<<link \"in\">><<goto \"Cave\">><</link>>", ["in -> Cave"]),
    TweeCase("SugarCube", "<<link [[in|Cave]]>><</link>>", ["in -> Cave"]),
    TweeCase("SugarCube", "<<link [img[a.png][Cave]]>><</link>>", ["Cave"]),
    TweeCase("SugarCube", "<<link $text \"Cave\">><</link>>", ["Cave"]),
    TweeCase("SugarCube", "<<link \"in\" $place>><</link>>", ["?"]),
    TweeCase("SugarCube", "<<button \"in\" \"Cave\">><</button>>", ["in -> Cave"]),
    TweeCase(
      "SugarCube",
      "<<button 'in'>><<set $a to 1>><<if $b>><<goto Cave>><<else>><<goto 'Hill'>><</if>><</button>>",
      ["in -> Cave", "in -> Hill"]),
    TweeCase(
      "SugarCube", "<<linkreplace \"more\">>[[up|Hill]] <<goto 'Cave'>><</linkreplace>>",
      ["up -> Hill", "more -> Cave"]),
    TweeCase(
      "SugarCube", "<<link 'a'>><<link 'b'>><<goto 'Cave'>><</link>><<goto 'Hill'>><</link>><<goto '$5'>>",
      ["b -> Cave", "a -> Hill", "$5"]),
    TweeCase("SugarCube", "<<link 'in'>><<run Engine.play('Cave')>><</link>>", ["in -> Cave"]),
    TweeCase(
      "SugarCube", "<<link 'in'>><<script>>$.wiki('<<goto \"Cave\">>')<</script>><</link>>", ["in -> Cave"]),
    TweeCase("SugarCube", "<<link \"chart\" \"https://example.org\">><</link>><<goto 'map.html'>>", []),
    TweeCase("SugarCube", "<span data-passage=\"Cave\"><b>in</b></span>", ["in -> Cave"]),
    TweeCase("SugarCube", "<<include \"Cave\">> <<display \"Hill\">>", []),
    TweeCase("SugarCube", "<<if $a>><<goto \"Cave\">><<else>><<goto \"Cave\">><</if>>", ["Cave"]),
    TweeCase("SugarCube", "[[in->Cave]]<<goto \"Cave\">>", ["in -> Cave"]),
    TweeCase("SugarCube", "<<back>> <<return \"home\">>", ["?", "?"]),
    TweeCase(
      "SugarCube", "<<choice \"Cave\" \"in\">> <<actions \"Cave\" \"Hill\">>", ["in -> Cave", "Hill"]),
    TweeCase("SugarCube", "<<run Engine.play(\"Cave\")>>", ["Cave"]),
    TweeCase("SugarCube", "<<run Engine.play($place)>>", ["?"]),
    TweeCase("SugarCube", "<<script>>Engine.backward();<</script>>", ["?"]),
    TweeCase("SugarCube", "(goto: \"Cave\") {link to: 'Cave'}", []),
  ]
  static let harlowe: [TweeCase] = [
    TweeCase("Harlowe", "(go-to: \"Cave\")", ["Cave"]),
    TweeCase("Harlowe", "(goto:'Cave') (GoTo: \"Hill\")", ["Cave", "Hill"]),
    TweeCase("Harlowe", "(link-goto: \"in\", \"Cave\")", ["in -> Cave"]),
    TweeCase("Harlowe", "(link-goto: \"Cave\")", ["Cave -> Cave"]),
    TweeCase("Harlowe", "(link_reveal-goto: \"in\", \"Cave\")[(set: $a to 1)]", ["in -> Cave"]),
    TweeCase("Harlowe", "(link-goto: $text, \"Cave\")", ["Cave"]),
    TweeCase("Harlowe", "(link: \"in\")[(go-to: \"Cave\")]", ["in -> Cave"]),
    TweeCase("Harlowe", "(display: \"Cave\")", []),
    TweeCase(
      "Harlowe", "(link-repeat: 'in')+(text-style:'bold') [(if: $a)[(goto: 'Cave')](else:)[(goto: 'Hill')]]",
      ["in -> Cave", "in -> Hill"]),
    TweeCase(
      "Harlowe", "(link: 'a')[(link: 'b')[(goto: 'Cave')](goto: 'Hill')](goto: '$5')",
      ["b -> Cave", "a -> Hill", "$5"]),
    TweeCase("Harlowe", "(link-reveal: 'in')[[[Cave]]]", ["Cave -> Cave"]),
    TweeCase("Harlowe", "(link-goto: \"chart\", \"https://example.org/a\")", []),
    TweeCase("Harlowe", "(click-goto: ?door, \"Cave\")", ["Cave"]),
    TweeCase(
      "Harlowe", "(goto: $place) (goto: (either: \"Cave\", \"Hill\")) (goto: \"Ca\" + \"ve\")",
      ["?", "?", "?"]),
    TweeCase("Harlowe", "(undo:) (link-undo: \"back\")", ["?", "?"]),
    TweeCase("Harlowe", "(if: $bag's length > 0 and (visits > 1))[(goto: \"Cave\")]", ["Cave"]),
    TweeCase("Harlowe", "<<goto \"Cave\">>", []),
  ]
  static let others: [TweeCase] = [
    TweeCase("Chapbook", "{embed passage: 'Cave'} {embed passage named: 'Hill'}", []),
    TweeCase("Chapbook", "{link to: 'Cave', label: 'in, now'}", ["in, now -> Cave"]),
    TweeCase("Chapbook", "{link to: 'Cave'}", ["Cave"]),
    TweeCase("Chapbook", "{link to: place} {back link, label: 'Back'}", ["?", "?"]),
    TweeCase("Chapbook", "{link to: 'https://example.org'} {embed image: 'a.png'} {name}", []),
    TweeCase(
      "Chapbook", "{reveal link: 'more', passage: 'Cave'} {reveal link: 'a', text: 'b'}", []),
    TweeCase("Chapbook", "[JavaScript]\ngo('Cave'); go(place);", ["Cave", "?"]),
    TweeCase(
      "Snowman", "<% if (s.a) { story.show('Cave'); } else { window.story.show(s.b) } %>", ["Cave", "?"]),
    TweeCase("Snowman", "<a data-passage=\"Cave\">in</a>", ["in -> Cave"]),
    TweeCase(
      "Snowman", "<a href=\"javascript:void(0)\" onclick=\"story.show('Cave')\">in</a>", ["in -> Cave"]),
    TweeCase("Snowman", "<%= story.render('Cave') %> <% window.story.render(\"Hill\") %>", []),
    TweeCase(nil, "<<goto \"Cave\">> (goto: \"Hill\") {link to: '$5'}", ["Cave", "Hill", "$5"]),
    TweeCase(nil, "<script>state.display(\"Cave\")</script>", ["Cave"]),
  ]

  @Test("A quoted name is a choice, and an expression is a jump", arguments: sugarCube + harlowe + others)
  func macros(_ example: TweeCase) throws {
    #expect(try TweeFixture.targets(example.body, example.format) == example.targets)
  }

  @Test("Visible words are counted, not those of macros")
  func words() throws {
    #expect(
      try TweeFixture.words("One <<if $a is 1>>two<</if>> [[three four->Cave]]. /* five */", "SugarCube") == 4
    )
    #expect(
      try TweeFixture.words(
        "One (if: $a is 1)[two] [[three->Cave]], (link-goto: \"four\", \"Hill\")", "Harlowe") == 4)
    #expect(try TweeFixture.words("a: 1\n--\nOne {back link} [[two->Cave]]\n[note]\nthree", "Chapbook") == 2)
    #expect(try TweeFixture.words("Un[[known->Cave]] (really: it is) ways") == 5)
  }

  @Test("A jump downgrades unreachable segments to warnings")
  func doubt() throws {
    let report = try TweeFixture.story(reading: ":: Start\n(goto: $place)\n\n:: Cave\nDark.").check()
    #expect(report.findings.map(\.code) == [.dynamicJump, .unreachable])
    #expect(report.findings.allSatisfy { $0.severity == .warning })
    #expect(report.findings.first?.position.line == 2)
  }

  @Test(
    "A menu downgrades unreachable segments to warnings",
    arguments: [":: StoryMenu\n[[Cave]]", ":: X [script]\nEngine.play(x)"])
  func menus(_ passage: String) throws {
    let report = try TweeFixture.story(reading: ":: Start\nDay.\n\n:: Cave\nDark.\n\n\(passage)").check()
    #expect(report.findings.map(\.code) == [.unreachable])
    #expect(report.isSound)
  }
}
