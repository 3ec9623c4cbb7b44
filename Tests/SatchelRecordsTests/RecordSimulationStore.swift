import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

@testable import SatchelRecords

/// A real collection in a real store, as a simulation sees it.
final class RecordSimulationStore: SimulatedRecords {
  /// Stores in memory, which schedules use one after the other because making them takes longer than a schedule. Each
  /// schedule has collections of its own.
  // Unchecked: used by one thread, and the fibers that take turns with it.
  final class Shelf: @unchecked Sendable {
    private var stores: [(store: RecordStore, time: Locked<Int64>)] = []
    /// Schedules for which a store is used: it grows with them.
    private static let most = 200
    private var schedule = 0

    func device(_ number: Int, _ schedule: Int) throws -> RecordSimulationStore {
      if schedule != self.schedule, schedule % Self.most == 0 { stores = [] }
      self.schedule = schedule
      while stores.count <= number {
        let time = Locked<Int64>(0)
        var options = StoreOptions()
        options.clock = Clock { time.withLock { $0 } }
        let database = try Database.open(
          path: ":memory:", options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
        stores.append((RecordStore(database: database, outbox: Outbox(path: ":memory:")), time))
      }
      let (store, time) = stores[number]
      return RecordSimulationStore(
        try store.open(CollectionDeclaration("schedule_\(schedule)")), time)
    }
  }

  let collection: RecordCollection
  private let time: Locked<Int64>

  private init(_ collection: RecordCollection, _ time: Locked<Int64>) {
    self.collection = collection
    self.time = time
  }

  func put(_ id: String, _ document: [UInt8], now: Int64) throws {
    time.withLock { $0 = now }
    _ = try document.withUnsafeBytes { try collection.put(id, $0) }
  }

  func delete(_ id: String, now: Int64) throws {
    time.withLock { $0 = now }
    _ = try collection.delete(id)
  }

  func document(_ id: String) throws -> [UInt8]? { try collection.state(of: id).local?.document }

  func conflicts() throws -> [SimulatedConflict] {
    try collection.read { connection, _ in
      var lines: [SimulatedConflict] = []
      try connection.each(
        """
        SELECT id, key, kind, local, remote, base FROM record_conflict WHERE collection = ? ORDER BY id
        """, .integer(collection.id)
      ) { row in
        let local = row.isNull(3) ? nil : try JSONValue(parsing: Array(row.bytes(3)))["document"]
        lines.append(
          SimulatedConflict(
            id: row.anyInteger(0), record: row.text(1), isOpen: row.text(2) == "open",
            local: try local.flatMap { $0.isNull ? nil : try $0.serialized() }, remote: Array(row.bytes(4)),
            base: row.isNull(5) ? nil : Array(row.bytes(5))))
      }
      return lines
    }
  }

  func resolve(_ conflict: SimulatedConflict, _ document: [UInt8]?, now: Int64) throws {
    time.withLock { $0 = now }
    let decision = try document.map { RecordResolution.document(try JSONValue(parsing: $0)) } ?? .delete
    try collection.resolve(conflict.id, decision)
  }
}

extension RecordSimulationStore: RecordLedger {
  func binding() throws -> RecordBinding { try collection.binding() }

  func begin(user: UserID) throws { try collection.begin(user: user) }

  func marks(from cursor: RecordCursor?, limit: Int) throws -> RecordMarks {
    try collection.marks(from: cursor, limit: min(limit, 2))
  }

  func marks(of ids: [String]) throws -> [RecordMark?] { try collection.marks(of: ids) }

  func state(of id: String) throws -> RecordState { try collection.state(of: id) }

  func migrated(_ document: [UInt8], from version: Int64) throws -> [UInt8] {
    try collection.migrated(document, from: version)
  }

  func noteSending(_ id: String, sequence: Int64, envelope: [UInt8]) throws {
    try collection.noteSending(id, sequence: sequence, envelope: envelope)
  }

  func forgetSending(_ id: String, sequence: Int64) throws {
    try collection.forgetSending(id, sequence: sequence)
  }

  func settle(_ id: String, sequence: Int64, etag: ETag?) throws {
    try collection.settle(id, sequence: sequence, etag: etag)
  }

  func take(
    _ id: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag, taking: RecordTaking, isLost: Bool
  ) throws {
    try collection.take(id, stamp: stamp, envelope: envelope, etag: etag, taking: taking, isLost: isLost)
  }

  func renew(_ id: String, stamp: RecordStamp) throws { try collection.renew(id, stamp: stamp) }

  func ask(_ id: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag) throws {
    try collection.ask(id, stamp: stamp, envelope: envelope, etag: etag)
  }

  func fail(_ id: String, error: SatchelError, attempts: Int, retryAt: Int64) throws {
    try collection.fail(id, error: error, attempts: attempts, retryAt: retryAt)
  }

  func finish(isComplete: Bool) throws { try collection.finish(isComplete: isComplete) }
}
