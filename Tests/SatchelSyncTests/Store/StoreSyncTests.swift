import Satchel
import Testing

@Suite("Synchronizing a store")
struct StoreSyncTests {
  let devices: SyncDevices
  let (one, two): (Store, Store)

  init() throws {
    devices = try SyncDevices()
    (one, two) = (try devices.store("one"), try devices.store("two"))
  }

  @Test("records of all collections are synchronized, with their metadata, changes and deletions")
  func records() throws {
    let (trips, notes) = (try one.records("trips"), try one.records("notes"))
    try trips.put("porto", ["days": 3])
    try notes.put("n1", ["text": "Bring a coat"])
    #expect(try trips.status("porto") == .local)
    let report = try devices.sync(one)
    #expect(report.records.uploaded == 2 && report.failed.isEmpty && report.photos == nil)
    #expect(try trips.status("porto") == .synced)

    let (theirTrips, theirNotes) = (try two.records("trips"), try two.records("notes"))
    #expect(try devices.sync(two).records.downloaded == 2)
    #expect(try theirTrips.get("porto") == trips.get("porto"))
    try theirTrips.put("porto", ["days": 4])
    try theirNotes.delete("n1")
    #expect(try theirTrips.status("porto") == .pending)
    let second = try devices.sync(two)
    #expect(second.records.uploaded == 1 && second.records.deletedRemotely == 1)
    let third = try devices.sync(one)
    #expect(third.records.downloaded == 1 && third.records.deletedLocally == 1)
    #expect(try trips.documents == ["porto": ["days": 4]] && notes.documents.isEmpty)
    #expect(try devices.sync(one).isUnchanged && devices.sync(two).isUnchanged)
  }

  @Test("a sync with nothing to do is one request") func quiet() throws {
    for name in ["a", "b", "c", "d", "e", "f"] {
      let collection = try one.records(name)
      for number in 0..<50 { try collection.put("\(number)", ["n": .int(Int64(number))]) }
    }
    #expect(try devices.sync(one).records.uploaded == 300)
    let report = try devices.sync(one)
    #expect(report.isUnchanged && report.requests == 1 && report.bytesUp == 0)
    try one.records("a").put("0", ["n": 7])
    #expect(try devices.sync(one).requests == 2)
  }

  @Test("its status contains the pending changes and the time of the last complete sync") func status() throws
  {
    #expect(try one.syncStatus() == StoreSyncStatus())
    try one.records("notes").put("n1", [:])
    try devices.sync(one, dryRun: true)
    #expect(try one.syncStatus() == StoreSyncStatus())
    try devices.sync(one)
    var status = try one.syncStatus()
    let synced = try #require(status.lastSync)
    let (remote, user) = (devices.remote.identity, devices.user.text)
    #expect(status == StoreSyncStatus(remote: remote, user: user, lastSync: synced, owner: user))

    try one.records("notes").put("n1", ["text": "Bring a coat"])
    #expect(throws: SatchelError.self) { try one.sync(with: devices.remote, user: UserID("ben")) }
    status.pending = 1
    #expect(try one.syncStatus() == status)
    try devices.sync(one)
    status = try one.syncStatus()
    #expect(try status.pending == 0 && #require(status.lastSync) >= synced)
    try one.detach()
    #expect(try one.syncStatus() == StoreSyncStatus(owner: user))
  }

  @Test("a batch over several collections is synchronized as a whole") func batch() throws {
    let (orders, lines) = (
      try one.records("orders"), try one.records("lines", relations: ["order": RecordRelation("orders")])
    )
    try one.batch {
      for number in 0..<20 {
        // Referring records come before the records that they refer to.
        try lines.put("l\(number)", ["order": .string("o\(number)")])
        try orders.put("o\(number)", [:])
      }
    }
    try devices.sync(one)
    let (theirs, theirLines) = (
      try two.records("orders"), try two.records("lines", relations: ["order": RecordRelation("orders")])
    )
    let changes = Changes()
    let observation = try two.observe { changes.add($0) }
    #expect(try devices.sync(two).records.downloaded == 40)
    #expect(try theirs.count() == 20 && theirLines.count() == 20)
    #expect(changes.count == 1, "one transaction")
    observation.cancel()
  }

