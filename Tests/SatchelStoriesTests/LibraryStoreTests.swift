import Foundation
import Satchel
import Synchronization
import Testing

@testable import SatchelStories

@Suite("A library and its store")
struct LibraryStoreTests {
  @Test("Purchases persist when files are moved or removed, and take precedence over the file")
  func purchases() throws {
    let fixture = try LibraryFixture(examples: true)
    try fixture.put("sold.json", LibraryFixture.story("sold", purchased: true))
    var library = try fixture.library()
    #expect(try library.summary("sold").isPurchased && !library.summary("frau-holle").isPurchased)
    try library.markPurchased("frau-holle")
    try library.markPurchased("sold", false)
    try library.markPurchased("not-here-yet")
    try fixture.reopen()
    let elsewhere = fixture.folder.appending(path: "elsewhere")
    try FileManager.default.moveItem(at: fixture.stories, to: elsewhere)
    library = try fixture.satchel.stories(in: elsewhere.path, named: "stories")
    var query = StoryQuery()
    query.isPurchased = true
    #expect(try library.select(query).map(\.id) == ["frau-holle", "the-fisherman-and-the-jinni"])
    let file = elsewhere.appending(path: "frau-holle.json")
    let bytes = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    #expect(try library.loadAll().stories.count == 5 && library.select(query).count == 1)
    try bytes.write(to: elsewhere.appending(path: "again.json"))
    try Data(LibraryFixture.story("not-here-yet").utf8).write(to: elsewhere.appending(path: "new.json"))
    let purchased = try library.loadAll().stories.filter(\.isPurchased).map(\.id)
    #expect(Set(purchased) == ["frau-holle", "not-here-yet", "the-fisherman-and-the-jinni"])
    #expect(try library.select(query).allSatisfy(\.isPurchased))
  }

  @Test("Observers are notified of added, changed and removed stories, of purchases, and of nothing else")
  func observers() throws {
    let fixture = try LibraryFixture()
    let received = Mutex<[Change]>([])
    let observation = try fixture.satchel.observe { change in received.withLock { $0.append(change) } }
    func news() -> [[String]] {
      received.withLock { received in
        defer { received = [] }
        #expect(received.allSatisfy { $0.subject == .stories && $0.isOwn })
        return received.map(\.keys)
      }
    }
    let library = try fixture.library()
    try library.refresh()
    #expect(news() == [])
    for id in ["b", "a"] { try fixture.put("\(id).json", LibraryFixture.story(id)) }
    try library.refresh()
    #expect(news() == [["a", "b"]])
    try library.refresh()
    #expect(news() == [])
    try fixture.put("a.json", LibraryFixture.story("a"))
    try library.refresh()
    #expect(news() == [])
    try fixture.put("a.json", LibraryFixture.story("c"))
    try fixture.remove("b.json")
    try library.refresh()
    #expect(news() == [["a", "b", "c"]])
    try library.markPurchased("c")
    try library.markPurchased("c")
    try library.markPurchased("c", false)
    #expect(news() == [["c"], ["c"]])
    observation.cancel()
  }

  @Test("Two handles on one store agree")
  func handles() throws {
    let fixture = try LibraryFixture(examples: true)
    let other = try fixture.another()
    let (one, two) = (try fixture.library(), try other.stories(in: fixture.stories.path))
    #expect(try one.refresh().parsed == 5)
    try fixture.settle()
    #expect(try two.refresh().parsed == 0 && two.select().count == 5)
    try one.markPurchased("frau-holle")
    #expect(try two.summary("frau-holle").isPurchased)
    try fixture.put("a.json", LibraryFixture.story("a"))
    try two.refresh()
    #expect(try one.select().count == 6 && one.summary("a").file == "a.json")
    try fixture.remove("a.json")
    try one.refresh()
    #expect(failure { try two.summary("a") }?.code == .notFound)
    try other.close()
  }

  @Test("Two handles that refresh the same files concurrently write each once", .timeLimit(.minutes(20)))
  func together() async throws {
    let fixture = try LibraryFixture()
    for number in 0..<200 { try fixture.put("\(number).json", LibraryFixture.story("\(number)")) }
    let other = try fixture.another()
    let (one, two) = (try fixture.library(), try other.stories(in: fixture.stories.path))
    async let first = Task.detached { try one.refresh() }.value
    async let second = Task.detached { try two.refresh() }.value
    let (left, right) = try await (first, second)
    #expect(left.added + right.added == 200 && left.changed + right.changed == 0)
    #expect(try one.select().count == 200 && two.select().count == 200)
    #expect(try fixture.satchel.check().isEmpty)
    try other.close()
  }

  @Test("Eight threads that load everything at once parse each file once", .timeLimit(.minutes(20)))
  func threads() async throws {
    let fixture = try LibraryFixture()
    for number in 0..<100 { try fixture.put("\(number).json", LibraryFixture.story("\(number)")) }
    let library = try fixture.library()
    let parsed = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let parsed = try library.refresh().parsed
          #expect(try library.loadAll().stories.count == 100)
          return parsed
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(parsed == 100)
  }

