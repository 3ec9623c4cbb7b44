import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("A library refreshes its index")
struct LibraryRefreshTests {
  @Test("A reopened library parses nothing and returns the same", arguments: [Portion.count(2000)])
  func reopen(count: Int) throws {
    let fixture = try LibraryFixture()
    for number in 0..<count {
      try fixture.put("\(number).json", LibraryFixture.story("story-\(number)", segments: 30))
    }
    let first = try fixture.library()
    let before = try first.loadAll()
    #expect(before.stories.count == count && before.problems.isEmpty)
    try fixture.settle()
    try first.refresh()
    try fixture.reopen()
    let library = try fixture.library()
    let refresh = try library.refresh()
    #expect(refresh.parsed == 0 && refresh.read == 0 && refresh.unchanged == count)
    #expect(refresh.added + refresh.changed + refresh.removed == 0)
    #expect(try library.loadAll() == before)
    #expect(try fixture.satchel.check().isEmpty)
  }

  @Test("Statistics and header are stored and read unchanged")
  func facts() throws {
    let fixture = try LibraryFixture(examples: true)
    for _ in 0..<2 {
      let library = try fixture.library()
      #expect(library.directory == fixture.stories.resolvingSymlinksInPath().path)
      for summary in try library.loadAll().stories {
        let story = try library.story(summary.id)
        let (header, statistics) = (story.header.json, story.statistics.json)
        for (key, value) in try #require(header.objectValue) { #expect(summary.json[key] == value) }
        for (key, value) in try #require(statistics.objectValue) { #expect(summary.json[key] == value) }
        let report = story.check()
        #expect((summary.errors, summary.warnings) == (report.errorCount, report.warningCount))
        #expect(summary.file == "\(summary.id).json")
      }
      try fixture.reopen()
    }
  }

