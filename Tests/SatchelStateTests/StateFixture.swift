import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Synchronization
import Testing

@testable import SatchelDocuments
@testable import SatchelState

/// A store in a directory of its own, for tests of state and of the outbox.
final class StateFixture: Sendable {
  /// An open store with its outbox and state.
  struct Opened: Sendable {
    let database: Database
    let outbox: Outbox
    let state: StateStore
  }

  static let quickly = StateOptions(saveDelay: 30, maxPending: 10, maxDelay: 120)
  /// Options that never save automatically.
  static let never = StateOptions(saveDelay: 3_600_000, maxPending: .max, maxDelay: 3_600_000)

  private let place: TemporaryDirectory
  var directory: URL { place.url }
  let clock = Atomic<Int64>(1_700_000_000_000)
  var path: String { directory.appending(path: "store").path }
  var outboxPath: String { path + ".outbox" }

  init() throws { place = try TemporaryDirectory() }

  func database(_ path: String? = nil, _ change: (inout StoreOptions) -> Void = { _ in }) throws -> Database {
    var options = StoreOptions()
    options.durability = .relaxed
    options.busyTimeout = 50
    options.clock = Clock { self.clock.load(ordering: .relaxed) }
    change(&options)
    return try Database.open(
      path: path ?? self.path, options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
  }

  func open(
    _ path: String? = nil, _ options: StateOptions = never, _ change: (inout StoreOptions) -> Void = { _ in }
  ) throws -> Opened {
    let database = try database(path, change)
    let outbox = Outbox(path: database.path)
    let state = StateStore(RecordStore(database: database, outbox: outbox), options: options)
    _ = try? outbox.drain(in: database)
    return Opened(database: database, outbox: outbox, state: state)
  }

  func pass(milliseconds: Int64) { clock.add(milliseconds, ordering: .relaxed) }

  var isSpooled: Bool { FileManager.default.fileExists(atPath: outboxPath) }

  /// Blocks all writers until the database is released.
  func block() throws -> Database {
    let database = try database { $0.busyTimeout = 5000 }
    try database.begin()
    return database
  }

  static let key = [UInt8](0..<32)
  static let otherKey = [UInt8](repeating: 7, count: 32)
}

extension StateFixture.Opened {
  /// What the store has of some state, with what is in its document.
  func stored(_ kind: Change.StateKey.Kind, _ name: String) throws -> StateDocument? {
    try state.read([]) { reader, _ in try reader?.document(StateID(kind, StateName(sound: name))) }
  }

  /// The number of documents that are sealed.
  func sealedCount() throws -> Int64 {
    try database.read { try $0.number("SELECT count(*) FROM record WHERE is_sealed = 1") }
  }

  /// The content of a document as it is stored: a JSON text, in which sealed content is a string.
  func body(_ id: String) throws -> String {
    try database.read { connection in
      try #require(try connection.first("SELECT body FROM record WHERE key = ?", .text(id)) { $0.text(0) })
    }
  }

  /// Replaces the content of a document.
  func setBody(_ id: String, _ body: String) throws {
    try database.write { transaction in
      try transaction.connection.run(
        "UPDATE record SET body = CAST(? AS BLOB), revision = revision + 1 WHERE key = ?", .text(body),
        .text(id))
    }
  }
}

/// Returns the code of the `SatchelError` that `body` throws; nil when it succeeds.
func stateCode(of body: () throws -> Void) throws -> SatchelError.Code? {
  do {
    try body()
    return nil
  } catch let error as SatchelError {
    return error.code
  }
}

/// Waits until a condition holds, at most for some seconds.
func stateWaits(seconds: Double = 120, until condition: () throws -> Bool) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(seconds)
  while ContinuousClock.now < end {
    if try condition() { return true }
    usleep(3000)
  }
  return try condition()
}

/// The keys that observers were notified of.
final class StateObserved: Sendable {
  private let observed = Mutex<[String]>([])

  func add(_ change: Change) { observed.withLock { $0 += change.keys } }
  var keys: [String] { observed.withLock { $0 } }
}

/// Runs `body` on several threads, and returns when all have ended.
func stateThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let failures = Mutex<[any Error]>([])
  let threads = (0..<count).compactMap { number in
    SystemThread {
      do { try body(number) } catch { failures.withLock { $0.append(error) } }
    }
  }
  for thread in threads { thread.join() }
  if let failure = failures.withLock({ $0.first }) { throw failure }
}

/// Helpers for tests of sensitive lists, sets and scores.
extension StateFixture {
  static let marker = "plain-MARKER-of-a-secret"

  func open(key: [UInt8]?) throws -> Opened {
    let store = try open()
    if let key { try store.state.setKey(key) }
    return store
  }

  /// Fills a list, a set and scores, all sensitive.
  static func fillSensitive(_ state: StateStore) throws {
    let list = try state.list("l", sensitive: true)
    for number in 0..<3 { try list.push(.string("\(marker) \(number)")) }
    let set = try state.set(named: "m", sensitive: true)
    for number in 0..<3 { try set.add(["word": .string("\(marker) \(number)"), "n": 1]) }
    let scores = try state.scores("s", sensitive: true)
    for number in 0..<3 { try scores.add("\(marker) \(number)", 0.25) }
  }

  static func expectFilled(_ state: StateStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let words = (0..<3).map { "\(marker) \($0)" }
    #expect(
      try state.list("l").items().map(\.value.stringValue) == words.reversed(), sourceLocation: sourceLocation
    )
    let members = try state.set(named: "m").values()
    #expect(members.map { $0["word"]?.stringValue } == words, sourceLocation: sourceLocation)
    for word in words {
      #expect(
        try state.set(named: "m").contains(["n": 1, "word": .string(word)]), sourceLocation: sourceLocation)
      #expect(try state.scores("s").value(word) == 0.25, sourceLocation: sourceLocation)
    }
    #expect(try state.scores("s").all().map(\.key) == words, sourceLocation: sourceLocation)
  }

  /// Everything that is in any file of the store.
  func files() throws -> Data {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).reduce(into: Data()) {
      $0 += try Data(contentsOf: directory.appending(path: $1))
    }
  }
}