  @Test("A read-only store is used as far as possible, and the rest is kept in memory")
  func readOnly() throws {
    let fixture = try LibraryFixture(examples: true)
    let writer = try fixture.library()
    try writer.refresh()
    try fixture.settle()
    try writer.refresh()
    try writer.markPurchased("frau-holle")
    let reader = try fixture.another(readOnly: true)
    let library = try reader.stories(in: fixture.stories.path)
    #expect(try library.refresh().parsed == 0)
    #expect(try library.summary("frau-holle").isPurchased && library.tags() == writer.tags())
    #expect(failure { try library.markPurchased("urashima-taro") }?.code == .readOnly)
    try fixture.put("a.json", LibraryFixture.story("a", title: "Wolf"))
    #expect(try library.refresh().added == 1)
    var query = StoryQuery()
    query.search = "wolf"
    #expect(try library.select(query).map(\.id) == ["a"] && library.story("a").segmentCount == 2)
    #expect(try writer.select(query).isEmpty)
    try writer.markPurchased("a")
    #expect(try library.summary("a").isPurchased)
    #expect(try reader.check().isEmpty)
    try reader.close()
    #expect(failure { try library.select() }?.code == .closed)
  }

  @Test("A store in memory")
  func memory() throws {
    let fixture = try LibraryFixture(examples: true)
    let satchel = try Store(path: ":memory:")
    let library = try satchel.stories(in: fixture.stories.path)
    for number in 0..<50 { try fixture.put("\(number).json", LibraryFixture.story("\(number)")) }
    #expect(try library.loadAll().stories.count == 55)
    try library.markPurchased("1")
    #expect(try library.summary("1").isPurchased && satchel.check().isEmpty)
  }

  @Test("Two directories of one store do not mix")
  func directories() throws {
    let fixture = try LibraryFixture(examples: true)
    let below = fixture.folder.appending(path: "below")
    try FileManager.default.createDirectory(at: below, withIntermediateDirectories: true)
    try fixture.put(
      "../below/frau-holle.json", LibraryFixture.story("frau-holle", title: "Other", tags: ["short"]))
    let (one, two) = (try fixture.library(), try fixture.satchel.stories(in: below.path + "/../below/"))
    #expect(try one.select().count == 5 && two.select().count == 1)
    var query = StoryQuery()
    query.search = "frau"
    #expect(try one.select(query).count == 1 && two.select(query).isEmpty)
    #expect(try two.tags() == ["short"] && !one.tags().contains("short"))
    #expect(try one.story("frau-holle").segmentCount > 2 && two.story("frau-holle").segmentCount == 2)
  }

  @Test("Files that an older version checked are checked again")
  func checker() throws {
    let fixture = try LibraryFixture(examples: true)
    try fixture.library().refresh()
    try fixture.settle()
    try fixture.library().refresh()
    let library = try fixture.library()
    try library.database.write { transaction in
      try transaction.connection.run("UPDATE story_file SET checker = checker - 1")
    }
    #expect(try library.refresh().parsed == 5 && library.refresh().parsed == 0)
  }

  @Test(
    "A check finds inconsistent rows",
    arguments: [
      ("INSERT INTO story_facet VALUES(1, 1, 'x', 99)", ["story_facet"]),
      ("UPDATE story_file SET culture = 'Other' WHERE name = 'frau-holle.json'", ["story_facet"]),
      ("UPDATE story_file SET is_listed = 0 WHERE name = 'frau-holle.json'", ["story_file"]),
      (
        "UPDATE story_file SET library = 99 WHERE name = 'frau-holle.json'",
        ["orphaned_story_file", "story_facet"]
      ),
      ("UPDATE story_file SET sha256 = x'00' WHERE name = 'frau-holle.json'", ["story_file"]),
      ("INSERT INTO story_search(rowid, title, synopsis) VALUES(99, 'ghost', '')", ["story_search"]),
      ("DELETE FROM story_search WHERE rowid = (SELECT min(id) FROM story_file)", ["story_search"]),
      ("UPDATE story_file SET title = 'Other' WHERE name = 'frau-holle.json'", ["story_search"]),
    ])
  func check(sql: String, codes: [String]) throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    try library.refresh()
    #expect(try fixture.satchel.check().isEmpty)
    try library.database.write { try $0.connection.execute(sql) }
    #expect(try fixture.satchel.check().map(\.code) == codes)
  }

  @Test("A failed refresh leaves memory and store unchanged")
  func undone() throws {
    struct Stop: Error {}
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    #expect(throws: Stop.self) {
      try library.database.write { _ in
        #expect(try library.loadAll().stories.count == 5 && library.select().count == 5)
        throw Stop()
      }
    }
    #expect(try fixture.another().stories(in: fixture.stories.path).index.story("frau-holle") == nil)
    #expect(try library.select().isEmpty && library.refresh().parsed == 5)
  }

  @Test("The error names FTS5 when SQLite lacks it")
  func withoutSearch() {
    let error = failure {
      try StorySearch.index.naming {
        throw SatchelError(.internal, "running “CREATE…”: no such module: fts5 (SQLite 1)")
      }
    }
    #expect(error?.message.contains("built without FTS5") == true)
  }
}