  @Test("a store is bound to one remote and one user, and compares everything after it was detached")
  func binding() throws {
    let notes = try one.records("notes")
    try notes.put("a", [:])
    try devices.sync(one)
    #expect(throws: SatchelError.self) { try one.sync(with: devices.remote, user: UserID("berta")) }
    try one.detach()
    #expect(try notes.status("a") == .local)
    let report = try devices.sync(one)
    #expect(report.records.uploaded == 0, "what is equal needs no transfer")
    #expect(try notes.status("a") == .synced)
    #expect(throws: SatchelError.self) { try one.batch { try devices.sync(one) } }
  }

  @Test("a dry run reports the transfers, and changes nothing") func dryRun() throws {
    let (mine, theirs) = (try one.records("notes"), try two.records("notes"))
    try mine.put("a", ["n": 1])
    try mine.put("b", ["n": 1])
    try devices.syncAll(one, two)
    try mine.put("a", ["n": 2])
    try mine.delete("b")
    try devices.sync(one)
    try theirs.put("c", ["n": 3])
    let report = try devices.sync(two, dryRun: true)
    let planned = Dictionary(uniqueKeysWithValues: report.planned.map { ($0.id, $0.action) })
    #expect(planned == ["a": .download, "b": .deleteLocally, "c": .upload] && report.isDryRun)
    #expect(try theirs.documents == ["a": ["n": 1], "b": ["n": 1], "c": ["n": 3]])
    let real = try devices.sync(two)
    #expect(real.records.downloaded == 1 && real.records.deletedLocally == 1 && real.records.uploaded == 1)
    #expect(try devices.sync(two, dryRun: true).isUnchanged)
  }

  @Test("a collection that is not declared yet is applied when it is, without the network") func undeclared()
    throws
  {
    let notes = try one.records("notes")
    for number in 0..<5 { try notes.put("\(number)", ["n": .int(Int64(number))]) }
    try devices.sync(one)
    #expect(try devices.sync(two).records.downloaded == 0)
    #expect(try two.records("notes").count() == 5)
  }

  @Test("a collection that is declared as not synced stays where it is") func unsynced() throws {
    let drafts = try one.records("drafts", synced: false)
    try drafts.put("a", [:])
    #expect(try devices.sync(one).records.uploaded == 0 && drafts.status("a") == .local)
    _ = try one.records("drafts", synced: true)
    #expect(try devices.sync(one).records.uploaded == 1 && drafts.status("a") == .synced)
  }

  @Test("clearing a collection is synchronized, dropping it is not") func clearing() throws {
    let (notes, trips) = (try one.records("notes"), try one.records("trips"))
    for id in ["a", "b"] {
      try notes.put(id, [:])
      try trips.put(id, [:])
    }
    let (theirs, theirTrips) = (try two.records("notes"), try two.records("trips"))
    try devices.syncAll(one, two)
    #expect(try notes.clear() == 2)
    try trips.put("c", [:])
    #expect(throws: SatchelError.self) { try one.dropCollection("trips") }
    try devices.sync(one)
    try one.dropCollection("trips")
    #expect(throws: SatchelError.self) { try trips.count() }
    try devices.syncAll(one, two)
    #expect(try theirs.count() == 0 && theirTrips.count() == 3)
    #expect(try one.records("trips").count() == 3, "it returns when it is declared again")
    #expect(try devices.sync(one).isUnchanged)
    #expect(try one.check().isEmpty && two.check().isEmpty)
  }

  @Test("a restored store sends its changes under a new writer name") func restored() throws {
    let notes = try one.records("notes")
    try notes.put("a", ["n": 1])
    try devices.sync(one)
    try one.backup(to: devices.path("backup"))
    try notes.put("a", ["n": 2])
    try notes.put("b", ["n": 2])
    try devices.sync(one)
    try one.close()
    _ = try Store.restore(devices.path("backup"), to: devices.path("one"))
    let restored = try devices.store("one")
    let again = try restored.records("notes")
    try again.put("c", ["n": 3])
    let theirs = try two.records("notes")
    try devices.syncAll(restored, two)
    #expect(try again.documents == ["a": ["n": 2], "b": ["n": 2], "c": ["n": 3]])
    #expect(try theirs.documents == again.documents)
  }
}

/// Counts the changes that an observer received.
private final class Changes: @unchecked Sendable {
  private let counted = Locked(0)

  var count: Int { counted.withLock { $0 } }

  func add(_ change: Change) { counted.withLock { $0 += 1 } }
}
