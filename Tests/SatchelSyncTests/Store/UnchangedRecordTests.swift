import Foundation
import Satchel
import SatchelStorage
import Testing

/// A record that was not changed since it was synchronized is stored once: the envelope that was sent or received is
/// made from its row.
@Suite("Records that are as they were synchronized")
struct UnchangedRecordTests {
  let devices: SyncDevices
  let (one, two): (Store, Store)

  init() throws {
    devices = try SyncDevices()
    (one, two) = (try devices.store("one"), try devices.store("two"))
  }

  private func document(_ number: Int, _ text: String = "") -> JSONValue {
    ["n": .int(Int64(number)), "text": .string(text + String(repeating: "lorem ipsum ", count: 25))]
  }

  private func number(_ store: Store, _ sql: StaticString) throws -> Int64 {
    try store.database.read { try $0.number(sql) }
  }

  /// The entries that have a document of their own.
  private func envelopes(in store: Store) throws -> Int64 {
    try number(
      store,
      """
      SELECT count(*) FROM sync_entry
      WHERE tombstone IS NULL AND max(coalesce(length(remote), 0), coalesce(length(base), 0),
      coalesce(length(in_flight_envelope), 0)) > 300
      """)
  }

  private func sync(_ stores: Store...) throws { for store in stores { try devices.sync(store) } }

