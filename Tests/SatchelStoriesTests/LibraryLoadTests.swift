import Foundation
import Satchel
import SatchelCore
import Synchronization
import Testing

@testable import SatchelStories

@Suite("A library loads stories")
struct LibraryLoadTests {
  @Test(
    "Ids are names, never paths",
    arguments: [
      "", ".", "..", "../x", "../secret", "/etc/passwd", "a/../../b", "a\u{0}b", "a/b", "a\\b", ".hidden",
      "\n",
      String(repeating: "x", count: 201), "../../../../../../etc/passwd",
    ])
  func hostile(id: String) throws {
    let fixture = try LibraryFixture()
    try Data(LibraryFixture.story("secret").utf8).write(to: fixture.folder.appending(path: "secret.json"))
    let library = try fixture.library()
    #expect(failure { try library.story(id) }?.code == .invalid)
    #expect(failure { try library.summary(id) }?.code == .invalid)
    #expect(failure { try library.segment("s", of: id) }?.code == .invalid)
    #expect(failure { try library.start(of: id) }?.code == .invalid)
    #expect(failure { try library.markPurchased(id) }?.code == .invalid)
  }

  @Test(
    "Unusual valid ids are not found, and cause no error",
    arguments: ["%2e%2e", "' OR 1=1 --", "x*", "\u{202E}"])
  func odd(id: String) throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    defer { withExtendedLifetime(fixture) {} }
    #expect(failure { try library.story(id) }?.code == .notFound)
  }

  @Test("A story is loaded from the cache while its file is unchanged, else from disk")
  func memory() throws {
    let fixture = try LibraryFixture()
    try fixture.put("a.json", LibraryFixture.story("a"))
    try fixture.settle()
    let library = try fixture.library()
    let first = try library.story("a")
    #expect(try library.story("a") === first && library.cachedBytes > 0)
    try fixture.put("a.json", LibraryFixture.story("a", segments: 5))
    #expect(try library.story("a").segmentCount == 5)
    try library.clearCache()
    #expect(library.cachedBytes == 0)
    #expect(try library.story("a") !== first && first.segmentCount == 2)
    try fixture.remove("a.json")
    #expect(failure { try library.story("a") }?.code == .notFound)
  }

  @Test("A story is found without reading the directory when its file has its name, else by reading it")
  func names() throws {
    let fixture = try LibraryFixture()
    try fixture.put("a.json", LibraryFixture.story("a"))
    try fixture.put("other.json", LibraryFixture.story("b"))
    try fixture.put("c.json", LibraryFixture.story("d"))
    let library = try fixture.library()
    #expect(try library.story("a").header.id == "a")
    #expect(try library.story("b").header.id == "b")
    #expect(failure { try library.story("c") }?.code == .notFound)
    // The story moves to another file.
    try FileManager.default.moveItem(at: fixture.url("other.json"), to: fixture.url("moved.json"))
    #expect(try library.story("b").header.id == "b" && library.summary("b").file == "moved.json")
  }

  @Test("A bad file does not hide a good one, also before the first refresh")
  func hidden() throws {
    let fixture = try LibraryFixture()
    try fixture.put("a.json", "{")
    try fixture.put("a.twee", ":: Start\nThe end.\n")
    try fixture.put("b.json", "no story")
    try fixture.put("other.json", LibraryFixture.story("b"))
    try fixture.put("c.json", "{")
    let library = try fixture.library()
    #expect(try library.story("a").segmentCount == 1)
    #expect(try library.story("b").header.id == "b")
    #expect(failure { try library.story("c") }?.code == .invalid)
  }

  @Test("The id of a Twee story is its file name", arguments: ["tale.twee", "tale.tw"])
  func twee(file: String) throws {
    let fixture = try LibraryFixture()
    let passages = ":: Start\nOn we go. [[On->End]]\n\n:: End\nHome again.\n"
    try fixture.put(file, ":: StoryTitle\nThe Well\n\n" + passages)
    let library = try fixture.library()
    let listing = try library.loadAll()
    #expect(listing.problems.isEmpty)
    #expect(listing.stories.map(\.id) == ["tale"] && listing.stories.map(\.title) == ["The Well"])
    #expect(try library.story("tale").pathCount == .finite(1, isExact: true))
    #expect(try library.start(of: "tale").choices.map(\.id) == ["Start-1"])
  }

  @Test("Segments")
  func segments() throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    defer { withExtendedLifetime(fixture) {} }
    let start = try library.start(of: "frau-holle")
    #expect(try library.segment(start.id, of: "frau-holle") == start)
    #expect(failure { try library.segment("nowhere", of: "frau-holle") }?.code == .notFound)
    #expect(failure { try library.start(of: "nobody") }?.code == .notFound)
  }

  @Test("A load error has cause and location")
  func errors() throws {
    let fixture = try LibraryFixture()
    try fixture.put("broken.json", "{\"id\":\"broken\",\n\"segments\":[}")
    try fixture.put("bad.json", LibraryFixture.unsound("bad"))
    try fixture.put("none.json", LibraryFixture.story("none", segments: 0))
    try FileManager.default.createDirectory(at: fixture.url("folder.json"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: fixture.url("dangling.json"), withDestinationURL: fixture.url("nothing"))
    let library = try fixture.library()
    let broken = try #require(failure { try library.story("broken") })
    #expect(broken.code == .invalid && broken.message.contains("line 2, column 13"))
    #expect(failure { try library.story("folder") }?.code == .io)
    #expect(failure { try library.story("dangling") }?.code == .io)
    #expect(failure { try library.start(of: "none") }?.code == .notFound)
    #expect(try library.story("bad").header.id == "bad")
    for _ in 0..<2 {
      let bad = try #require(failure { try library.story("bad", checked: true) })
      #expect(bad.code == .invalid && bad.message.contains("broken-choice"))
      #expect(bad.message.contains("bad.json") && !bad.message.contains("more"))
    }
  }

  @Test("The error lists the first twenty findings, and the number of others")
  func manyFindings() throws {
    let fixture = try LibraryFixture()
    let text = LibraryFixture.story("many", segments: 200)
      .replacingOccurrences(of: "\"nextSegmentId\":\"s", with: "\"nextSegmentId\":\"x")
    try fixture.put("many.json", text)
    let library = try fixture.library()
    let count = try library.story("many").check().findings.count
    let error = try #require(failure { try library.story("many", checked: true) })
    #expect(count > 100 && error.message.hasSuffix("and \(count - 20) more"))
  }

  @Test("The cache stays within its budget, and evicts the least recently used story first")
  func budget() throws {
    let fixture = try LibraryFixture()
    for number in 0..<20 {
      try fixture.put("\(number).json", LibraryFixture.story("\(number)", segments: 20))
    }
    try fixture.settle()
    let library = try fixture.library()
    let first = try library.story("0")
    let size = library.cachedBytes
    library.cacheBudget = size * 5 + size / 2
    for number in 1..<20 {
      _ = try library.story("\(number)")
      // A story that is used repeatedly stays.
      #expect(try library.story("0") === first)
      #expect(library.cachedBytes <= library.cacheBudget)
    }
    #expect(library.cachedBytes > size * 4)
    library.cacheBudget = size / 2
    #expect(library.cachedBytes == 0)
    #expect(try library.story("0") !== first && library.cachedBytes == 0)
  }

  @Test("Eight threads load a constantly changing file completely", .timeLimit(.minutes(20)))
  func threads() async throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    let ids = try library.loadAll().stories.map(\.id)
    library.cacheBudget = 60_000
    let url = fixture.url("moving.json")
    let versions = (2...9).map { LibraryFixture.story("moving", segments: $0) }
    try Data(versions[0].utf8).write(to: url, options: .atomic)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for round in 0..<60 {
            let id = ids[(round + thread) % ids.count]
            #expect(try library.story(id, checked: true).header.id == id)
            #expect((2...9).contains(try library.story("moving").segmentCount))
            if round % 20 == thread { _ = try library.refresh() }
            if round % 10 == thread { #expect(try library.select().count == 6) }
            if thread == 0 { try Data(versions[round % 8].utf8).write(to: url, options: .atomic) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try fixture.satchel.check().isEmpty)
  }

  @Test("A preload in the background fills the cache", .timeLimit(.minutes(20)))
  func preload() async throws {
    let fixture = try LibraryFixture(examples: true)
    let library = try fixture.library()
    let listing = try await withCheckedThrowingContinuation { continuation in
      do { try library.preload { continuation.resume(with: $0) } } catch {
        continuation.resume(throwing: error)
      }
    }
    #expect(listing.stories.count == 5 && library.cachedBytes > 20_000)
    try library.preload()
  }

  @Test("One story is preloaded, before the rest of all stories", .timeLimit(.minutes(20)))
  func preloadOne() async throws {
    let fixture = try LibraryFixture()
    for number in 0..<200 { try fixture.put("\(number).json", LibraryFixture.story("\(number)")) }
    let library = try fixture.library()
    try library.refresh()
    #expect(try library.loading() == StoryLoading())
    // The library's thread waits until everything is enqueued.
    let gate = DispatchSemaphore(value: 0)
    try library.worker.add { gate.wait() }
    let order = Mutex<[String]>([])
    let story = try await withCheckedThrowingContinuation { continuation in
      do {
        try library.preload { _ in order.withLock { $0.append("all") } }
        try library.preload(story: "199") {
          order.withLock { $0.append("199") }
          continuation.resume(with: $0)
        }
        #expect(try library.loading().all && library.loading().stories == ["199"])
        gate.signal()
      } catch { continuation.resume(throwing: error) }
    }
    #expect(story.header.id == "199" && order.withLock { $0.first } == "199")
    #expect(try library.loading().stories == [])
    let none = try await withCheckedThrowingContinuation { continuation in
      do {
        try library.preload(story: "none") { continuation.resume(returning: $0) }
      } catch { continuation.resume(throwing: error) }
    }
    #expect(failure { try none.get() }?.code == .notFound)
    #expect(failure { try library.preload(story: "../x") }?.code == .invalid)
    library.close()
    #expect(failure { try library.loading() }?.code == .closed)
  }

  @Test("A cancelled preload completes once, and a closed library stays closed", .timeLimit(.minutes(20)))
  func closing() async throws {
    let fixture = try LibraryFixture()
    for number in 0..<300 {
      try fixture.put("\(number).json", LibraryFixture.story("\(number)", segments: 30))
    }
    let library = try fixture.library()
    let (results, continuation) = AsyncStream.makeStream(of: Result<StoryListing, any Error>.self)
    for _ in 0..<3 { try library.preload { continuation.yield($0) } }
    library.close()
    var iterator = results.makeAsyncIterator()
    for _ in 0..<3 {
      let result = try #require(await iterator.next())
      #expect(throws: SatchelError.self) { try result.get() }
    }
    #expect(failure { try library.story("1") }?.code == .closed)
    #expect(failure { try library.select() }?.code == .closed)
    let other = try fixture.library()
    try fixture.satchel.close()
    #expect(failure { try other.refresh() }?.code == .closed)
    #expect(failure { try other.story("1") }?.code == .closed)
  }
}
