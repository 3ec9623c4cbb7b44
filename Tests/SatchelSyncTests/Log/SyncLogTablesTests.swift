import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelSync

@Suite("Tables of the sync log")
struct SyncLogTablesTests {
  let store = SyncMemoryStore()

  private func pending(_ device: SyncTestDevice, _ id: String) throws -> Int64? {
    let key = try SyncKey("things", id)
    return try device.database.read { connection in
      let generations = try #require(try SyncTracker.generations(connection))
      return try SyncRowTable(connection: connection).row(key, generation: generations.valid)?.pending
    }
  }

  @Test("schema and values pass the store's checks") func schemaValuesPass() throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    for number in 0..<5 { try one.client.edit("\(number)", ["x": "1"]) }
    try one.sync(store)
    try two.client.edit("1", ["x": "2"])
    two.client.policy = .ask
    try two.sync(store)
    for device in [one, two] {
      try device.database.write { transaction in
        for table in SyncTestClient.tables { try transaction.connection.execute("DROP TABLE \(table)") }
      }
      let subjects = [SyncLogSchema.subject]
      #expect(
        try device.database.checkSchema([Migration(version: 1, sql: ChangeLog.schema)], subjects).map(
          \.message)
          == [])
      #expect(try device.database.checkValues(StoredRules(), subjects).map(\.message) == [])
    }
  }

  @Test("changes of a transaction have one number, and no number is used twice") func changesTransactionOne()
    throws
  {
    let device = try SyncTestDevice()
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    let keys = try ["a", "b", "c"].map { try SyncKey("things", $0) }
    try device.client.edit([(keys[0], ["x": "1"]), (keys[1], ["x": "1"])])
    #expect(try pending(device, "a") == pending(device, "b"))
    struct Stop: Error {}
    try device.database.write { transaction in
      // A savepoint that is rolled back takes the number back, the next note takes it again.
      try? device.database.write { inner in
        try SyncTracker(inner)?.notePut(keys[2])
        throw Stop()
      }
      try SyncTracker(transaction)?.notePut(keys[2])
    }
    let (first, second) = (try #require(try pending(device, "a")), try #require(try pending(device, "c")))
    #expect(second > first)
    try device.ledger.detach()
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    try device.client.edit("d", ["x": "1"])
    #expect(try #require(try pending(device, "d")) > second)
  }

  @Test("an envelope goes into flight for its own record, also when another got the number of its row")
  func envelopeOwnRecord() throws {
    let device = try SyncTestDevice()
    try device.sync(store)
    try device.client.edit("a", ["x": "1"])
    let changes = try device.changes()
    // Nothing is kept of what was never sent, and SQLite gives the greatest number of a row again.
    let deletion = SyncContent(document: nil, revision: 2, created: 0, modified: 0)
    try device.database.write { transaction in
      try Array("a".utf8).withUnsafeBytes {
        try SyncTracker(transaction)?.noteDeletion($0, in: "things", deletion)
      }
      try transaction.connection.execute("DELETE FROM test_document")
    }
    try device.client.edit("b", ["x": "2"])
    let row = try device.number("SELECT id FROM sync_entry")
    #expect(changes.changes.map(\.row) == [row])
    let upload = SyncLogState.PendingUpload(head: [], base: nil, deletes: [])
    #expect(try !device.begin(upload, changes))
    #expect(try !device.ledger.state().work.hasInFlight)
    try device.sync(store)
    let other = try SyncTestDevice()
    try other.sync(store)
    #expect(try other.client.documents() == ["things/b": ["x": "2"]])
  }

  @Test("a store that is not bound records no changes") func storeNotBound() throws {
    let device = try SyncTestDevice()
    try device.client.edit("a", ["x": "1"])
    #expect(try device.number("SELECT count(*) FROM sync_entry") == 0 && device.status("a") == .local)
  }

  @Test("a collection that is declared while its entries are read gets them", arguments: [true, false])
  func declaredWhileRead(isWhole: Bool) throws {
    let (one, two) = (try SyncTestDevice(), try SyncTestDevice())
    try one.client.edit([(try SyncKey("others", "a"), ["x": "1"]), (try SyncKey("things", "b"), ["x": "1"])])
    one.client.declared = ["things", "others"]
    two.client.declared = isWhole ? ["things"] : ["things", "others"]
    try two.sync(store)
    try one.sync(store)
    // It was declared until now, and `reconcile` does not notice that it was not while its entry was read.
    two.client.declared = ["things"]
    let state = try one.ledger.state()
    var pull = try two.ledger.beginPull(all: isWhole, from: two.ledger.state())
    let head = try #require(state.head)
    try two.ledger.store(head.entries(nil), &pull)
    two.client.declared = ["things", "others"]
    try two.ledger.reconcile()
    #expect(try two.complete(pull, head, try #require(state.etag)))
    while try two.continuePhase() {}
    try two.ledger.decideAll()
    #expect(try two.client.documents() == ["others/a": ["x": "1"], "things/b": ["x": "1"]])
  }

  @Test("a change while the local state is moved is kept") func changeWhileLocal() throws {
    var sizes = SyncSizes()
    sizes.rowsOfStep = 1
    let device = try SyncTestDevice(sizes)
    for id in ["a", "b", "c"] { try device.client.edit(id, ["x": "1"]) }
    try device.sync(store)
    let state = try device.ledger.state()
    var pull = try device.ledger.beginPull(all: true, from: device.ledger.state())
    let head = try #require(state.head)
    for entry in try head.entries(nil) { try device.ledger.store([entry], &pull) }
    #expect(try device.complete(pull, head, try #require(state.etag)))
    #expect(try device.ledger.state().phase == .rejoin)
    #expect(try device.continuePhase())
    for id in ["a", "b", "c", "d"] { try device.client.edit(id, ["x": "2"]) }
    while try device.continuePhase() {}
    #expect(try ["a", "b", "c", "d"].allSatisfy { try pending(device, $0) != nil })
    #expect(try device.number("SELECT count(*) FROM sync_entry") == 4)
    #expect(try device.ledger.state().previous == nil)
    #expect(try device.sync(store).sent == 4)
  }

  @Test("an interrupted pull leaves no rows") func interruptedReadingLeaves() throws {
    var sizes = SyncSizes()
    sizes.rowsOfStep = 2
    let device = try SyncTestDevice(sizes)
    for id in ["a", "b", "c"] { try device.client.edit(id, ["x": "1"]) }
    try device.sync(store)
    let head = try #require(try device.ledger.state().head)
    for _ in 0..<2 {
      var pull = try device.ledger.beginPull(all: true, from: device.ledger.state())
      try device.ledger.store(head.entries(nil), &pull)
    }
    _ = try device.ledger.beginPull(all: true, from: device.ledger.state())
    #expect(try device.number("SELECT count(*) FROM sync_entry") == 3)
    #expect(try device.sync(store).commits == 0)
  }

  @Test("deleting content that was never sent leaves no row") func deletionWhatNever() throws {
    let device = try SyncTestDevice()
    try device.sync(store)
    try device.client.edit("a", ["x": "1"])
    try device.client.edit("a", nil)
    #expect(try device.sync(store).commits == 0)
    #expect(try device.number("SELECT count(*) FROM sync_entry") == 0)
  }

  @Test("only the change that was sent is confirmed") func onlyChangeSent() throws {
    let device = try SyncTestDevice()
    try device.client.edit("a", ["x": "1"])
    let editing = SyncInterceptingStore(store) { method in
      if method == "PUT" { try device.client.edit("a", ["x": "2"]) }
    }
    try device.sync(editing)
    let head = try SyncHead(parsing: store.objects["records/somebody/head"]?.body ?? [])
    #expect(head.position.number == 2, "the later change was sent by a second commit")
    #expect(try device.status("a") == .synced)
  }

  /// A sync with nothing to do reads no more rows than there are changes.
  @Test("the pending index finds the changes to send") func pendingIndexFinds() throws {
    let device = try SyncTestDevice()
    for number in 0..<50 { try device.client.edit("\(number)", ["x": "1"]) }
    try device.sync(store)
    let plan = try device.database.read { connection in
      var plan = ""
      try connection.each(
        """
        EXPLAIN QUERY PLAN SELECT id, pending FROM sync_entry WHERE pending IS NOT NULL AND +generation = 1
        AND remote IS NULL AND conflict IS NULL AND undecided IS NULL AND in_flight_sequence IS NULL ORDER BY pending
        """
      ) { plan += $0.text(3) }
      return plan
    }
    #expect(plan.contains("USING INDEX sync_entry_pending") && !plan.contains("TEMP B-TREE"), "\(plan)")
  }

  @Test("statements of a damaged store are refused, never trapped") func statementsDamagedStore() throws {
    for sql: StaticString in [
      "UPDATE sync_entry SET base = x'7b7d'", "UPDATE sync_entry SET seq = -1",
      "UPDATE sync_log SET digest = 'x'", "UPDATE sync_log SET count = -5", "UPDATE sync_log SET phase = 'x'",
      "UPDATE sync_entry SET ancestors = x'00'", "UPDATE sync_collection SET name = 'a/b'",
      "UPDATE sync_log SET head = x'00'", "UPDATE sync_writer SET sequence = 9223372036854775807",
      "UPDATE sync_entry SET size = 9223372036854775807",
    ] {
      let (device, store) = (try SyncTestDevice(), SyncMemoryStore())
      for id in ["a", "b"] { try device.client.edit(id, ["x": "1"]) }
      try device.sync(store)
      try device.database.write { try $0.connection.run(sql) }
      try? device.client.edit("c", ["x": "\(sql)"])
      _ = try? device.sync(store)
    }
  }
}
