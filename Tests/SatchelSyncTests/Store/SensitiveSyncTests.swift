import Foundation
import Satchel
import Testing

@Suite("Sensitive state in the sync log")
struct SensitiveSyncTests {
  let devices: SyncDevices
  let (one, two): (Store, Store)
  private static let marker = "plain-MARKER-of-a-secret"
  /// The keys of the log, and of the two stores.
  private let key = [UInt8](repeating: 7, count: 32)
  private let otherKey = [UInt8](repeating: 8, count: 32)
  private let keyOfOne = [UInt8](repeating: 1, count: 32)
  private let keyOfTwo = [UInt8](repeating: 2, count: 32)

  init() throws {
    devices = try SyncDevices()
    (one, two) = (try devices.store("one"), try devices.store("two"))
  }

  /// No file of a store, of its WAL, outbox or copies, and no object of the remote has the marker.
  private func expectNoMarker(_ step: String) throws {
    let root = devices.directory.path
    let files = try #require(FileManager.default.enumerator(atPath: root))
    var count = 0
    for case let name as String in files {
      guard let bytes = FileManager.default.contents(atPath: "\(root)/\(name)") else { continue }
      count += 1
      #expect(bytes.range(of: Data(Self.marker.utf8)) == nil, "\(step): \(name)")
    }
    #expect(count > 2)
  }

  private func filled() throws {
    try one.state.setKey(keyOfOne)
    try two.state.setKey(keyOfTwo)
    try one.state.set("token", .string(Self.marker), sensitive: true, synced: true)
    try one.state.set("theme", "dark", synced: true)
    try one.state.flush()
  }

  @Test("is sealed on both devices and in the remote, before, during and after a sync")
  func sealed() throws {
    try filled()
    try expectNoMarker("set")
    try devices.sync(one, key)
    try expectNoMarker("sent")
    try devices.sync(two, key)
    try expectNoMarker("applied")
    #expect(try two.state.get("token") == .string(Self.marker))
    // Changes on both sides, over a base.
    try two.state.set("token", .string(Self.marker + "2"), sensitive: true)
    try devices.sync(two, key)
    try devices.sync(one, key)
    #expect(try one.state.get("token") == .string(Self.marker + "2"))
    try one.state.remove("token")
    try devices.sync(one, key)
    try expectNoMarker("removed")
    try devices.sync(two, key)
    #expect(try two.state.get("token") == nil)
    try expectNoMarker("gone")
    #expect(try one.check().isEmpty && two.check().isEmpty)
    let quiet = try devices.sync(one, key)
    #expect(quiet.isUnchanged)
  }

  @Test("lists, sets and scores as well, with their members, keys and changes")
  func containers() throws {
    try filled()
    func state(_ store: Store) throws -> (list: StateList, set: StateSet, scores: StateScores) {
      (
        try store.state.list("l", limit: 9, sensitive: true, synced: true),
        try store.state.set(named: "m", sensitive: true, synced: true),
        try store.state.scores("s", sensitive: true, synced: true)
      )
    }
    let (first, second) = (try state(one), try state(two))
    for (part, number) in [(first, 1), (second, 2)] {
      try part.list.push(.string("\(Self.marker) \(number)"))
      try part.set.add(["word": .string("\(Self.marker) \(number)")])
      try part.scores.add(Self.marker, 0.25)
      try part.scores.add("\(Self.marker) \(number)", 0.5)
    }
    try one.state.flush()
    try two.state.flush()
    try expectNoMarker("pushed")
    for (store, step) in [(one, "sent"), (two, "merged"), (one, "applied")] {
      #expect(try devices.sync(store, key).failed.isEmpty)
      try expectNoMarker(step)
    }
    try first.set.remove(["word": .string("\(Self.marker) 2")])
    try second.list.remove(.string("\(Self.marker) 1"))
    for store in [one, two, one] { try devices.sync(store, key) }
    for part in [first, second] {
      #expect(try part.list.items().map(\.value) == [.string("\(Self.marker) 2")])
      #expect(try part.set.values() == [["word": .string("\(Self.marker) 1")]])
      // Equal scores without a common base count once.
      #expect(try part.scores.all().map(\.value) == [0.25, 0.5, 0.5])
    }
    try expectNoMarker("merged again")
    #expect(try devices.sync(two, key).isUnchanged && devices.sync(one, key).isUnchanged)
    #expect(try one.check().isEmpty && two.check().isEmpty)
    try one.state.rotateKey(to: keyOfTwo)
    #expect(try first.set.contains(["word": .string("\(Self.marker) 1")]))
    #expect(try devices.sync(one, key).isUnchanged)
  }

