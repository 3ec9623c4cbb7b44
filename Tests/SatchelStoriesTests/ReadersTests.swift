import Foundation
import Satchel
import Testing

@testable import SatchelStories

@Suite("Readers and slots")
struct ReadersTests {
  private static func library(_ fixture: LibraryFixture) throws -> StoryLibrary {
    try fixture.put("well.json", ProgressTests.story(ProgressTests.original))
    try fixture.put("a.json", LibraryFixture.story("a"))
    return try fixture.library()
  }

  private let mia = ReadingSlot(reader: "Mia")
  private let tom = ReadingSlot(reader: "Tom", slot: "2")

  @Test("Each reader and each slot has a progress of its own, with the app's data")
  func apart() throws {
    let fixture = try LibraryFixture()
    var library = try Self.library(fixture)
    try library.move("well", to: "rim")
    try library.move("well", to: "home", in: mia, data: ["coins": 3])
    try library.move("well", to: "meadow", in: tom)
    try library.move("well", to: "oven", in: tom, data: ["key": true])
    try library.move("well", to: "tree", in: tom)
    func check() throws {
      let (own, first, second) = (
        try library.progress(of: "well"), try library.progress(of: "well", in: mia),
        try library.progress(of: "well", in: tom)
      )
      #expect(own.position == "rim" && own.visited == ["rim"] && own.data == .null)
      #expect(first.position == "home" && first.endings == ["home"] && first.data == ["coins": 3])
      #expect(second.position == "tree" && second.visited == ["meadow", "oven", "tree"])
      #expect(second.data == ["key": true] && second.slot == tom)
      #expect(second.json["reader"] == "Tom" && second.json["slot"] == "2")
    }
    try check()
    try fixture.reopen()
    library = try fixture.library()
    try check()
    #expect(try library.progress(of: "well", in: ReadingSlot(reader: "Tom")).position == nil)
    try library.clearProgress(of: "well", in: tom)
    #expect(try library.progress(of: "well", in: tom) == StoryProgress(story: "well", slot: tom))
    #expect(try library.progress(of: "well", in: mia).position == "home" && fixture.satchel.check().isEmpty)
  }

  @Test("Data are stored without a move, kept by one, and removed by null")
  func data() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    #expect(try library.move("well", to: nil, data: ["name": "Ada"]).position == nil)
    #expect(try library.begun().isEmpty)
    #expect(try library.move("well", to: "rim").data == ["name": "Ada"])
    #expect(try library.move("well", to: nil, in: ReadingSlot(), data: [1]).position == "rim")
    #expect(try library.progress(of: "well").data == [1])
    #expect(try library.move("well", to: "home", data: .null).data == .null)
    let large = JSONValue.string(String(repeating: "x", count: 17 << 20))
    #expect(failure { try library.move("well", to: nil, data: large) }?.code == .invalid)
    #expect(failure { try library.move("well", to: nil, in: ReadingSlot(reader: "a\n")) }?.code == .invalid)
    let long = ReadingSlot(slot: String(repeating: "é", count: 33))
    #expect(failure { try library.progress(of: "well", in: long) }?.message.contains("66 bytes") == true)
    let decomposed = ReadingSlot(reader: "e\u{301}")
    try library.move("well", to: "rim", in: decomposed)
    #expect(try library.progress(of: "well", in: ReadingSlot(reader: "\u{E9}")).position == "rim")
  }

  @Test("What was begun is listed, last read first, without endings and without stories that are not there")
  func begun() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    try library.move("well", to: "rim", in: mia)
    try library.move("well", to: "rim", in: tom)
    try library.move("a", to: "s0", in: mia)
    func begun(by reader: String? = nil) throws -> Set<String> {
      let list = try library.begun(by: reader)
      let times = list.map { $0.readAt ?? 0 }
      #expect(times == times.sorted(by: >))
      return Set(list.map { "\($0.story) \($0.slot.reader)" })
    }
    #expect(try begun() == ["well Mia", "well Tom", "a Mia"])
    #expect(try begun(by: "Mia") == ["well Mia", "a Mia"] && begun(by: "").isEmpty)
    try library.move("a", to: "s1", in: mia)
    #expect(try begun(by: "Mia") == ["well Mia"])
    try fixture.remove("well.json")
    try library.refresh()
    #expect(try begun().isEmpty)
    try fixture.satchel.flush()
    try fixture.put("well.json", ProgressTests.story(ProgressTests.original))
    try library.refresh()
    #expect(try begun() == ["well Mia", "well Tom"])
  }

  @Test("A new version moves the positions of all readers")
  func moved() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    for slot in [mia, tom, ReadingSlot()] {
      for segment in ["rim", "meadow", "oven"] { try library.move("well", to: segment, in: slot) }
    }
    try library.move("well", to: "rim", in: tom)
    let newer = ProgressTests.original.map {
      ($0.id == "oven" ? "stove" : $0.id, $0.targets.map { $0 == "oven" ? "stove" : $0 })
    }
    try fixture.put("well.json", ProgressTests.story(newer, texts: ["stove": "This is oven."]))
    let moves = try library.refresh().moved
    #expect(
      moves.map(\.slot) == [ReadingSlot(), mia] && moves.allSatisfy { $0.from == "oven" && $0.to == "stove" })
    #expect(try library.progress(of: "well", in: mia).visited == ["rim", "meadow", "stove"])
    // One goes on in the new version, which does not change how the other one is moved.
    try library.move("well", to: "tree", in: mia)
    #expect(try library.progress(of: "well").position == "stove")
    #expect(try library.progress(of: "well", in: tom).visited == ["rim", "meadow", "stove"])
  }

  @Test("A reader goes on in the language that was read")
  func language() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    func put(_ language: String, _ segments: [(id: String, targets: [String])]) throws {
      let text = #"{"language":"\#(language)","# + ProgressTests.story(segments).dropFirst()
      try fixture.put("\(language).json", text)
    }
    try fixture.remove("well.json")
    try put("de", ProgressTests.original)
    try put("en", ProgressTests.original.filter { $0.id != "home" })
    try library.refresh()
    #expect(failure { try library.move("well", to: "home", language: "en") }?.code == .notFound)
    try library.move("well", to: "home", in: mia, language: "de")
    try library.move("well", to: "meadow", in: tom, language: "en")
    #expect(try library.progress(of: "well", in: mia).language == "de")
    #expect(try library.progress(of: "well", in: tom).language == "en")
    try put("en", ProgressTests.original.filter { $0.id != "meadow" })
    #expect(try library.refresh().moved.map(\.slot) == [tom])
    #expect(try library.progress(of: "well", in: mia).position == "home")
  }
}
