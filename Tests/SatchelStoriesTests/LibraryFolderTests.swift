import Foundation
import Satchel
import Testing

@testable import SatchelStories

@Suite("A library with folders and languages")
struct LibraryFolderTests {
  private func folder(_ fixture: LibraryFixture, _ name: String) throws {
    try FileManager.default.createDirectory(at: fixture.url(name), withIntermediateDirectories: true)
  }

  @Test("Files in folders are stories, with the id in the file; hidden folders and node_modules are not read")
  func folders() throws {
    let fixture = try LibraryFixture()
    for name in ["fairy/old", ".hidden", "node_modules", "empty"] { try folder(fixture, name) }
    try fixture.put("a.json", LibraryFixture.story("a"))
    try fixture.put("fairy/b.json", LibraryFixture.story("b"))
    try fixture.put("fairy/old/any.json", LibraryFixture.story("c"))
    try fixture.put("fairy/old/well.twee", ":: Start\nOnce. [[On->End]]\n\n:: End\nOver.")
    try fixture.put(".hidden/d.json", LibraryFixture.story("d"))
    try fixture.put("node_modules/e.json", LibraryFixture.story("e"))
    let library = try fixture.library()
    let listing = try library.loadAll()
    #expect(
      listing.stories.map(\.file) == ["a.json", "fairy/b.json", "fairy/old/any.json", "fairy/old/well.twee"])
    #expect(listing.stories.map(\.id) == ["a", "b", "c", "well"] && listing.problems.isEmpty)
    #expect(try library.story("c").segmentCount == 2 && library.segment("End", of: "well").isEnding)
    #expect(failure { try library.story("fairy/b") }?.code == .invalid)
    try fixture.settle()
    try library.refresh()
    #expect(try library.refresh().read == 0)
    try FileManager.default.moveItem(at: fixture.url("fairy/old"), to: fixture.url("new"))
    let moved = try library.refresh()
    #expect(moved.added == 2 && moved.removed == 2 && moved.parsed == 0)
    #expect(try library.summary("c").file == "new/any.json" && library.story("c").segmentCount == 2)
    #expect(try fixture.satchel.check().isEmpty)
  }

  @Test("Pictures are looked for in the folder of the file")
  func pictures() throws {
    let fixture = try LibraryFixture()
    try folder(fixture, "fairy")
    let story = #"{"image":"a.png","# + LibraryFixture.story("a").dropFirst()
    try fixture.put("fairy/a.json", story)
    let library = try fixture.library()
    #expect(try library.loadAll(checked: true).problems.map(\.code) == [.missingAsset])
    try fixture.put("fairy/a.png", "")
    #expect(try library.loadAll(checked: true).stories.map(\.id) == ["a"])
  }

  @Test("A folder that is a link, or that is replaced by one, is not read")
  func links() throws {
    let fixture = try LibraryFixture()
    let outside = fixture.folder.appending(path: "outside")
    try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
    try fixture.put("../outside/b.json", LibraryFixture.story("b"))
    try folder(fixture, "fairy")
    try fixture.put("fairy/b.json", LibraryFixture.story("b"))
    try FileManager.default.createSymbolicLink(at: fixture.url("link"), withDestinationURL: outside)
    let library = try fixture.library()
    #expect(try library.loadAll().stories.map(\.file) == ["fairy/b.json"])
    try fixture.remove("fairy")
    try FileManager.default.createSymbolicLink(at: fixture.url("fairy"), withDestinationURL: outside)
    #expect(failure { try library.story("b") }?.code == .notFound)
    #expect(try library.loadAll().stories.isEmpty)
  }

  @Test("A store that names a file outside of the directory reads nothing there")
  func outside() throws {
    let fixture = try LibraryFixture()
    try fixture.put("a.json", LibraryFixture.story("a"))
    try fixture.put("../b.json", LibraryFixture.story("a", title: "Secret"))
    let library = try fixture.library()
    try library.refresh()
    try library.database.write { try $0.connection.execute("UPDATE story_file SET name = '../b.json'") }
    #expect(failure { try library.story("a") }?.code == .invalid)
    #expect(try library.loadAll().stories.map(\.title) == ["a"])
  }

  @Test("Files of one story in several languages are its variants; two in one language are not")
  func languages() throws {
    let fixture = try LibraryFixture()
    for name in ["de", "en", "ja"] { try folder(fixture, name) }
    func story(_ language: String, _ title: String) -> String {
      #"{"language":"\#(language)","# + LibraryFixture.story("well", title: title).dropFirst()
    }
    try fixture.put("de/well.json", story("de", "Der Brunnen"))
    try fixture.put("en/well.json", story("en", "The Well"))
    try fixture.put("en/again.json", story("en", "The Other Well"))
    try fixture.put("any.json", LibraryFixture.story("any"))
    let library = try fixture.library()
    let listing = try library.loadAll()
    #expect(listing.stories.map(\.file) == ["any.json", "de/well.json", "en/again.json"])
    #expect(listing.problems.map(\.file) == ["en/well.json"])
    #expect(listing.problems.first?.message.contains("en/again.json") == true)
    #expect(try library.languages() == ["de", "en"])
    #expect(try library.select(StoryQuery(json: ["language": "de"])).map(\.title) == ["Der Brunnen"])
    #expect(try library.story("well").header.title == "Der Brunnen")
    #expect(try library.story("well", language: "en").header.title == "The Other Well")
    #expect(try library.summary("well", language: "en").title == "The Other Well")
    let error = try #require(failure { try library.story("well", language: "ja") })
    #expect(error.code == .notFound && error.message.contains("“ja”"))
    try fixture.remove("en/again.json")
    try fixture.put("ja/well.json", story("ja", "井戸"))
    try library.refresh()
    #expect(try library.story("well", language: "en").header.title == "The Well")
    #expect(try library.story("well", language: "ja").header.title == "井戸")
    #expect(try library.select().count == 4 && fixture.satchel.check().isEmpty)
  }
}

