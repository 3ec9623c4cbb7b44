import Observation
import Satchel
import SatchelTesting
import Synchronization
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Live queries")
struct LiveQueryTests {
  private struct Task: Codable, Equatable, Sendable {
    var title: String
    var isDone = false
  }

  private let directory: TemporaryDirectory
  private let store: Store
  private let tasks: RecordCollection
  private let open = RecordQuery(.field("isDone", .equals(false)), order: [.init("title")])

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(path: directory.path + "/tasks.satchel")
    tasks = try store.records(CollectionDeclaration("tasks"))
  }

  @Test("a stream begins with the current result, and follows commits", .timeLimit(.minutes(20)))
  func stream() async throws {
    try tasks.put("a", Task(title: "Alpha"))
    var results = try tasks.watch(open, as: Task.self).makeAsyncIterator()
    #expect(try await results.next()?.map(\.id) == ["a"])
    try tasks.put("b", Task(title: "Beta"))
    #expect(try await results.next()?.map(\.id) == ["a", "b"])
    try tasks.put("a", Task(title: "Alpha", isDone: true))
    #expect(try await results.next()?.map(\.title) == ["Beta"])
  }

  @Test("commits of another handle are reported", .timeLimit(.minutes(20)))
  func otherHandle() async throws {
    var results = try tasks.watch(open).makeAsyncIterator()
    #expect(try await results.next()?.isEmpty == true)
    let other = try Store(path: directory.path + "/tasks.satchel")
    try other.records(CollectionDeclaration("tasks")).put("a", Task(title: "Alpha"))
    #expect(try await results.next()?.map(\.id) == ["a"])
  }

  @Test("groups, hits of a search and what is near are followed like records", .timeLimit(.minutes(20)))
  func answers() async throws {
    let cafes = try store.records("cafes", search: ["name"], positions: ["at"])
    func put(_ id: String, _ name: String, _ latitude: Double) throws {
      try cafes.put(
        id,
        ["name": .string(name), "kind": "bar", "at": ["lat": .double(latitude), "lon": 8.5]] as JSONValue)
    }
    try put("a", "Odeon", 47.5)
    var groups = try cafes.watch(groups: [], groupBy: ["kind"]).makeAsyncIterator()
    var hits = try cafes.watch(search: "ode").makeAsyncIterator()
    var nearby = try cafes.watch(latitude: 47.5, longitude: 8.5, within: 100).makeAsyncIterator()
    #expect(try await groups.next()?.map(\.count) == [1])
    #expect(try await hits.next()?.map(\.excerpt) == ["Odeon"])
    #expect(try await nearby.next()?.map(\.record.id) == ["a"])
    try put("b", "Odessa", 47.5)
    #expect(try await groups.next()?.map(\.count) == [2])
    #expect(try await hits.next()?.count == 2)
    #expect(try await nearby.next()?.map(\.record.id) == ["a", "b"])
    try put("b", "Venus", 48)
    #expect(try await hits.next()?.map(\.record.id) == ["a"])
    #expect(try await nearby.next()?.count == 1)
    #expect(throws: SatchelError.self) { _ = try tasks.watch(search: "a") }
    #expect(throws: SatchelError.self) { _ = try cafes.watch(groups: [], groupBy: ["kind[*]"]) }
    #expect(throws: SatchelError.self) { _ = try cafes.watch(latitude: 91, longitude: 0, within: 1) }
  }

  @Test("equal questions are evaluated once, other ones each", .timeLimit(.minutes(20)))
  func sharedAnswers() throws {
    let (first, second, other) = (Locked(0), Locked(0), Locked(0))
    func follow(_ count: Locked<Int>, _ path: String) throws -> LiveQuery {
      try tasks.watch(groups: [], groupBy: [path]) { _ in count.withLock { $0 += 1 } }
    }
    let live = [try follow(first, "isDone"), try follow(second, "isDone"), try follow(other, "title")]
    defer { for each in live { each.cancel() } }
    while [first, second, other].contains(where: { $0.withLock { $0 } == 0 }) { usleep(1000) }
    try tasks.put("a", Task(title: "Alpha"))
    while [first, second, other].contains(where: { $0.withLock { $0 } < 2 }) { usleep(1000) }
  }

  @Test("a commit that does not change the result is not reported", .timeLimit(.minutes(20)))
  func sameResult() async throws {
    var results = try tasks.watch(open).makeAsyncIterator()
    #expect(try await results.next()?.isEmpty == true)
    try tasks.put("done", Task(title: "Done", isDone: true))
    let others = try store.records(CollectionDeclaration("others"))
    try others.put("a", Task(title: "Alpha"))
    // Long enough for the query to have run: a further query sees the commits.
    var all = try tasks.watch().makeAsyncIterator()
    #expect(try await all.next()?.count == 1)
    try tasks.put("a", Task(title: "Alpha"))
    #expect(try await results.next()?.map(\.id) == ["a"])
  }

  @Test("of commits in quick succession the last one is always reported", .timeLimit(.minutes(20)))
  func manyCommits() async throws {
    let counts = Mutex<[Int]>([])
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let live = try tasks.watch { result in
      let count = (try? result.get().records.count) ?? -1
      counts.withLock { $0.append(count) }
      if count == 500 { end.finish() }
    }
    defer { live.cancel() }
    let start = Clock.monotonic.now()
    for number in 0..<500 { try tasks.put("\(number)", Task(title: "\(number)")) }
    for await _ in ends {}
    let milliseconds = Clock.monotonic.now() - start
    let seen = counts.withLock { $0 }
    #expect(seen.last == 500 && seen == seen.sorted())
    // The first result, and one in 100 ms: slower machines take longer, and so see more.
    #expect(Int64(seen.count) <= 2 + milliseconds / 100)
  }

  @Test("a result says what was inserted, removed, moved and changed", .timeLimit(.minutes(20)))
  func changes() async throws {
    let (results, report) = AsyncStream.makeStream(of: LiveResult.self)
    let byTitle = RecordQuery(order: [.init("title")])
    let live = try tasks.watch(byTitle) { if case .success(let result) = $0 { report.yield(result) } }
    defer { live.cancel() }
    var iterator = results.makeAsyncIterator()
    func next() async -> (ids: [String], changes: RecordChanges)? {
      await iterator.next().map { ($0.records.map(\.id), $0.changes) }
    }
    #expect(try #require(await next()).ids.isEmpty)
    func expect(_ ids: [String], _ edit: (inout RecordChanges) -> Void) async throws {
      var changes = RecordChanges()
      edit(&changes)
      let found = try #require(await next())
      #expect(found.ids == ids && found.changes == changes)
    }
    try store.batch { for (number, id) in ["a", "b", "c", "d"].enumerated() { try put(id, number) } }
    try await expect(["a", "b", "c", "d"]) { $0.inserted = ["a", "b", "c", "d"] }
    try put("b", 1, isDone: true)
    try await expect(["a", "b", "c", "d"]) { $0.changed = ["b"] }
    try put("a", 9)
    try await expect(["b", "c", "d", "a"]) { ($0.moved, $0.changed) = (["a"], ["a"]) }
    try store.batch {
      try tasks.delete("c")
      try put("e", 0)
    }
    try await expect(["e", "b", "d", "a"]) { ($0.inserted, $0.removed) = (["e"], ["c"]) }
  }

  private func put(_ id: String, _ number: Int, isDone: Bool = false) throws {
    try tasks.put(id, Task(title: "\(number)", isDone: isDone))
  }

  @Test(
    "equal queries are run once, and keep one copy of ids and digests", .timeLimit(.minutes(20)))
  func equalQueries() async throws {
    try tasks.put("a", Task(title: "Alpha"))
    let states = try (0..<2).map { _ in
      var builder = LiveState.Builder()
      try tasks.each(open) { try builder.add($0, for: $1) }
      return builder.state
    }
    let queries = LiveQueries()
    defer { queries.stop() }
    let runs = Mutex(0)
    let (notified, notify) = AsyncStream.makeStream(of: Void.self)
    let key = LiveQueries.Key(collection: "tasks", version: 1, query: [1])
    let start = Clock.monotonic.now()
    let numbers = try (0..<20).map { _ in
      try queries.add(key, in: tasks.database) {
        runs.withLock { $0 += 1 }
        return states[0]
      } notify: { _ in
        notify.yield()
        return true
      }
    }
    var iterator = notified.makeAsyncIterator()
    for _ in numbers { await iterator.next() }
    #expect(Int64(runs.withLock { $0 }) <= 2 + (Clock.monotonic.now() - start) / 100)
    #expect(queries.shared(states[1], key) === states[0])
    for number in numbers { queries.remove(number, key) }
    #expect(queries.shared(states[1], key) === states[1])
  }

  @Test("a batch is reported when it is committed, as a whole", .timeLimit(.minutes(20)))
  func batch() async throws {
    var results = try tasks.watch().makeAsyncIterator()
    #expect(try await results.next()?.isEmpty == true)
    try store.batch {
      for number in 0..<50 { try tasks.put("\(number)", Task(title: "\(number)")) }
    }
    #expect(try await results.next()?.count == 50)
  }

  @Test("an invalid query is rejected immediately") func invalidQuery() {
    #expect(throws: SatchelError.self) { try tasks.watch(RecordQuery(order: [.init("a..b[")])) { _ in } }
  }

  @Test("an error is reported, and the query continues when it can be run again", .timeLimit(.minutes(20)))
  func errors() async throws {
    try tasks.put("a", ["title": 7])
    var results = try tasks.watch(as: Task.self).makeAsyncIterator()
    await #expect(throws: SatchelError.self) { try await results.next() }

    let dropped = Mutex<[SatchelError.Code?]>([])
    let live = try tasks.watch { result in
      if case .failure(let error) = result { dropped.withLock { $0.append(error.code) } }
    }
    try store.dropCollection("tasks")
    while dropped.withLock({ $0.isEmpty }) { await _Concurrency.Task.yield() }
    #expect(dropped.withLock { $0 } == [.notFound])
    live.cancel()
  }

  private enum Event: Equatable, Sendable {
    case ids([String])
    case error(SatchelError.Code)
  }

  /// The events of a live query of all tasks.
  private func events(of collection: RecordCollection) throws -> (AsyncStream<Event>, LiveQuery) {
    let (events, report) = AsyncStream.makeStream(of: Event.self)
    let live = try collection.watch { result in
      switch result {
      case .success(let found): report.yield(.ids(found.records.map(\.id)))
      case .failure(let error): report.yield(.error(error.code))
      }
    }
    return (events, live)
  }

  @Test(
    "a collection that was dropped and declared again is followed, also by another handle",
    .timeLimit(.minutes(20)), arguments: [false, true])
  func declaredAgain(byOther: Bool) async throws {
    let other = byOther ? try Store(path: directory.path + "/tasks.satchel") : store
    try tasks.put("a", Task(title: "Alpha"))
    let (stream, live) = try events(of: tasks)
    defer { live.cancel() }
    var events = stream.makeAsyncIterator()
    #expect(await events.next() == .ids(["a"]))
    try other.dropCollection("tasks")
    #expect(await events.next() == .error(.notFound))
    let again = try other.records(CollectionDeclaration("tasks"))
    #expect(await events.next() == .ids([]))
    try again.put("b", Task(title: "Beta"))
    #expect(await events.next() == .ids(["b"]))
    var redeclared = CollectionDeclaration("tasks")
    redeclared.redeclare = true
    redeclared.indexes = [.init("title")]
    _ = try other.records(redeclared).put("c", Task(title: "Gamma"))
    #expect(await events.next() == .ids(["b", "c"]))
  }

  @Test(
    "a migration is reported, also one of another handle", .timeLimit(.minutes(20)), arguments: [false, true])
  func migration(byOther: Bool) async throws {
    let other = byOther ? try Store(path: directory.path + "/tasks.satchel") : store
    try tasks.put("a", Task(title: "Alpha"))
    let (stream, live) = try events(of: tasks)
    defer { live.cancel() }
    var events = stream.makeAsyncIterator()
    #expect(await events.next() == .ids(["a"]))
    var second = CollectionDeclaration("tasks", version: 2)
    second.migrations = [try RecordMigration(json: [["rename": ["from": "title", "to": "name"]]])]
    let migrated = try other.records(second)
    #expect(await events.next() == .error(.newer))
    let (newStream, newLive) = try self.events(of: migrated)
    defer { newLive.cancel() }
    var newEvents = newStream.makeAsyncIterator()
    #expect(await newEvents.next() == .ids(["a"]))
  }

  @Test("no handler is called after the store was closed, and streams end", .timeLimit(.minutes(20)))
  func closing() async throws {
    let calls = Mutex(0)
    let live = try tasks.watch { _ in calls.withLock { $0 += 1 } }
    var results = try tasks.watch().makeAsyncIterator()
    _ = try await results.next()
    try store.close()
    let before = calls.withLock { $0 }
    #expect(try await results.next() == nil)
    #expect(calls.withLock { $0 } == before)
    #expect(throws: SatchelError.self) { try tasks.watch { _ in } }
    live.cancel()
  }

  @Test("a query may end itself, and may use the store but not close it", .timeLimit(.minutes(20)))
  func inHandler() async throws {
    let (ends, end) = AsyncStream.makeStream(of: SatchelError.Code?.self)
    let own = Mutex<LiveQuery?>(nil)
    let live = try tasks.watch { [store, tasks] _ in
      var code: SatchelError.Code?
      do { try store.close() } catch { code = (error as? SatchelError)?.code }
      _ = try? tasks.count()
      own.withLock { $0 }?.cancel()
      end.yield(code)
    }
    own.withLock { $0 = live }
    for await code in ends {
      #expect(code == .busy)
      break
    }
  }

  @Test("an observable model follows the store, and notifies its observers", .timeLimit(.minutes(20)))
  @MainActor func model() async throws {
    try tasks.put("a", Task(title: "Alpha"))
    let model = try LiveRecords(tasks, open, as: Task.self)
    #expect(model.records.map(\.id) == ["a"])
    let (changes, change) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking {
      _ = model.records
    } onChange: {
      change.finish()
    }
    try tasks.put("b", Task(title: "Beta"))
    for await _ in changes {}
    while model.records.count < 2 { await _Concurrency.Task.yield() }
    #expect(model.records.map(\.title) == ["Alpha", "Beta"] && model.error == nil)
  }

  @Test("a released query does not keep the store open") func released() throws {
    weak var released: RecordCollection?
    do {
      let other = try Store(path: directory.path + "/other.satchel")
      let notes = try other.records(CollectionDeclaration("notes"))
      released = notes
      let live = try notes.watch { _ in }
      withExtendedLifetime(live) {}
    }
    // The thread of live queries may hold it for one more run.
    while released != nil { sched_yield() }
  }
}
