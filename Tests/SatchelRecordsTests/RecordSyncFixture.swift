import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage

@testable import SatchelRecords

/// Devices with a collection each, and a remote.
struct RecordSyncFixture {
  let store = SyncStore()
  let user: UserID
  /// Unix milliseconds; each change is made a second after the one before.
  private let time = Locked<Int64>(1_000_000)

  init() throws { user = try UserID("anna") }

  func now() -> Int64 {
    time.withLock { time in
      time += 1000
      return time
    }
  }

  func wait(milliseconds: Int64) { time.withLock { $0 += milliseconds } }

  func device(_ name: String = "one", version: Int64 = 1) -> RecordLedgerModel {
    RecordLedgerModel(writer: name, version: version)
  }

  func put(_ device: RecordLedgerModel, _ id: String, _ document: String) throws {
    try device.put(id, Array(document.utf8), now: now())
  }

  func delete(_ device: RecordLedgerModel, _ id: String) throws { try device.delete(id, now: now()) }

  func key(_ id: String) throws -> String {
    try RecordKeys(user: user, collection: "things").key(id).text
  }

  /// The document that the remote has; nil when it was deleted or never was there.
  func remote(_ id: String) throws -> String? {
    try envelope(id)?.content.document.map { String(decoding: $0, as: UTF8.self) }
  }

  func envelope(_ id: String) throws -> RecordEnvelope? {
    try store.bodies[key(id)].map { try RecordEnvelope(parsing: $0, id: id) }
  }

  func text(_ device: RecordLedgerModel, _ id: String) throws -> String? {
    try device.document(id).map { String(decoding: $0, as: UTF8.self) }
  }

  @discardableResult
  func sync(
    _ device: any RecordLedger, _ onConflict: ConflictPolicy = .newestWins,
    _ change: (inout RecordSyncOptions) -> Void = { _ in },
    progress: (@Sendable (RecordSyncProgress) -> Bool)? = nil,
    probe: @escaping @Sendable (MeteredStore, Cancellation) throws -> Void = { _, _ in }
  ) throws -> RecordSyncReport {
    var options = RecordSyncOptions()
    options.onConflict = onConflict
    options.retry = Retry(attempts: 4, base: 0, ceiling: 0, limit: .max)
    change(&options)
    let time = time
    return try RecordSyncRun.perform(
      on: device, of: "things", with: store, user: user, options: options, progress: progress,
      now: { time.withLock { $0 } }, probe: probe)
  }

  /// Two devices that agree on some records.
  func agreeing(_ ids: [String] = ["a", "b"]) throws -> (RecordLedgerModel, RecordLedgerModel) {
    let (one, other) = (device("one"), device("other"))
    for id in ids { try put(one, id, #"{"x":1,"y":1}"#) }
    try sync(one)
    try sync(other)
    return (one, other)
  }
}
