import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

import SatchelDocuments
import SatchelRecords

/// A store with collections, for tests.
final class RecordShelf {
  let directory: TemporaryDirectory?
  let path: String
  let database: Database
  let store: RecordStore

  /// - Parameter calls: the system calls for the files of mirrors
  convenience init(onDisk: Bool = false, calls: FileCalls = .system, clock: Clock = .system) throws {
    let directory = onDisk ? try TemporaryDirectory() : nil
    try self.init(
      directory, directory.map { $0.path + "/records.satchel" } ?? ":memory:", calls: calls, clock: clock)
  }

  private init(
    _ directory: TemporaryDirectory?, _ path: String, busyTimeout: Int32 = 5000, calls: FileCalls = .system,
    clock: Clock = .system
  ) throws {
    self.directory = directory
    self.path = path
    var options = StoreOptions()
    options.durability = .relaxed
    options.busyTimeout = busyTimeout
    options.clock = clock
    database = try Database.open(
      path: path, options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    store = RecordStore(database: database, outbox: Outbox(path: path), calls: calls)
  }

  /// Another handle of the same file.
  func another(busyTimeout: Int32 = 5000, clock: Clock = .system) throws -> RecordShelf {
    try RecordShelf(directory, path, busyTimeout: busyTimeout, clock: clock)
  }

  func collection(
    _ name: String, indexes: [RecordIndex]? = nil, types: [String: RecordType]? = nil,
    relations: [String: RecordRelation]? = nil,
    search: [String]? = nil, positions: [String]? = nil, schema: JSONValue? = nil, version: Int? = nil,
    migrations: [RecordMigration] = [], ttl: RecordLifetime? = nil, redeclare: Bool = false
  ) throws -> RecordCollection {
    try store.open(
      CollectionDeclaration(
        name, indexes: indexes, types: types, relations: relations, search: search, positions: positions,
        schema: schema,
        version: version, migrations: migrations, ttl: ttl, redeclare: redeclare))
  }

  /// Checks that the tables are consistent.
  func expectSound(_ place: SourceLocation = #_sourceLocation) throws {
    #expect(try database.checkIntegrity().isEmpty, sourceLocation: place)
    #expect(try RecordCollection.check(database).map(\.message) == [], sourceLocation: place)
  }
}

extension RecordCollection {
  @discardableResult
  func put(_ id: String, text: String, ifRevision revision: Int64? = nil) throws -> RecordReceipt {
    try Array(text.utf8).withUnsafeBytes { try put(id, $0, ifRevision: revision) }
  }

  @discardableResult
  func putAll(_ documents: [(String, JSONValue)]) throws -> Int { try putMany(documents) }

  func putAllValid(_ documents: [(String, JSONValue)]) throws -> RecordPutReport { try putValid(documents) }

  func text(_ id: String) throws -> String? { try get(id).map { String(decoding: $0.body, as: UTF8.self) } }

  func ids(_ json: JSONValue) throws -> [String] { try ids(RecordQuery(json: json)) }
  func count(_ json: JSONValue) throws -> Int { try count(RecordQuery(json: json)) }
}

/// Returns the message of the error that `body` throws, which must have that code.
func message(_ code: SatchelError.Code, _ body: () throws -> Void) -> String {
  do {
    try body()
    return "no error"
  } catch let error as SatchelError {
    return error.code == code ? error.message : "\(error.code): \(error.message)"
  } catch {
    return "another error: \(error)"
  }
}
