import Foundation
import Satchel
import Testing

@Suite("Records with sensitive fields in the sync log")
struct SensitiveRecordSyncTests {
  let devices: SyncDevices
  let (one, two): (Store, Store)
  private static let marker = SensitiveFieldsTests.marker
  private let key = [UInt8](repeating: 7, count: 32)
  private let keyOfOne = [UInt8](repeating: 1, count: 32)
  private let keyOfTwo = [UInt8](repeating: 2, count: 32)

  init() throws {
    devices = try SyncDevices()
    (one, two) = (try devices.store("one"), try devices.store("two"))
  }

  private func document(_ token: String, _ n: Int64 = 1) -> JSONValue {
    ["n": .int(n), "token": .string(Self.marker + token)]
  }

  private func notes(_ store: Store, _ policy: ConflictPolicy = .newestWins) throws -> RecordCollection {
    try store.records("notes", sensitive: ["token"], onConflict: policy)
  }

  @Test(
    "are sealed with the key of each store, and merged", arguments: [ConflictPolicy.merge, .ask, .newestWins])
  func merged(policy: ConflictPolicy) throws {
    try one.state.setKey(keyOfOne)
    try two.state.setKey(keyOfTwo)
    let (mine, theirs) = (try notes(one, policy), try notes(two, policy))
    for number in 0..<30 { try mine.put("n\(number)", document("\(number)")) }
    try devices.sync(one, key)
    try devices.sync(two, key)
    #expect(try theirs.documents == mine.documents)
    try mine.update("n1", ["n": 2])
    try theirs.update("n1", ["token": .string(Self.marker + "new")])
    try devices.sync(one, key)
    try devices.expectNone(Self.marker, "sent")
    try devices.sync(two, key)
    try devices.expectNone(Self.marker, "decided")
    if policy == .ask {
      let conflict = try #require(try theirs.conflicts().first)
      #expect(conflict.kind == .open && conflict.base == document("1") && conflict.remote == document("1", 2))
      try two.state.rotateKey(to: keyOfOne)
      #expect(try theirs.conflicts().first?.base == document("1"))
      try theirs.resolve(conflict.id, .document(document("new", 2)))
    } else if policy == .merge {
      #expect(try theirs.get("n1")?.document == document("new", 2))
    } else {
      #expect(try theirs.conflicts().map(\.kind) == [.lost])
    }
    for _ in 0..<2 { for store in [two, one] { try devices.sync(store, key) } }
    #expect(try theirs.documents == mine.documents)
    try devices.expectNone(Self.marker, "agreed")
    #expect(try devices.sync(one, key).isUnchanged && devices.sync(two, key).isUnchanged)
    #expect(try one.check().isEmpty && two.check().isEmpty)
  }

  @Test("are not sent without a key of the log, and the report names the collection once")
  func withoutKey() throws {
    try one.state.setKey(keyOfOne)
    let mine = try notes(one)
    for number in 0..<20 { try mine.put("n\(number)", document("")) }
    try one.records("plain").put("a", ["n": 1])
    for _ in 0..<2 {
      let report = try devices.sync(one, nil)
      #expect(report.failed.map(\.collection) == ["notes"] && report.failed.map(\.code) == [.unauthorized])
      #expect(report.failed.first?.message.contains("notes: has sensitive fields") == true)
    }
    #expect(try mine.status("n3") == .pending)
    try devices.expectNone(Self.marker, "not sent")
    _ = try one.rekey(devices.remote, user: devices.user, to: key)
    let theirs = try notes(two)
    try two.state.setKey(keyOfTwo)
    try devices.sync(two, key)
    #expect(try theirs.documents == mine.documents)
    try devices.expectNone(Self.marker, "encrypted")
    var options = StoreSyncOptions()
    options.key = key
    #expect(throws: SatchelError.self) {
      try two.rekey(devices.remote, user: devices.user, options: options, to: nil)
    }
  }

  @Test("wait for the key of the store, and are applied when it is set")
  func waiting() throws {
    try one.state.setKey(keyOfOne)
    let mine = try notes(one)
    try mine.put("a", document("1"))
    try devices.sync(one, key)
    // A device that has not declared them.
    try devices.sync(two, key)
    try devices.expectNone(Self.marker, "undeclared")
    let theirs = try notes(two)
    #expect(try theirs.count() == 0)
    let waiting = try #require(try theirs.conflicts().first)
    #expect(waiting.kind == .waiting && waiting.reason?.contains("set the encryption key") == true)
    try devices.expectNone(Self.marker, "waiting")
    try two.state.setKey(keyOfTwo)
    #expect(try theirs.documents == mine.documents)
    #expect(try theirs.conflicts().isEmpty)
    try devices.expectNone(Self.marker, "applied")
    // Nothing of a device without the key is lost: its deletion is sent.
    try two.close()
    let again = try devices.store("two")
    try mine.update("a", ["n": 5])
    try devices.sync(one, key)
    #expect(try devices.sync(again, key).records.waiting == 1)
    try again.state.setKey(keyOfTwo)
    try devices.sync(again, key)
    #expect(try notes(again).documents == mine.documents)
    #expect(try again.check().isEmpty)
  }

  @Test("seal the stored entries of their collection in an encrypted log", arguments: [false, true])
  func declaredLater(isReopened: Bool) throws {
    var mine = try one.records("notes")
    try mine.put("a", document("1"))
    try mine.put("b", document("2"))
    try devices.sync(one, key)
    try devices.sync(two, key)
    var store = one
    if isReopened {
      try one.close()
      store = try devices.store("one")
    }
    try store.state.setKey(keyOfOne)
    mine = try notes(store)
    let plain =
      "SELECT count(*) FROM sync_entry WHERE instr(coalesce(remote, base), 'MARKER') > 0" as StaticString
    #expect(try store.database.read { try $0.number(plain) } == 0)
    #expect(try store.check().isEmpty)
    try mine.update("a", ["n": 9])
    try devices.sync(store, key)
    #expect(try store.database.read { try $0.number(plain) } == 0)
    let theirs = try two.records("notes")
    try devices.sync(two, key)
    #expect(try theirs.get("a")?.document == document("1", 9) && theirs.count() == 2)
    #expect(try devices.sync(store, key).isUnchanged)
    #expect(try store.check().isEmpty && two.check().isEmpty)
  }
}
