import Foundation
import Satchel
import Synchronization
import Testing

@testable import SatchelStories

@Suite("Reading progress") struct ProgressTests {
  /// Returns a story of segments that lead to others; those that lead nowhere are endings.
  static func story(_ segments: [(id: String, targets: [String])], texts: [String: String] = [:]) -> String {
    let list = segments.map { segment in
      let choices = segment.targets.map { target in
        "{\"id\":\"\(segment.id)-\(target)\",\"text\":\"to \(target)\",\"nextSegmentId\":\"\(target)\"}"
      }
      let text = texts[segment.id] ?? "This is \(segment.id)."
      return
        "{\"id\":\"\(segment.id)\",\"text\":\"\(text)\",\"isAuthenticPath\":true,"
        + "\"isEnding\":\(choices.isEmpty),\"choices\":[\(choices.joined(separator: ","))]}"
    }
    return """
      {"id":"well","title":"W","author":"A","synopsis":"S","coverImageName":"c","estimatedReadingMinutes":1,\
      "ageRange":"5-8","tags":[],"isPurchased":false,"segments":[\(list.joined(separator: ","))]}
      """
  }

  static let original: [(id: String, targets: [String])] = [
    ("rim", ["meadow", "home"]), ("meadow", ["oven"]), ("oven", ["tree"]), ("tree", ["gate"]), ("gate", []),
    ("home", []),
  ]

  private static func library(_ fixture: LibraryFixture) throws -> StoryLibrary {
    try fixture.put("well.json", story(original))
    return try fixture.library()
  }

  @Test("Position, visited segments and endings are kept, across reopening and without the file")
  func kept() throws {
    let fixture = try LibraryFixture()
    var library = try Self.library(fixture)
    #expect(try library.progress(of: "well") == library.progress(of: "well"))
    #expect(try library.progress(of: "well").position == nil)
    for segment in ["rim", "home", "rim", "meadow"] { try library.move("well", to: segment) }
    let progress = try library.progress(of: "well")
    #expect(progress.position == "meadow" && progress.visited == ["rim", "home", "meadow"])
    #expect(progress.endings == ["home"] && progress.readAt != nil && progress.movedFrom == nil)
    try fixture.reopen()
    library = try fixture.library()
    #expect(try library.progress(of: "well") == progress)
    try fixture.remove("well.json")
    try library.refresh()
    #expect(try library.progress(of: "well") == progress)
    #expect(try fixture.satchel.check().isEmpty)
    try library.clearProgress(of: "well")
    #expect(try library.progress(of: "well").visited == [])
    #expect(try fixture.satchel.check().isEmpty)
  }

