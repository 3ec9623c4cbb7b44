import Satchel
import Testing

@Suite("Remote versions that cannot be applied")
struct WaitingRecordTests {
  let devices: SyncDevices
  let (one, two): (Store, Store)

  init() throws {
    devices = try SyncDevices()
    (one, two) = (try devices.store("one"), try devices.store("two"))
  }

  @Test("wait for a schema that allows them, and do not stop the others") func schema() throws {
    let mine = try one.records("notes")
    let theirs = try two.records("notes", schema: ["type": "object", "required": ["title"]])
    try mine.put("good", ["title": "A"])
    try mine.put("bad", ["text": "B"])
    try devices.sync(one)
    let report = try devices.sync(two)
    #expect(report.records.downloaded == 1 && report.records.waiting == 1)
    let waiting = try #require(try theirs.conflicts().first)
    #expect(waiting.kind == .waiting && waiting.code == .constraint && waiting.record == "bad")
    #expect(try theirs.get("bad") == nil)
    #expect(try devices.sync(two).isUnchanged, "it is not tried again for nothing")
    let again = try two.records("notes", schema: ["type": "object"], redeclare: true)
    #expect(try again.get("bad")?.document == ["text": "B"] && again.conflicts().isEmpty)
  }

  @Test("wait for a value that another record has, until either changes") func unique() throws {
    let (mine, theirs) = (
      try one.records("users", indexes: [RecordIndex("email", unique: true)]),
      try two.records("users", indexes: [RecordIndex("email", unique: true)])
    )
    try mine.put("anna", ["email": "a@example.org"])
    try theirs.put("anne", ["email": "a@example.org"])
    try devices.sync(one)
    #expect(try devices.sync(two).records.waiting == 1)
    #expect(try theirs.conflicts().first?.reason?.contains("users/anne") == true)
    #expect(try devices.sync(one).records.waiting == 1)
    try theirs.put("anne", ["email": "anne@example.org"])
    try devices.syncAll(two, one)
    #expect(try theirs.documents == mine.documents && mine.count() == 2)
    #expect(try mine.conflicts().isEmpty && theirs.conflicts().isEmpty)
  }

  @Test("wait for the record that they refer to") func missing() throws {
    let relation = ["author": RecordRelation("authors")]
    let (authors, books) = (try one.records("authors"), try one.records("books", relations: relation))
    try authors.put("eca", [:])
    try books.put("maias", ["author": "eca"])
    try devices.sync(one)
    // The second store synchronizes the books alone.
    let theirAuthors = try two.records("authors", synced: false)
    let theirBooks = try two.records("books", relations: relation)
    #expect(try devices.sync(two).records.waiting == 1 && theirBooks.count() == 0)
    try theirAuthors.put("eca", [:])
    try devices.sync(two)
    #expect(try theirBooks.count() == 1 && theirBooks.conflicts().isEmpty)
  }

  @Test("wait for an app with their version") func newer() throws {
    let migrations = [RecordMigration.steps([try MigrationStep(json: ["rename": ["from": "a", "to": "b"]])])]
    let mine = try one.records("notes", version: 2, migrations: migrations)
    try mine.put("n", ["b": 1])
    let theirs = try two.records("notes")
    try theirs.put("old", ["a": 5])
    try devices.sync(one)
    let report = try devices.sync(two)
    #expect(report.records.waiting == 1 && report.records.uploaded == 1)
    #expect(try theirs.conflicts().first?.code == .newer)
    try devices.sync(one)
    #expect(try mine.get("old")?.document == ["b": 5])
    let updated = try two.records("notes", version: 2, migrations: migrations)
    #expect(try updated.documents == mine.documents)
  }

  @Test("can be resolved by the host") func resolved() throws {
    let mine = try one.records("notes")
    let theirs = try two.records("notes", schema: ["type": "object", "required": ["title"]])
    try mine.put("n", ["text": "B"])
    try devices.sync(one)
    try devices.sync(two)
    let waiting = try #require(try theirs.conflicts().first)
    #expect(throws: SatchelError.self) { try theirs.resolve(waiting.id, .keepRemote) }
    #expect(try theirs.conflicts().count == 1, "nothing has changed")
    try theirs.resolve(waiting.id, .document(["title": "C"]))
    try devices.syncAll(two, one)
    #expect(try mine.documents == ["n": ["title": "C"]] && theirs.conflicts().isEmpty)
  }

  @Test(
    "the relation decides about a reference to a record that was deleted remotely",
    arguments: RecordRelation.OnDelete.allCases)
  func deleted(_ onDelete: RecordRelation.OnDelete) throws {
    let relation = ["list": RecordRelation("lists", onDelete: onDelete)]
    func open(_ store: Store) throws -> (lists: RecordCollection, tasks: RecordCollection) {
      (try store.records("lists"), try store.records("tasks", relations: relation))
    }
    let (mine, theirs) = (try open(one), try open(two))
    try mine.lists.put("home", ["name": "Home"])
    try devices.syncAll(one, two)
    try theirs.tasks.put("sweep", ["list": "home"])
    try mine.lists.delete("home")
    try devices.syncAll(one, two)
    #expect(try mine.lists.documents == theirs.lists.documents)
    #expect(try mine.tasks.documents == theirs.tasks.documents)
    switch onDelete {
    case .restrict:
      #expect(try mine.lists.count() == 1 && mine.tasks.documents == ["sweep": ["list": "home"]])
    case .nullify:
      #expect(try mine.lists.count() == 0 && mine.tasks.documents == ["sweep": ["list": .null]])
    case .cascade:
      #expect(try mine.lists.count() == 0 && mine.tasks.count() == 0)
      #expect(try theirs.tasks.conflicts().map(\.kind) == [.lost], "it was never sent")
    }
    #expect(try one.check().isEmpty && two.check().isEmpty)
  }

