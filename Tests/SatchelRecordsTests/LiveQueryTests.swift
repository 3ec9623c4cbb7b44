import Observation
import Satchel
import SatchelTesting
import Synchronization
import Testing

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
      let count = (try? result.get().count) ?? -1
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