@Suite("Members of the app")
struct ExtraMemberTests {
  private static let text = #"""
    {"price": 3, "id": "a", "segments": [
    {"id": "s", "image": "a.png", "choices": [{"id": "c", "text": "t", "nextSegmentId": "e", "cost": [1, {"x": null}]},
    {"id": "d", "text": "t", "nextSegmentId": "e"}], "mood": "d\u00FCster", "text": "Some words."},
    {"id": "e", "text": "End.", "choices": [], "\u0041b": false}], "sound": {"_asset": {"sha256":
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "size": 0}}, "title": 7}
    """#

  @Test("Members without a property of their own are given as extra, of story, segment and choice")
  func members() throws {
    let story = try Story(Array(Self.text.utf8))
    #expect(story.header.extra.keys == ["price", "sound"] && story.header.extra["price"] == 3)
    let segment = try #require(story.start)
    #expect(JSONValue.object(segment.extra) == ["image": "a.png", "mood": "düster"])
    #expect(segment.choices.map { JSONValue.object($0.extra) } == [["cost": [1, ["x": .null]]], [:]])
    #expect(JSONValue.object(story.segment("e")?.extra ?? [:]) == ["Ab": false])
    #expect(segment.json["choices"]?.arrayValue?.first?["extra"]?["cost"]?.arrayValue?.first == 1)
  }

  @Test("A library lists the members of a story, and counts them among what a listing loads")
  func listed() throws {
    let fixture = try LibraryFixture()
    try fixture.put("a.json", Self.text)
    let large = String(repeating: "x", count: 17 << 20)
    try fixture.put("b.json", #"{"large":"\#(large)","# + LibraryFixture.story("b").dropFirst())
    let listing = try fixture.library().loadAll()
    #expect(listing.stories.map(\.header.extra.keys) == [["price", "sound"]])
    #expect(listing.problems.map(\.code) == [.notAStory])
  }
}
