import Foundation
import Satchel
import SatchelJSON
import Testing

@Suite("A byte-order mark is accepted, and reported") struct ByteOrderMarkTests {
  static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  static let texts: [(name: String, text: String)] = [
    ("a.json", LibraryFixture.story("a")), ("a.twee", ":: Start\n[[On]]\n\n:: On\nOver."),
  ]
  static let unsound = [LibraryFixture.unsound("a"), ":: Start\n[[On]] [[Nowhere]]\n\n:: On\nOver."]

  @Test("Findings and texts are those of the text after it", arguments: texts.map(\.text) + unsound)
  func sameFindings(_ string: String) throws {
    let text = Array(string.utf8)
    let (one, other) = (try Story(text), try Story(Self.mark + text))
    let findings = other.check().findings
    #expect(findings.first?.code == .byteOrderMark && findings.first?.severity == .warning)
    #expect(findings.first?.position.line == 1 && findings.first?.position.column == 1)
    #expect(Array(findings.dropFirst()) == one.check().findings)
    #expect(other.text == text && other.json == one.json)
    #expect(try StoryReport.check(Self.mark + text).warningCount == one.check().warningCount + 1)
  }

  @Test("The position of an error is the same", arguments: ["{", "[1]", "{\"segments\": [}", "{} {}"])
  func errors(_ text: String) throws {
    let (one, other) = (
      failure { try Story(Array(text.utf8)) }, failure { try Story(Self.mark + Array(text.utf8)) }
    )
    #expect(one != nil && one?.message == other?.message)
    #expect(failure { try Story(Self.mark) }?.code == .invalid)
  }

  @Test("A library has the story, and finds it unchanged")
  func library() throws {
    let fixture = try LibraryFixture()
    for (name, text) in Self.texts {
      try Data(Self.mark + Array(text.utf8)).write(to: fixture.url("b-\(name)"))
    }
    try fixture.put("c.json", "\u{FEFF}[1]")
    let library = try fixture.library()
    let listing = try library.loadAll(checked: true)
    #expect(listing.stories.map(\.id) == ["a", "b-a"] && listing.stories.allSatisfy { $0.warnings > 0 })
    #expect(listing.problems.map(\.code) == [.notAStory])
    #expect(try library.story("a").text.first == UInt8(ascii: "{"))
    #expect(try library.refresh().parsed == 0)
  }
}