  @Test("A segment or a story that does not exist changes nothing")
  func refused() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    try library.move("well", to: "rim")
    try fixture.satchel.flush()
    #expect(failure { try library.move("well", to: "moon") }?.code == .notFound)
    #expect(failure { try library.move("none", to: "rim") }?.code == .notFound)
    #expect(failure { try library.move("../well", to: "rim") }?.code == .invalid)
    #expect(failure { try library.progress(of: "../well") }?.code == .invalid)
    #expect(try library.progress(of: "none").position == nil)
    #expect(try library.progress(of: "well").visited == ["rim"])
    let other = try fixture.another(readOnly: true).stories(in: fixture.stories.path)
    #expect(try other.progress(of: "well").position == "rim")
    #expect(failure { try other.move("well", to: "home") }?.code == .readOnly)
  }

  struct Version: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var position: String
    var segments: [(id: String, targets: [String])]
    var texts: [String: String] = [:]
    var expected: String
    var reason: StoryProgress.Reason?
  }

  static let versions: [Version] = [
    Version(
      testDescription: "nothing that concerns it", position: "tree",
      segments: original + [("extra", [])], expected: "tree"),
    Version(
      testDescription: "renamed, with the same text", position: "tree",
      segments: [
        ("rim", ["meadow", "home"]), ("meadow", ["oven"]), ("oven", ["apples"]), ("apples", ["gate"]),
        ("gate", []), ("home", []),
      ], texts: ["apples": "This is tree."], expected: "apples", reason: .removed),
    Version(
      testDescription: "removed, the segment before it remains", position: "tree",
      segments: [
        ("rim", ["meadow", "home"]), ("meadow", ["oven"]), ("oven", ["gate"]), ("gate", []), ("home", []),
      ], expected: "oven", reason: .removed),
    Version(
      testDescription: "removed with the two before it", position: "tree",
      segments: [("rim", ["gate", "home"]), ("gate", []), ("home", [])], expected: "rim", reason: .removed),
    Version(
      testDescription: "no longer reachable", position: "tree",
      segments: [
        ("rim", ["meadow", "home"]), ("meadow", ["oven"]), ("oven", ["gate"]), ("tree", ["gate"]),
        ("gate", []),
        ("home", []),
      ], expected: "oven", reason: .unreachable),
    Version(
      testDescription: "a trap, and so is the segment before it", position: "tree",
      segments: [
        ("rim", ["meadow", "home"]), ("meadow", ["oven", "home"]), ("oven", ["tree"]), ("tree", ["oven"]),
        ("home", []),
      ], expected: "meadow", reason: .trap),
    Version(
      testDescription: "another story", position: "tree", segments: [("a", ["b"]), ("b", [])], expected: "a",
      reason: .removed),
    Version(
      testDescription: "a story without an ending", position: "tree",
      segments: [("rim", ["tree"]), ("tree", ["rim"])], expected: "tree"),
  ]

  @Test("A position that a new version breaks is moved, and the host is notified", arguments: versions)
  func moved(_ version: Version) throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    for segment in ["rim", "meadow", "oven", version.position] { try library.move("well", to: segment) }
    let heard = Mutex<[String]>([])
    let observation = try fixture.satchel.observe { change in heard.withLock { $0 += change.stories } }
    try fixture.put("well.json", Self.story(version.segments, texts: version.texts))
    let moves = try library.refresh().moved
    let progress = try library.progress(of: "well")
    observation.cancel()
    #expect(progress.position == version.expected)
    #expect(progress.movedReason == version.reason)
    #expect(progress.movedFrom == (version.reason == nil ? nil : version.position))
    #expect(moves.map(\.to) == (version.reason == nil ? [] : [version.expected]))
    #expect(heard.withLock { $0.contains("well") })
    #expect(try library.refresh().moved == [])
    #expect(try fixture.satchel.check().isEmpty)
    if version.testDescription.hasPrefix("renamed") {
      #expect(progress.visited == ["rim", "meadow", "oven", "apples"])
    }
    // The reader goes on: then the position is the reader's own.
    #expect(try library.move("well", to: version.expected).movedFrom == nil)
  }

  @Test("Two libraries with one name and two versions of a story have the position in their own version")
  func late() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    for segment in ["rim", "meadow", "oven"] { try library.move("well", to: segment) }
    let elsewhere = fixture.folder.appending(path: "copy")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
    try Data(Self.story([("rim", ["home"]), ("home", [])]).utf8).write(
      to: elsewhere.appending(path: "well.json"))
    let other = try fixture.satchel.stories(in: elsewhere.path, named: library.name)
    #expect(try other.refresh().moved.map(\.to) == ["rim"])
    let progress = try other.progress(of: "well")
    #expect(progress.position == "rim" && progress.movedFrom == "oven" && progress.movedReason == .removed)
    // The file of the first library has not changed.
    #expect(try library.progress(of: "well").position == "oven")
    #expect(try fixture.satchel.stories(in: elsewhere.path).progress(of: "well").position == nil)
  }

  @Test("Twee whose macros may lead anywhere breaks no position that still exists")
  func uncertain() throws {
    let fixture = try LibraryFixture()
    let data = ":: StoryData\n{\"format\": \"SugarCube\"}\n\n"
    try fixture.put("well.twee", data + ":: Start\n[[Cave]]\n\n:: Cave\nDark.")
    let library = try fixture.library()
    try library.move("well", to: "Cave")
    try fixture.put("well.twee", data + ":: Start\n<<goto $next>>\n\n:: Cave\nDark.")
    #expect(try library.refresh().moved == [] && library.progress(of: "well").position == "Cave")
    try fixture.put("well.twee", data + ":: Start\n<<goto $next>>")
    #expect(try library.refresh().moved.map(\.to) == ["Start"])
  }

  @Test("A segment that becomes an ending counts as one from the next visit on, at its place")
  func becomesEnding() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    for segment in ["rim", "meadow", "oven"] { try library.move("well", to: segment) }
    try fixture.put("well.json", Self.story([("rim", ["meadow"]), ("meadow", [])]))
    try library.refresh()
    #expect(try library.progress(of: "well").endings == ["meadow"])
    try library.move("well", to: "meadow")
    let progress = try library.progress(of: "well")
    #expect(progress.visited == ["rim", "meadow", "oven"] && progress.endings == ["meadow"])
  }

  @Test("Members of a newer version are kept, and what is no progress counts as not begun")
  func unknownMembers() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    let state = library.readerState
    try library.move("well", to: "rim")
    var members = try #require(try state.value(StoredProgress.position, of: "well")?.value.objectValue)
    members["data"] = ["lamp": true]
    try state.set(StoredProgress.position, of: "well", to: .object(members))
    try state.list(StoredProgress.visited, of: "well").push(["segment": "home", "ending": true, "mood": 1])
    let progress = try library.move("well", to: "home")
    #expect(progress.visited == ["rim", "home"] && progress.endings == ["home"])
    #expect(try state.value(StoredProgress.position, of: "well")?.value["data"] == ["lamp": true])
    #expect(try state.list(StoredProgress.visited, of: "well").items().count == 2)
    for value: JSONValue in [1, "rim", ["position": 7], ["version": "x"], .null] {
      try state.set(StoredProgress.position, of: "well", to: value)
      #expect(try library.progress(of: "well") == StoryProgress(story: "well"))
      #expect(try library.refresh().moved == [])
    }
    try state.list(StoredProgress.visited, of: "well").push("gate")
    try state.set(StoredProgress.outline, of: "well", to: ["segments": 7])
    try state.set("purchased", of: "well", to: "yes")
    #expect(try library.move("well", to: "gate").visited == ["rim", "home", "gate"])
    #expect(try !library.summary("well").isPurchased)
    #expect(try fixture.satchel.check().isEmpty)
  }

  @Test("A damaged outline gives no comparison: only a position that is gone is moved, to the start")
  func damagedOutline() throws {
    let fixture = try LibraryFixture()
    let library = try Self.library(fixture)
    for segment in ["rim", "meadow", "oven", "tree"] { try library.move("well", to: segment) }
    try library.readerState.set(StoredProgress.outline, of: "well", to: ["segments": [1, ["id": 2]]])
    try fixture.put("well.json", Self.story([("rim", ["meadow"]), ("meadow", []), ("tree", [])]))
    #expect(try library.refresh().moved == [] && library.progress(of: "well").position == "tree")
    try fixture.put("well.json", Self.story([("rim", ["meadow"]), ("meadow", [])]))
    #expect(try library.refresh().moved.map(\.to) == ["rim"])
  }

  @Test("A recovered store has the search index and the progress")
  func recovered() throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    let start = try library.start(of: "frau-holle").id
    try library.move("frau-holle", to: start)
    try fixture.satchel.close()
    let path = fixture.folder.appending(path: "recovered.satchel").path
    let report = try Store.recover(fixture.store, into: path)
    #expect(report.findings.isEmpty)
    let store = try Store(path: path)
    let copy = try store.stories(in: fixture.stories.path)
    var query = StoryQuery()
    query.search = "holle"
    #expect(try copy.select(query).map(\.id) == ["frau-holle"])
    #expect(try copy.progress(of: "frau-holle").position == start)
    #expect(try store.check().isEmpty)
    try store.close()
  }
}
