import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("Sensitive fields of records")
struct SensitiveFieldsTests {
  private let devices: SyncDevices
  private let store: Store
  static let marker = "plain-MARKER-of-a-field"
  private static let key = [UInt8](repeating: 1, count: 32)
  private static let otherKey = [UInt8](repeating: 2, count: 32)

  init() throws {
    devices = try SyncDevices()
    store = try devices.store("one")
  }

  private func error(_ body: () throws -> Void) -> SatchelError? {
    do {
      try body()
      return nil
    } catch { return error as? SatchelError }
  }

  private func put(_ collection: RecordCollection, _ id: String, _ text: String) throws {
    try Array(text.utf8).withUnsafeBytes { _ = try collection.put(id, $0) }
  }

  private func text(_ collection: RecordCollection, _ id: String) throws -> String? {
    try collection.get(id).map { String(decoding: $0.body, as: UTF8.self) }
  }

  private static let document =
    #"{ "name": "Ann", "token" : "\#(marker)\n\u00e9", "profile":{"ssn": [1, "\#(marker)"],"x":1.50 } }"#

  private func filled() throws -> RecordCollection {
    try store.state.setKey(Self.key)
    let people = try store.records(
      "people", indexes: [RecordIndex("name")], sensitive: ["token", "/profile/ssn"])
    try put(people, "ann", Self.document)
    try put(people, "bob", #"{"name":"Bob"}"#)
    return people
  }

  @Test("are sealed in every file, and documents are returned byte for byte")
  func roundTrip() throws {
    let people = try filled()
    #expect(try text(people, "ann") == Self.document)
    #expect(try text(people, "bob") == #"{"name":"Bob"}"#)
    #expect(try people.list(RecordQuery(.field("name", .equals("Ann")))).map(\.id) == ["ann"])
    try people.update("ann", ["token": .string(Self.marker + "2"), "age": 7])
    #expect(try people.get("ann")?.document["token"] == .string(Self.marker + "2"))
    #expect(try people.get("ann")?.document["profile"]?["ssn"]?.arrayValue?.last == .string(Self.marker))
    try devices.expectNone(Self.marker, "written")
    #expect(try store.check().isEmpty)
    let backup = try store.backup(to: devices.path("backup"))
    _ = backup
    try store.close()
    try devices.expectNone(Self.marker, "closed")
    let again = try Store(path: devices.path("one"))
    #expect(try again.collections().first?.sensitive == ["token", "/profile/ssn"])
    try again.state.setKey(Self.key)
    #expect(try again.records("people").get("ann")?.document["age"] == 7)
  }

  @Test("of deferred puts are sealed where the store rejects them")
  func deferred() throws {
    _ = try filled()
    let people = try store.records(
      "people", indexes: [RecordIndex("name"), RecordIndex("mail", unique: true)])
    try people.putDeferred("eve", ["mail": "a", "token": .string(Self.marker)])
    try people.putDeferred("fay", ["mail": "a", "token": .string(Self.marker)])
    #expect(try people.ids() == ["ann", "bob", "eve"])
    let entry: StaticString = "SELECT json_extract(entry, '$.sealed_records.collection') FROM outbox_rejected"
    #expect(try store.database.read { try $0.first(entry) { $0.text(0) } } == "people")
    try devices.expectNone(Self.marker, "rejected")
  }

  @Test("are neither read nor written without the key, and nothing is changed")
  func withoutKey() throws {
    _ = try filled()
    let other = try devices.store("one")
    let people = try other.records("people")
    for body in [
      { _ = try people.get("ann") }, { _ = try people.list() }, { try put(people, "ann", #"{"token":1}"#) },
      { try people.update("ann", ["age": 1]) },
    ] {
      let error = error(body)
      #expect(error?.code == .unauthorized)
      #expect(
        error?.message.contains("people/ann: /token: is sensitive; set the encryption key first") == true)
    }
    #expect(try people.count() == 2 && people.ids() == ["ann", "bob"])
    #expect(error { try other.state.setKey(Self.otherKey) }?.message.contains("“people”") == true)
    #expect(try other.check().isEmpty)
    try other.state.setKey(Self.key)
    #expect(try text(people, "ann") == Self.document)
    #expect(try people.delete("bob"))
  }

  @Test("are resealed with values of state when the key is changed")
  func rotate() throws {
    let people = try filled()
    let other = try devices.store("one")
    try other.state.setKey(Self.key)
    let theirs = try other.records("people")
    try store.state.set("token", .string(Self.marker), sensitive: true)
    try store.state.rotateKey(to: Self.otherKey)
    #expect(try text(people, "ann") == Self.document && store.state.get("token") == .string(Self.marker))
    try put(people, "cec", Self.document)
    #expect(error { _ = try theirs.get("ann") }?.message.contains("another encryption key") == true)
    #expect(error { try put(theirs, "dan", Self.document) }?.code == .unauthorized)
    #expect(error { try other.state.setKey(Self.key) }?.code == .unauthorized)
    try other.state.setKey(Self.otherKey)
    #expect(try text(theirs, "cec") == Self.document)
    try devices.expectNone(Self.marker, "rotated")
    #expect(try store.check().isEmpty && other.check().isEmpty)
  }

  @Test("can be declared, and removed from the declaration, of a collection that has records")
  func declareLater() throws {
    let people = try store.records("people")
    for number in 0..<600 { try put(people, "p\(number)", #"{"n":\#(number),"token":"secret \#(number)"}"#) }
    #expect(
      error { _ = try store.records("people", sensitive: ["token"]) }?.message.contains("people/p0: /token")
        == true)
    #expect(try text(people, "p7") == #"{"n":7,"token":"secret 7"}"#)
    try store.state.setKey(Self.key)
    let sealed = try store.records("people", sensitive: ["token"])
    #expect(try text(sealed, "p599") == #"{"n":599,"token":"secret 599"}"#)
    let bodies =
      "SELECT count(*) FROM record WHERE is_sealed = 1 AND instr(body, 'secret') = 0" as StaticString
    #expect(try store.database.read { try $0.number(bodies) } == 600)
    // More fields, then none.
    let more = try store.records("people", sensitive: ["n"])
    #expect(try store.collections().first?.sensitive == ["token", "n"])
    #expect(try text(more, "p3") == #"{"n":3,"token":"secret 3"}"#)
    let open = try store.records("people", indexes: [RecordIndex("n")], redeclare: true)
    #expect(try store.database.read { try $0.number(bodies) } == 0)
    #expect(try open.list(RecordQuery(.field("n", .equals(3)))).map(\.id) == ["p3"])
    #expect(try store.check().isEmpty)
    try store.state.setKey(Self.otherKey)
  }

  @Test("cannot be indexed, related, queried or sorted by, and neither can their parents and members")
  func refusals() throws {
    _ = try filled()
    for path in ["profile", "profile.ssn", "/profile/ssn/1", "token"] {
      let message = "is sensitive"
      #expect(
        error { _ = try store.records("people", indexes: [RecordIndex(path)]) }?.message.contains(message)
          == true)
      #expect(
        error { _ = try store.records("people", relations: [path: RecordRelation("people")]) }?.message
          .contains(message) == true)
      let people = try store.records("people")
      #expect(
        error { _ = try people.list(RecordQuery(order: [.init(path)])) }?.message.contains(message) == true)
      let filter = RecordFilter.not(.any([.field(path, .exists(true))]))
      #expect(error { _ = try people.list(RecordQuery(filter)) }?.code == .invalid)
      #expect(error { _ = try people.count(RecordQuery(filter)) }?.code == .invalid)
    }
    #expect(error { _ = try store.records("x", sensitive: ["a", "a.b"]) }?.code == .invalid)
    #expect(error { _ = try store.records("x", sensitive: ["a", "a"]) }?.code == .invalid)
    #expect(error { _ = try store.records("x", sensitive: [""]) }?.code == .invalid)
    let people = try store.records("people")
    #expect(error { try people.mirror(devices.path("mirror")) }?.message.contains("mirror") == true)
    #expect(try people.list(RecordQuery(order: [.init("name"), .init("profile.x")])).count == 2)
  }

