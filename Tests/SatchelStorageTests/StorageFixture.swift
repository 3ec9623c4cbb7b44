import Foundation
import SatchelStorageTesting
import SatchelTesting
import Synchronization

@testable import SatchelCore
@testable import SatchelStorage

/// A temporary directory for one test, with stores in it.
final class StorageFixture {
  static let schema = [
    Migration(
      version: 1,
      sql: ChangeLog.schema + "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;")
  ]

  private let place: TemporaryDirectory
  var directory: URL { place.url }
  var path: String { directory.appending(path: "store").path }

  init() throws { place = try TemporaryDirectory() }

  func open(
    _ path: String? = nil, migrations: [Migration] = schema, _ change: (inout StoreOptions) -> Void = { _ in }
  ) throws -> Database {
    var options = StoreOptions()
    options.durability = .relaxed
    change(&options)
    return try Database.open(path: path ?? self.path, options: options, migrations: migrations)
  }

  func open(on disk: FaultyDisk, _ durability: StoreOptions.Durability) throws -> Database {
    try open {
      $0.vfsName = disk.name
      $0.durability = durability
    }
  }

  /// Returns the content of a closed store with `count` items.
  func makeStore(items: Int = 0) throws -> [UInt8] {
    let database = try open()
    try database.write { transaction in
      for number in 0..<items { try transaction.add("item \(number) " + String(repeating: "x", count: 100)) }
      transaction.note(subject: .test, keys: ["made"], place: nil)
    }
    try database.close()
    return try bytes()
  }

  /// Makes a backup with three items, and a store with five; closed.
  func makeStore(withBackup backup: String) throws {
    let database = try open()
    for number in 0..<3 { try database.write { try $0.add("\(number)") } }
    try database.backup(to: backup)
    for number in 3..<5 { try database.write { try $0.add("\(number)") } }
    try database.close()
  }

  func bytes(_ path: String? = nil) throws -> [UInt8] {
    let path = path ?? self.path
    // Foundation leaks a buffer for an empty file, which the address sanitizer would report each time.
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    return size == 0 ? [] : Array(try Data(contentsOf: URL(filePath: path)))
  }

  func put(_ bytes: [UInt8]) throws {
    for suffix in ["-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    try Data(bytes).write(to: URL(filePath: path))
  }

  func listing() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
  }

  /// A plain SQLite connection, for creating files that Satchel does not create.
  static func plain(_ path: String, _ sql: String) throws {
    let readWriteCreate: Int32 = 6
    try Connection(path: path, flags: readWriteCreate, busyTimeout: 0).execute(sql)
  }
}

extension Transaction {
  func add(_ name: String) throws {
    try connection.run("INSERT INTO item(name) VALUES(?)", .text(name))
  }
}

extension Connection {
  func items() throws -> Int64 { try number("SELECT count(*) FROM item") }

  func names() throws -> [String] {
    var names: [String] = []
    try each("SELECT name FROM item ORDER BY id") { names.append($0.text(0)) }
    return names
  }
}

/// Returns the code of the `SatchelError` that `body` throws; nil when it succeeds.
func code(of body: () throws -> Void) throws -> SatchelError.Code? {
  do {
    try body()
    return nil
  } catch let error as SatchelError {
    return error.code
  }
}

/// A clock that a test controls.
final class TestClock: Sendable {
  private let time: Atomic<Int64>

  init(_ time: Int64) { self.time = Atomic(time) }

  func set(_ time: Int64) { self.time.store(time, ordering: .relaxed) }
  var clock: Clock { Clock { self.time.load(ordering: .relaxed) } }
}

/// Work on a separate thread.
// Unchecked: the result is read only after the semaphore.
final class Background: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)
  private var result: Result<Void, any Error> = .success(())

  init(_ body: @escaping @Sendable () throws -> Void) {
    Thread {
      self.result = Result { try body() }
      self.done.signal()
    }.start()
  }

  /// Waits for the end, and rethrows the work's error.
  func finish() throws {
    done.wait()
    done.signal()
    try result.get()
  }

  /// Whether it ends within the timeout.
  func ends(within seconds: Double) -> Bool {
    guard done.wait(timeout: .now() + seconds) == .success else { return false }
    done.signal()
    return true
  }
}

extension Change.Subject {
  static let test = Change.Subject(rawValue: "test")
}

/// The changes that observers received.
final class ObservedChanges: Sendable {
  private let changes = Mutex<[Change]>([])

  func add(_ change: Change) { changes.withLock { $0.append(change) } }
  var all: [Change] { changes.withLock { $0 } }
  var keys: [String] { all.flatMap(\.keys) }

  /// Waits until `count` changes were received, or until the timeout.
  func reaches(_ count: Int, within seconds: Double = 120) -> Bool {
    let end = Date() + seconds
    while all.count < count, Date() < end { usleep(5000) }
    return all.count >= count
  }
}

func elapsed(_ body: () throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  try body()
  let duration = ContinuousClock.now - start
  return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}