  @Test("Touched, changed, removed, renamed and copied files")
  func changes() throws {
    let fixture = try LibraryFixture()
    for id in ["a", "b", "c", "d"] { try fixture.put("\(id).json", LibraryFixture.story(id)) }
    let library = try fixture.library()
    var refresh = try library.refresh()
    #expect((refresh.added, refresh.parsed) == (4, 4))
    try fixture.settle()
    refresh = try library.refresh()
    #expect((refresh.unchanged, refresh.parsed) == (4, 0))
    // The same bytes again: read, not parsed.
    try fixture.put("a.json", LibraryFixture.story("a"))
    // The same size, and even the same time.
    let date = try fixture.url("b.json").resourceValues(forKeys: [.contentModificationDateKey])
      .contentModificationDate
    try fixture.put("b.json", LibraryFixture.story("b", title: "B"))
    try FileManager.default.setAttributes(
      [.modificationDate: try #require(date)], ofItemAtPath: fixture.url("b.json").path)
    try fixture.remove("c.json")
    try FileManager.default.moveItem(at: fixture.url("d.json"), to: fixture.url("e.json"))
    refresh = try library.refresh()
    #expect((refresh.added, refresh.changed, refresh.removed, refresh.unchanged) == (1, 1, 2, 1))
    #expect((refresh.read, refresh.parsed) == (3, 1))
    let stories = try library.loadAll().stories
    #expect(stories.map(\.id) == ["a", "b", "d"] && stories.map(\.file) == ["a.json", "b.json", "e.json"])
    #expect(stories.map(\.title) == ["a", "B", "d"])
    #expect(try library.story("d").header.id == "d" && failure { try library.story("c") }?.code == .notFound)
    #expect(try fixture.satchel.check().isEmpty)
  }

  @Test("A file that is written twice within one tick of its clock is read again")
  func racing() throws {
    let fixture = try LibraryFixture()
    let library = try fixture.library()
    for round in 0..<30 {
      let title = String(format: "%02d", round)
      try fixture.put("a.json", LibraryFixture.story("a", title: title))
      #expect(try library.loadAll().stories.first?.title == title)
    }
  }

  @Test("Only visible files with a story's extension are stories")
  func names() throws {
    let fixture = try LibraryFixture()
    for name in ["a.json", ".hidden.json", "b.txt", "c.json.bak", "json", ".json"] {
      try fixture.put(name, LibraryFixture.story("of-\(name.utf8.count)-\(name.prefix(1))"))
    }
    #expect(try fixture.library().loadAll().stories.map(\.file) == ["a.json"])
  }

  @Test("A bad file does not hide other files")
  func problems() throws {
    let fixture = try LibraryFixture(examples: true)
    try fixture.put("broken.json", "{\"id\": \"broken\",\n  \"title\" 1}")
    try fixture.put("list.json", " [1]")
    try fixture.put("empty.json", "")
    try fixture.put("nameless.json", "{\"title\":\"x\"}")
    try fixture.put("number.json", "{\n\"id\":7}")
    try fixture.put("path.json", LibraryFixture.story("../frau-holle"))
    try FileManager.default.createDirectory(at: fixture.url("folder.json"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: fixture.url("dangling.json"), withDestinationURL: fixture.url("nothing"))
    #expect(mkfifo(fixture.url("pipe.json").path, 0o600) == 0)
    let outside = fixture.folder.appending(path: "secret.json")
    try Data(LibraryFixture.story("secret").utf8).write(to: outside)
    try FileManager.default.createSymbolicLink(at: fixture.url("link.json"), withDestinationURL: outside)
    try fixture.put("z-twin.json", LibraryFixture.story("frau-holle"))
    for _ in 0..<2 {
      let library = try fixture.library()
      let listing = try library.loadAll()
      #expect(listing.stories.count == 5)
      let found = Dictionary(uniqueKeysWithValues: listing.problems.map { ($0.file, $0) })
      #expect(
        found.mapValues(\.code) == [
          "broken.json": .notJSON, "list.json": .notAStory, "empty.json": .notJSON,
          "nameless.json": .missingField, "number.json": .wrongType, "path.json": .invalidID,
          "folder.json": .unreadable, "dangling.json": .unreadable, "pipe.json": .unreadable,
          "link.json": .unreadable, "z-twin.json": .duplicateStory,
        ])
      #expect(found["broken.json"]?.line == 2 && found["broken.json"]?.column == 11)
      #expect(found["number.json"]?.line == 2)
      #expect(found["link.json"]?.message.contains("out of the directory") == true)
      #expect(found["z-twin.json"]?.story == "frau-holle")
      #expect(listing.problems.map(\.file) == listing.problems.map(\.file).sorted())
      try fixture.settle()
      _ = try library.refresh()
      let refresh = try library.refresh()
      #expect((refresh.unchanged, refresh.read, refresh.changed) == (16, 0, 0))
      try fixture.reopen()
    }
    let again = try fixture.library()
    #expect(failure { try again.story("secret") }?.code == .notFound)
    #expect(failure { try again.story("link") }?.code == .invalid)
    // After the first of the duplicates is removed, the other one is the story.
    try fixture.remove("frau-holle.json")
    let stories = try again.loadAll().stories
    #expect(stories.first { $0.id == "frau-holle" }?.file == "z-twin.json")
    #expect(try again.story("frau-holle").segmentCount == 2)
  }

  @Test("A link to a file inside the directory is followed")
  func links() throws {
    let fixture = try LibraryFixture()
    try FileManager.default.createDirectory(at: fixture.url("..data"), withIntermediateDirectories: true)
    try fixture.put("..data/a", LibraryFixture.story("a"))
    try FileManager.default.createSymbolicLink(
      atPath: fixture.url("a.json").path, withDestinationPath: "..data/a")
    let library = try fixture.library()
    #expect(try library.loadAll().stories.map(\.id) == ["a"] && library.story("a").segmentCount == 2)
    try fixture.put("..data/a", LibraryFixture.story("a", segments: 3))
    #expect(try library.story("a").segmentCount == 3)
    #expect(try library.refresh().changed == 1)
  }

  @Test("A file name that is not UTF-8 is reported, and not opened")
  func strangeName() throws {
    let fixture = try LibraryFixture()
    let path = Array(fixture.stories.path.utf8CString.dropLast()) + [0x2F, CChar(bitPattern: 0xFF)]
    let descriptor = creat(path + ".json".utf8CString, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
    let listing = try fixture.library().loadAll()
    #expect(listing.problems.map(\.code) == [.unreadable] && listing.stories.isEmpty)
  }

  @Test("A checked listing omits unsound stories, and reports all their findings")
  func checked() throws {
    let fixture = try LibraryFixture(examples: true)
    try fixture.put("bad.json", LibraryFixture.unsound("bad"))
    let library = try fixture.library()
    #expect(try library.loadAll().stories.count == 6)
    let listing = try library.loadAll(checked: true)
    #expect(listing.stories.count == 5)
    let problem = try #require(listing.problems.first)
    #expect(problem.file == "bad.json" && problem.story == "bad" && listing.problems.count == 1)
    #expect(problem.findings == (try library.story("bad").check().findings))
    #expect(problem.findings.contains { $0.code == problem.code && $0.severity == .error })
    #expect(problem.message.contains("broken-choice"))
  }

  @Test("Invalid directories are rejected", arguments: ["", "a\u{0}b", "/nowhere/at/all", "/etc/passwd"])
  func noDirectory(path: String) throws {
    let fixture = try LibraryFixture()
    let error = try #require(failure { try fixture.satchel.stories(in: path) })
    #expect(error.code == (path == "/nowhere/at/all" ? .notFound : .invalid))
  }

  @Test("A removed directory is an error, and its index stays")
  func gone() throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    try library.refresh()
    let elsewhere = fixture.folder.appending(path: "elsewhere")
    try FileManager.default.moveItem(at: fixture.stories, to: elsewhere)
    #expect(failure { try library.refresh() }?.code == .notFound)
    #expect(try library.select().count == 5)
    try FileManager.default.moveItem(at: elsewhere, to: fixture.stories)
    #expect(try library.refresh().parsed == 0)
  }
}