  @Test("keep a plain string that looks like a sealed field")
  func forged() throws {
    let people = try filled()
    let stored = try store.database.read {
      try $0.first("SELECT body FROM record ORDER BY id LIMIT 1") {
        String(decoding: $0.bytes(0), as: UTF8.self)
      }
    }
    let sealed = try #require(try JSONValue(parsing: Array((stored ?? "").utf8))["token"]?.stringValue)
    let document = JSONValue.object(["token": .string(sealed), "name": .string(sealed)])
    try people.put("eve", document)
    #expect(try people.get("eve")?.document == document)
    // A field that is moved to another record does not open.
    try store.database.write { transaction in
      try Array((stored ?? "").utf8).withUnsafeBytes {
        try transaction.connection.run("UPDATE record SET body = ? WHERE key = 'eve'", .blob($0))
      }
    }
    #expect(error { _ = try people.get("eve") }?.code == .damaged)
    #expect(try store.check().contains { $0.message.contains("people/eve: /token") })
  }

  @Test("are checked by the schema, migrated in both directions, and imported")
  func migrations() throws {
    try store.state.setKey(Self.key)
    let schema: JSONValue = ["properties": ["token": ["type": "string", "maxLength": 60]]]
    var people = try store.records("people", sensitive: ["token"], schema: schema)
    try put(people, "ann", #"{"token":"\#(Self.marker)"}"#)
    #expect(error { try put(people, "ann", #"{"token":5}"#) }?.code == .constraint)
    let steps = try RecordMigration(json: [
      ["rename": ["from": "token", "to": "secret"]], ["remove": ["path": "old"]],
    ])
    try put(people, "bob", #"{"token":"x","old":"\#(Self.marker)"}"#)
    people = try store.records(
      "people", sensitive: ["secret"], version: 2, migrations: [steps])
    #expect(try people.get("ann")?.document == ["secret": .string(Self.marker)])
    try devices.expectNone(Self.marker + "x", "migrated")
    let kept = "SELECT count(*) FROM record_kept WHERE instr(value, 'MARKER') > 0" as StaticString
    #expect(try store.database.read { try $0.number(kept) } == 0)
    try store.state.rotateKey(to: Self.otherKey)
    people = try store.records("people", version: 1)
    #expect(try people.get("bob")?.document == ["token": "x", "old": .string(Self.marker)])
    #expect(try store.check().isEmpty)
    // A version whose only sensitive field is another one, and one without any.
    people = try store.records(
      "people", sensitive: ["secret"], version: 2, migrations: [steps], redeclare: true)
    #expect(try store.collections().first?.sensitive == ["secret"])
    #expect(try people.get("bob")?.document == ["secret": "x"] && store.check().isEmpty)
    #expect(try store.database.read { try $0.number(kept) } == 0)
    people = try store.records("people", version: 1, redeclare: true)
    #expect(try people.get("bob")?.document == ["token": "x", "old": .string(Self.marker)])
    #expect(try store.check().isEmpty && store.collections().first?.sensitive == [])
    let stored =
      "SELECT count(*) FROM record WHERE is_sealed = 0 AND instr(body, 'MARKER') > 0" as StaticString
    #expect(try store.database.read { try $0.number(stored) } == 2)
  }

  @Test("are not known to be sealed when the first write was rolled back")
  func rolledBack() throws {
    struct Undo: Error {}
    try store.state.setKey(Self.key)
    let people = try store.records("people", sensitive: ["token"])
    #expect(throws: Undo.self) {
      try store.batch {
        try put(people, "ann", #"{"token":1}"#)
        throw Undo()
      }
    }
    try store.state.setKey(Self.otherKey)
    try put(people, "ann", #"{"token":2}"#)
    #expect(error { try store.state.setKey(Self.key) }?.code == .unauthorized)
    try people.clear()
    try store.state.setKey(Self.key)
    try put(people, "ann", #"{"token":3}"#)
    #expect(try text(people, "ann") == #"{"token":3}"#)
    #expect(try store.check().isEmpty)
  }

  @Test("are not declared while a mirror would have them in plain text")
  func mirrored() throws {
    try store.state.setKey(Self.key)
    let people = try store.records("people")
    try put(people, "ann", #"{"token":1}"#)
    try people.mirror(devices.path("mirror"), mode: .fileFirst)
    #expect(
      error { _ = try store.records("people", sensitive: ["token"]) }?.message.contains("mirror") == true)
    #expect(try store.collections().first?.sensitive == [])
    #expect(try text(people, "ann") == #"{"token":1}"#)
  }

  @Test("stay sealed when a store is recovered, also without its declarations", arguments: [false, true])
  func recovered(hasLostDeclaration: Bool) throws {
    let people = try filled()
    for number in 0..<50 { try put(people, "p\(number)", Self.document) }
    if hasLostDeclaration {
      try store.database.write { try $0.connection.run("DELETE FROM record_collection") }
    }
    try store.close()
    _ = try Store.recover(devices.path("one"), into: devices.path("two"))
    let two = try devices.store("two")
    if hasLostDeclaration {
      let name = try #require(try two.collections().first?.name)
      let lost = try two.records(name)
      #expect(error { _ = try lost.get("ann") }?.message.contains("declare them again") == true)
      try two.state.setKey(Self.key)
      #expect(
        error { try two.state.rotateKey(to: Self.otherKey) }?.message.contains("declare them before") == true)
      let declared = try two.records(name, sensitive: ["token", "/profile/ssn"])
      #expect(try text(declared, "p49") == Self.document)
      try two.state.rotateKey(to: Self.otherKey)
      #expect(try text(declared, "ann") == Self.document && two.check().isEmpty)
    } else {
      try two.state.setKey(Self.key)
      #expect(try text(two.records("people"), "p49") == Self.document)
      #expect(try two.check().isEmpty)
    }
    try devices.expectNone(Self.marker, "recovered")
  }

  @Test("are sealed in the outbox file, and written when the key is set")
  func spooled() throws {
    let people = try filled()
    let other = try devices.store("one")
    try other.begin()
    try other.records("others").put("a", ["n": 1])
    let receipt = try devices.quick("one")
    try receipt.state.setKey(Self.key)
    let quick = try receipt.records("people")
    #expect(try quick.put("new", ["token": .string(Self.marker)]).isSpooled)
    try devices.expectNone(Self.marker, "spooled")
    try other.rollback()
    try receipt.close()
    try store.close()
    try other.close()
    _ = people
    let again = try devices.store("one")
    let reopened = try again.records("people")
    #expect(try reopened.ids(RecordQuery(.field("@id", .equals("new")))) == [])
    try devices.expectNone(Self.marker, "rejected")
    try again.state.setKey(Self.key)
    #expect(try reopened.get("new")?.document == ["token": .string(Self.marker)])
    #expect(try again.check().isEmpty)
    try devices.expectNone(Self.marker, "drained")
  }
}

extension SyncDevices {
  /// A store that does not wait.
  func quick(_ name: String) throws -> Store {
    var options = StoreOptions()
    options.busyTimeout = 1
    return try Store(path: path(name), options: options)
  }

  /// No file of the stores and of the remote has a text.
  func expectNone(_ text: String, _ step: String) throws {
    let files = try #require(FileManager.default.enumerator(atPath: directory.path))
    for case let name as String in files {
      guard let bytes = FileManager.default.contents(atPath: "\(directory.path)/\(name)") else { continue }
      #expect(bytes.range(of: Data(text.utf8)) == nil, "\(step): \(name)")
    }
  }
}