  private func expectSound(_ stores: Store...) throws {
    for store in stores { #expect(try store.check() == []) }
  }

  /// 100 notes that both stores have synchronized.
  private func shared(_ policy: ConflictPolicy = .ask) throws -> (RecordCollection, RecordCollection) {
    let mine = try one.records("notes", onConflict: policy)
    for number in 0..<100 { try mine.put("n\(number)", document(number)) }
    try sync(one)
    let theirs = try two.records("notes", onConflict: policy)
    try sync(two)
    #expect(try theirs.documents == mine.documents)
    return (mine, theirs)
  }

  @Test("are not stored a second time by their first sync") func size() throws {
    _ = try shared()
    for store in [one, two] {
      let bodies = try number(store, "SELECT sum(length(body)) FROM record")
      let entries = try number(
        store,
        """
        SELECT sum(coalesce(length(remote), 0) + coalesce(length(base), 0) + coalesce(length(in_flight_envelope), 0))
        FROM sync_entry
        """)
      #expect(bodies > 100 * 300 && entries < 100 * 64)
      let pages = try number(store, "SELECT sum(pgsize) FROM dbstat WHERE name = 'sync_entry'")
      #expect(pages * 3 < bodies * 2, "a page is given back when the envelopes in it become short")
    }
    try expectSound(one, two)
  }

  @Test("have their base when they are changed, deleted or written twice") func changed() throws {
    let (mine, theirs) = try shared()
    try mine.put("n1", document(1, "mine"))
    try mine.put("n1", document(1, "mine again"))
    try mine.delete("n2")
    try theirs.put("n1", document(1, "theirs"))
    try theirs.put("n2", document(2, "theirs"))
    try theirs.put("n3", document(3, "theirs"))
    #expect(try envelopes(in: one) == 2 && envelopes(in: two) == 3)
    try sync(two, one)
    let conflicts = try mine.conflicts()
    #expect(conflicts.compactMap(\.record).sorted() == ["n1", "n2"])
    for conflict in conflicts { #expect(conflict.base == document(conflict.record == "n1" ? 1 : 2)) }
    for conflict in conflicts { try mine.resolve(conflict.id, .keepLocal) }
    try devices.syncAll(one, two)
    #expect(try envelopes(in: one) == 0 && envelopes(in: two) == 0)
    #expect(try theirs.documents == mine.documents && theirs.get("n2") == nil)
    try expectSound(one, two)
  }

  @Test("merge by their base when both devices change other fields") func merged() throws {
    let (mine, theirs) = try shared(.merge)
    try mine.update("n1", ["n": 7])
    try theirs.update("n1", ["text": "theirs"])
    try devices.syncAll(one, two)
    #expect(try mine.get("n1")?.document == ["n": 7, "text": "theirs"])
    #expect(try theirs.documents == mine.documents && mine.conflicts().isEmpty && theirs.conflicts().isEmpty)
    try expectSound(one, two)
  }

  @Test("have their base after they were changed while their collection was not synchronized") func unsynced()
    throws
  {
    let (mine, theirs) = try shared()
    _ = try one.records("notes", synced: false)
    try mine.put("n1", document(1, "mine"))
    try mine.delete("n2")
    try expectSound(one)
    let again = try one.records("notes", synced: true)
    try again.put("n1", document(1, "mine again"))
    try theirs.put("n1", document(1, "theirs"))
    try sync(two, one)
    #expect(try again.conflicts().first { $0.record == "n1" }?.base == document(1))
    try expectSound(one, two)
  }

  @Test("are applied again from the store when their collection was dropped and is declared") func dropped()
    throws
  {
    let (mine, theirs) = try shared()
    try theirs.put("n1", document(1, "theirs"))
    try sync(two)
    let documents = try mine.documents
    try one.dropCollection("notes")
    try expectSound(one)
    #expect(try one.records("notes").documents == documents)
    try expectSound(one)
    try devices.syncAll(one, two)
    #expect(try one.records("notes").documents == theirs.documents && envelopes(in: one) == 0)
    try expectSound(one, two)
  }

  @Test("have their base after a migration, in both directions") func migrated() throws {
    let (mine, theirs) = try shared(.merge)
    let steps = try RecordMigration(json: [["rename": ["from": "n", "to": "number"]]])
    func declare(_ store: Store, _ version: Int, redeclare: Bool = false) throws -> RecordCollection {
      try store.records(
        "notes", version: version, migrations: version == 1 ? [] : [steps], onConflict: .merge,
        redeclare: redeclare)
    }
    var migrated = try declare(one, 2)
    #expect(try migrated.get("n1")?.document["number"] == 1)
    try expectSound(one)
    migrated = try declare(one, 1, redeclare: true)
    #expect(try migrated.documents == theirs.documents)
    try expectSound(one)
    migrated = try declare(one, 2)
    try migrated.update("n1", ["number": 7])
    try theirs.update("n1", ["text": "theirs"])
    try sync(two, one)
    #expect(try migrated.get("n1")?.document == ["number": 7, "text": "theirs"])
    #expect(try migrated.conflicts().isEmpty && declare(two, 2).conflicts().isEmpty)
    try devices.syncAll(one, two)
    #expect(try two.records("notes").documents == migrated.documents)
    try expectSound(one, two)
    _ = mine
  }

  @Test("have their base when fields of them are sealed later", arguments: [true, false])
  func sealed(isEncrypted: Bool) throws {
    let key = isEncrypted ? [UInt8](repeating: 7, count: 32) : nil
    let mine = try one.records("notes", onConflict: .merge)
    try mine.put("n1", document(1))
    try devices.sync(one, key)
    let theirs = try two.records("notes", onConflict: .merge)
    try devices.sync(two, key)
    try one.state.setKey([UInt8](repeating: 1, count: 32))
    let sensitive = try one.records("notes", sensitive: ["text"], onConflict: .merge)
    try expectSound(one)
    try sensitive.update("n1", ["n": 7])
    try theirs.update("n1", ["text": "theirs"])
    try devices.sync(two, key)
    try devices.sync(one, key)
    #expect(try sensitive.get("n1")?.document == ["n": 7, "text": "theirs"])
    let opened = try one.records("notes", sensitive: [], redeclare: true)
    #expect(try opened.get("n1")?.document == ["n": 7, "text": "theirs"])
    try devices.sync(one, key)
    try devices.sync(two, key)
    #expect(try theirs.get("n1")?.document == ["n": 7, "text": "theirs"])
    try expectSound(one, two)
  }

  // MARK: Damage

  private func damage(_ store: Store, _ id: String) throws {
    try store.database.write { transaction in
      try transaction.connection.run(
        "UPDATE record SET body = CAST('{\"n\":0}' AS BLOB) WHERE key = ?", .text(id))
    }
  }

  @Test("are found by a check where their row was damaged, and the next change of them reads the log again")
  func damaged() throws {
    let (mine, theirs) = try shared()
    try damage(one, "n1")
    let findings = try one.check()
    #expect(findings.map(\.code) == ["sync_entry"] && findings[0].message.hasPrefix("notes/n1: its document"))
    try theirs.put("n1", document(1, "theirs"))
    try sync(two, one)
    #expect(try mine.documents == theirs.documents)
    try damage(one, "n2")
    try mine.put("n2", document(2, "mine"))
    try sync(one, two)
    #expect(try mine.documents == theirs.documents && theirs.get("n2")?.document == document(2, "mine"))
    try devices.syncAll(one, two)
    try expectSound(one, two)
  }

  @Test("are in conflict without a base where their row was damaged, and both devices have changed it")
  func damagedConflict() throws {
    let (mine, theirs) = try shared()
    try damage(one, "n1")
    try mine.put("n1", document(1, "mine"))
    try theirs.put("n1", document(1, "theirs"))
    try sync(two, one)
    let conflict = try #require(mine.conflicts().first)
    #expect(conflict.kind == .open && conflict.local == document(1, "mine"))
    #expect(conflict.remote == document(1, "theirs") && conflict.base == nil)
    try mine.resolve(conflict.id, .keepLocal)
    try devices.syncAll(one, two)
    #expect(try theirs.get("n1")?.document == document(1, "mine"))
    try expectSound(one, two)
  }
}