  @Test("is not sent without a key of the log, and every report names it")
  func withoutKey() throws {
    try filled()
    let dry = try devices.sync(one, nil, isDryRun: true)
    #expect(dry.failed.map(\.id) == ["value/token"])
    for _ in 0..<2 {
      let report = try devices.sync(one, nil)
      #expect(report.failed.map(\.id) == ["value/token"] && report.failed.map(\.code) == [.unauthorized])
    }
    try devices.sync(two, nil)
    #expect(try two.state.get("token") == nil && two.state.get("theme") == "dark")
    try expectNoMarker("not sent")
    // Encrypting the log sends them.
    let report = try one.rekey(devices.remote, user: devices.user, to: key)
    #expect(report.failed.isEmpty && report.state.uploaded > 0)
    try devices.sync(two, key)
    #expect(try two.state.get("token") == .string(Self.marker))
    try expectNoMarker("encrypted")
  }

  @Test("waits for the key of the store, with the reason, and is applied when it is set")
  func waiting() throws {
    try filled()
    try devices.sync(one, key)
    let three = try devices.store("three")
    let report = try devices.sync(three, key)
    #expect(report.state.waiting == 1)
    #expect(report.failed.map(\.id) == ["value/token"])
    #expect(report.failed.first?.message.contains("is applied when the encryption key is set") == true)
    #expect(try three.state.get("theme") == "dark" && three.state.keys() == ["theme"])
    try expectNoMarker("waiting")
    try three.state.setKey(keyOfTwo)
    #expect(try three.state.get("token") == .string(Self.marker))
    #expect(try devices.sync(three, key).isUnchanged)
    try expectNoMarker("applied")
  }

  @Test("waits also when the store was closed in between: the next sync applies it")
  func waitingReopened() throws {
    try filled()
    try devices.sync(one, key)
    let three = try devices.store("three")
    try devices.sync(three, key)
    let path = three.path
    try three.close()
    let again = try Store(path: path)
    try again.state.setKey(keyOfTwo)
    #expect(try again.state.get("token") == nil)
    #expect(try devices.sync(again, key).state.downloaded == 1)
    #expect(try again.state.get("token") == .string(Self.marker))
  }

  @Test("stays sealed when the key of the log changes, and is not lost")
  func rekey() throws {
    try filled()
    try devices.sync(one, key)
    try devices.sync(two, key)
    // Both are changed when the key changes.
    try two.state.set("token", .string(Self.marker + "2"), sensitive: true)
    try two.state.flush()
    try one.rekey(
      devices.remote, user: devices.user,
      options: {
        var options = StoreSyncOptions()
        options.key = key
        return options
      }(), to: otherKey)
    try expectNoMarker("rekeyed")
    #expect(throws: SatchelError.self) { try devices.sync(two, key) }
    try devices.sync(two, otherKey)
    try devices.sync(one, otherKey)
    #expect(try one.state.get("token") == .string(Self.marker + "2"))
    try expectNoMarker("joined")
    #expect(try devices.sync(two, otherKey).isUnchanged && devices.sync(one, otherKey).isUnchanged)
    #expect(try one.check().isEmpty && two.check().isEmpty)
  }

  @Test("prevents that a log is decrypted")
  func decrypting() throws {
    try filled()
    try devices.sync(one, key)
    try devices.sync(two, key)
    var options = StoreSyncOptions()
    options.key = key
    let error = #expect(throws: SatchelError.self) {
      try one.rekey(devices.remote, user: devices.user, options: options, to: nil)
    }
    #expect(error?.code == .invalid && error?.message.contains("@state/value/token") == true)
    try expectNoMarker("refused")
    try one.state.remove("token")
    try one.rekey(devices.remote, user: devices.user, options: options, to: nil)
    for key in [key, nil] {
      let refused = #expect(throws: SatchelError.self) { try devices.sync(two, key) }
      #expect(refused?.code == .unauthorized)
    }
    // The other device follows by the same call.
    try two.rekey(devices.remote, user: devices.user, options: options, to: nil)
    #expect(try two.state.get("theme") == "dark")
  }

  @Test("is merged, sent again and compacted when its stored form was damaged")
  func damaged() throws {
    try filled()
    try devices.sync(one, key)
    try devices.sync(two, key)
    try one.database.write {
      try $0.connection.run(
        "UPDATE sync_entry SET base = substr(base, 1, length(base) - 1) WHERE substr(base, 1, 1) = x'01'")
    }
    var options = StoreSyncOptions()
    (options.key, options.purge, options.verify) = (key, true, true)
    // Many entries, so that packs are rewritten from what the store has.
    let text = String(repeating: "x", count: 200)
    for number in 0..<400 { try one.state.set("k\(number)", .string(text), synced: true) }
    _ = try one.sync(with: devices.remote, user: devices.user, options: options)
    try one.state.set("token", "new", sensitive: true)
    _ = try one.sync(with: devices.remote, user: devices.user, options: options)
    try devices.sync(two, key)
    #expect(try two.state.get("token") == "new")
    #expect(try one.check().isEmpty)
  }
}