  @Test("a downloaded reference loses the targets whose deletion is not sent yet") func unsent() throws {
    let relation = ["lists": RecordRelation("lists", onDelete: .nullify, many: true)]
    func open(_ store: Store) throws -> (lists: RecordCollection, tasks: RecordCollection) {
      (try store.records("lists"), try store.records("tasks", relations: relation))
    }
    let (mine, theirs) = (try open(one), try open(two))
    for id in ["home", "work", "garden"] { try mine.lists.put(id, [:]) }
    try devices.syncAll(one, two)
    try theirs.tasks.put("sweep", ["lists": ["home", "work", "garden"]])
    try devices.sync(two)
    for id in ["home", "garden"] { try mine.lists.delete(id) }
    try devices.syncAll(one, two)
    #expect(try mine.tasks.documents == ["sweep": ["lists": ["work"]]])
    #expect(try theirs.tasks.documents == mine.tasks.documents && mine.tasks.conflicts().isEmpty)
    #expect(try one.check().isEmpty && two.check().isEmpty)
  }

  @Test("records that refer to each other in a cycle are applied together") func circle() throws {
    let relation = ["next": RecordRelation("nodes")]
    let (mine, theirs) = (
      try one.records("nodes", relations: relation), try two.records("nodes", relations: relation)
    )
    try one.batch {
      for number in 0..<5 { try mine.put("\(number)", ["next": .string("\((number + 1) % 5)")]) }
    }
    try devices.sync(one)
    #expect(try devices.sync(two).records.downloaded == 5 && theirs.count() == 5)
    #expect(try two.check().isEmpty)
  }

  @Test("unique values that rotate are applied together", arguments: [2, 3, 100]) func rotation(_ count: Int)
    throws
  {
    let indexes = [RecordIndex("code", unique: true)]
    let (mine, theirs) = (
      try one.records("users", indexes: indexes), try two.records("users", indexes: indexes)
    )
    for number in 0..<count { try mine.put("\(number)", ["code": .int(Int64(number))]) }
    try devices.syncAll(one, two)
    try one.batch {
      try mine.put("0", [:])
      for number in 1..<count { try mine.put("\(number)", ["code": .int(Int64(number - 1))]) }
      try mine.put("0", ["code": .int(Int64(count - 1))])
    }
    try devices.sync(one)
    let report = try devices.sync(two)
    #expect(report.records.downloaded == count && report.records.waiting == 0)
    #expect(try theirs.documents == mine.documents && theirs.conflicts().isEmpty)
    #expect(try two.check().isEmpty)
  }

  @Test("a declaration in a batch applies what is stored, as part of the batch") func declaredInBatch() throws
  {
    try one.records("notes").put("n", ["title": "A"])
    try devices.sync(one)
    try devices.sync(two)
    struct GivenUp: Error {}
    #expect(throws: GivenUp.self) {
      try two.batch {
        #expect(try two.records("notes").documents == ["n": ["title": "A"]])
        throw GivenUp()
      }
    }
    #expect(try two.collections().isEmpty)
    let notes = try two.batch {
      let notes = try two.records("notes")
      #expect(try notes.documents == ["n": ["title": "A"]])
      return notes
    }
    #expect(try notes.status("n") == .synced && devices.sync(two).isUnchanged)
  }

  @Test("versions that are discarded are kept, with their side", arguments: ConflictPolicy.allCases)
  func lost(_ policy: ConflictPolicy) throws {
    let (mine, theirs) = (
      try one.records("notes", onConflict: policy), try two.records("notes", onConflict: policy)
    )
    try mine.put("n", ["title": "A"])
    try devices.syncAll(one, two)
    try mine.put("n", ["title": "B"])
    try theirs.put("n", ["title": "C"])
    try devices.sync(one)
    #expect(try devices.sync(two).records.conflicts == 1)
    let conflict = try #require(try theirs.conflicts().first)
    #expect(conflict.kind == (policy == .ask ? .open : .lost))
    #expect(conflict.remote == ["title": "B"] && conflict.local == ["title": "C"])
    guard let side = conflict.side else { return #expect(policy == .ask) }
    #expect(try theirs.get("n")?.document["title"] == (side == .remote ? "C" : "B"))
    try theirs.resolve(conflict.id, side == .remote ? .keepRemote : .keepLocal)
    #expect(try theirs.conflicts().isEmpty)
    #expect(try theirs.get("n")?.document["title"] == (side == .remote ? "B" : "C"))
    try devices.syncAll(two, one)
    #expect(try mine.documents == theirs.documents)
  }
}
