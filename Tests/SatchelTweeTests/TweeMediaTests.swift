import Foundation
import SatchelTesting
import Testing

@testable import SatchelStories
@testable import SatchelTwee

@Suite("A passage names pictures, sounds and films")
struct TweeMediaTests {
  /// The paths in the body of a passage.
  private static func paths(_ body: String, _ format: String? = nil) throws -> [String] {
    let story = try TweeFixture.story(reading: TweeFixture.story(body, format: format))
    return withExtendedLifetime(story) {
      let table = story.analysis.table
      return table.namedFiles.map { table.text.string($0.path) }
    }
  }

  @Test(
    "in the tags of HTML",
    arguments: [
      (#"<img src="a.png">"#, ["a.png"]), (#"<IMG alt='x' SRC='pics/a b.png' />"#, ["pics/a b.png"]),
      ("<img src=a.png>", ["a.png"]), ("<img\n  class=\"x\"\n  src = \"a.png\"\n>", ["a.png"]),
      (#"<audio controls src="a.ogg"></audio>"#, ["a.ogg"]),
      (#"<video poster="p.jpg"><source src="a.mp4" type="video/mp4"></video>"#, ["p.jpg", "a.mp4"]),
      (#"<img src="a%20b.png?v=2#x">"#, ["a b.png"]), (#"<img src="a%2.png">"#, ["a%2.png"]),
      (#"<img src="https://example.org/a%20b.png?v=2">"#, ["https://example.org/a%20b.png?v=2"]),
      (#"<p>[[On->Cave]]<img src="a.png"></p>"#, ["a.png"]),
    ])
  func tags(body: String, expected: [String]) throws {
    for format in [nil, "SugarCube", "Harlowe", "Chapbook", "Snowman"] {
      #expect(try Self.paths(body, format) == expected, "\(format ?? "")")
    }
  }

  @Test(
    "and nowhere else",
    arguments: [
      #"<img @src="$pic">"#, #"<img src="$pic">"#, #"<img src="<%= pic %>">"#, #"<img data-src="a.png">"#,
      #"<a href="a.png">"#, "<!-- <img src=\"a.png\"> -->", "<img src=\"\">", "<img>", "<img src",
      "<imgs src=a.png>",
      "<img src=\"Cave\">", "src=\"a.png\"",
    ])
  func others(body: String) throws {
    for format in [nil, "SugarCube", "Snowman"] { #expect(try Self.paths(body, format).isEmpty) }
  }

  @Test(
    "in SugarCube's images",
    arguments: [
      ("[img[a.png]]", ["a.png"]), ("[img[A well|a.png][Cave]]", ["a.png"]),
      ("[<img[a.png][Cave][$x to 1]]", ["a.png"]),
      ("<<link [img[a.png][Cave]]>><</link>>", ["a.png"]), ("[img[$pic]]", []), ("[img[Cave]]", []),
      ("[img[a.png", []),
    ])
  func images(body: String, expected: [String]) throws {
    #expect(try Self.paths(body, "SugarCube") == expected)
  }

  @Test("A file that is not beside the story is a warning, in the file that names it")
  func missing() throws {
    let place = try TemporaryDirectory()
    let start = ":: StoryData\n{\"ifid\": \"1\"}\n\n:: Start\nA <img src=\"pics/a.png\"> [[Cave]]\n"
    let cave = ":: Cave\nDark. <img src=\"pics/b.png\"><img src=\"pics/b%2Epng\">\n"
    for (name, text) in [("start.twee", start), ("z.twee", cave)] {
      try Data(text.utf8).write(to: place.url.appending(path: name))
    }
    let pictures = place.url.appending(path: "pics")
    try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: false)
    try Data().write(to: pictures.appending(path: "A.png"))
    let report = try Story(contentsOf: place.url.path).check()
    #expect(report.isSound)
    #expect(
      report.findings.map { $0.text(name: "") } == [
        #"start.twee:5:13: warning: text of segment "Start" names "pics/a.png", which does not exist; did you mean "#
          + #""pics/A.png"? [missing-asset]"#,
        #"z.twee:2:17: warning: text of segment "Cave" names "pics/b.png", which does not exist [missing-asset]"#,
        #"z.twee:2:39: warning: text of segment "Cave" names "pics/b.png", which does not exist [missing-asset]"#,
      ])
    #expect(report.findings.map(\.pointer) == ["/segments/0/text", "/segments/1/text", "/segments/1/text"])
    // A single file, from its path.
    let single = try Story(contentsOf: place.url.appending(path: "z.twee").path).check()
    #expect(single.findings.count { $0.code == .missingAsset } == 2)
    #expect(try Story(Array(cave.utf8)).check().findings.allSatisfy { $0.code != .missingAsset })
  }
}
