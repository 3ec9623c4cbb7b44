import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Synchronization
import Testing

@testable import SatchelDocuments

@Suite("Records that expire")
struct RecordExpiryTests {
  /// 2027-01-15T08:00:00Z.
  private static let start: Int64 = 1_800_000_000_000
  private static let day: Int64 = 86_400_000

  private final class TestClock: Sendable {
    private let time = Atomic<Int64>(RecordExpiryTests.start)
    var clock: Clock { Clock { self.time.load(ordering: .relaxed) } }
    func advance(by milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
  }

  private let clock = TestClock()
  private let shelf: RecordShelf

  init() throws { shelf = try RecordShelf(onDisk: true, clock: clock.clock) }

  private func rows(_ collection: RecordCollection) throws -> Int64 {
    try shelf.database.read {
      try $0.number(
        "SELECT count(*) FROM record WHERE id > ? AND id < ?", .integer(RecordRow.base(of: collection.id)),
        .integer(RecordRow.base(of: collection.id + 1)))
    }
  }

  @Test("A record exists until the time that it has: then nothing that reads finds it")
  func untilATime() throws {
    let offers = try shelf.collection(
      "offers", search: ["title"], positions: ["at"], ttl: .until("expires"))
    let place: JSONValue = ["latitude": 41.15, "longitude": -8.61]
    try offers.put(
      "short", ["title": "Port wine", "at": place, "n": 1, "expires": "2027-01-15T09:00:01+01:00"])
    try offers.put("long", ["title": "Port pie", "at": place, "n": 2, "expires": "2027-01-16"])
    try offers.put("ever", ["title": "Port", "at": place, "n": 4, "expires": .null])
    func expect(_ ids: [String], sum: Int64) throws {
      #expect(try offers.ids() == ids)
      #expect(try offers.ids(RecordQuery(order: [.init("expires")])).sorted() == ids.sorted())
      #expect(try offers.count() == ids.count)
      #expect(try offers.count(.field("n", .greater(0))) == ids.count)
      #expect(try offers.aggregate([RecordAggregate(.sum, "n")]).first?.values == [.int(sum)])
      #expect(try offers.search("port").map(\.record.id).sorted() == ids.sorted())
      #expect(
        try offers.near(latitude: 41.15, longitude: -8.61, within: 100).map(\.record.id).sorted()
          == ids.sorted())
      for id in ["short", "long", "ever"] { #expect(try (offers.get(id) != nil) == ids.contains(id)) }
      #expect(try offers.get(["short", "long", "ever"]).keys.sorted() == ids.sorted())
      #expect(try offers.page(RecordQuery(limit: 2)).records.map(\.id) == Array(ids.prefix(2)))
    }
    try expect(["short", "long", "ever"], sum: 7)
    clock.advance(by: 999)
    try expect(["short", "long", "ever"], sum: 7)
    clock.advance(by: 1)
    try expect(["long", "ever"], sum: 6)
    clock.advance(by: Self.day)
    try expect(["ever"], sum: 4)
    #expect(try rows(offers) == 3)
    try shelf.expectSound()
  }

  @Test("A record of some seconds expires that long after its latest write")
  func seconds() throws {
    let cache = try shelf.collection("cache", ttl: .seconds(60))
    try cache.put("a", ["n": 1])
    try cache.put("b", ["n": 1])
    clock.advance(by: 59_999)
    try cache.put("b", ["n": 2])
    clock.advance(by: 1)
    #expect(try cache.ids() == ["b"])
    #expect(try cache.ids(RecordQuery(order: [.init("@modified", descending: true)])) == ["b"])
    clock.advance(by: 59_999)
    #expect(try cache.count() == 0)
  }

  @Test(
    "A write of an expired record writes a new one: id, revision, unique value, update, deletion and upsert")
  func writes() throws {
    let codes = try shelf.collection(
      "codes", indexes: [RecordIndex("code", unique: true)], ttl: .seconds(60))
    for id in ["a", "b", "c", "d"] { try codes.put(id, ["code": .string(id)]) }
    clock.advance(by: 60_000)
    #expect(try codes.put("a", text: #"{"code":"a2"}"#, ifRevision: 0).isNew)
    try codes.put("e", ["code": "b"])
    #expect(message(.notFound) { _ = try codes.update("c", ["n": 1]) }.contains("codes/c"))
    #expect(try codes.delete("d") == false)
    #expect(try codes.deleteMany(["a", "b"]) == 1)
    let (id, receipt) = try Array(#"{"code":"c"}"#.utf8).withUnsafeBytes { try codes.upsert("code", $0) }
    #expect(receipt.isNew && id != "c")
    #expect(try codes.ids().sorted() == ["e", id].sorted())
    #expect(try codes.update(where: nil, ["seen": true]) == 2)
    try shelf.expectSound()
  }

  @Test("References to an expired record are those to a missing one, and go with it")
  func references() throws {
    let sessions = try shelf.collection("sessions", ttl: .seconds(60))
    let notes = try shelf.collection(
      "notes", relations: ["session": RecordRelation("sessions", onDelete: .nullify)])
    let events = try shelf.collection(
      "events", relations: ["session": RecordRelation("sessions", onDelete: .cascade)])
    try sessions.put("s", ["user": "ana"])
    try notes.put("n", ["session": "s"])
    try events.put("e", ["session": "s"])
    clock.advance(by: 60_000)
    #expect(
      message(.constraint) { try notes.put("late", ["session": "s"]) }.contains("there is no sessions/s"))
    #expect(try notes.list(RecordQuery(json: ["include": ["session"]])).first?.included["session"] == [])
    try sessions.put("s", ["user": "rui"])
    #expect(try notes.text("n") == #"{"session":null}"#)
    #expect(try events.count() == 0)
    try shelf.expectSound()
  }

  @Test("What a declaration cannot mean is refused, with the way out")
  func declarations() throws {
    func reason(_ body: () throws -> Void) -> String { message(.invalid, body) }
    #expect(
      reason { _ = try shelf.store.open(CollectionDeclaration("a", synced: true, ttl: .seconds(1))) }
        == "a: ttl: a collection whose records expire is not synchronized: declare it with synced=false")
    #expect(
      reason { _ = try shelf.collection("a", ttl: .seconds(0)) }.contains("must be a number of seconds"))
    #expect(reason { _ = try shelf.collection("a", ttl: .until("@created")) }.contains("is no path into"))
    #expect(reason { _ = try shelf.collection("a", ttl: .until("tags[*]")) }.contains("is no path into"))
    #expect(
      reason { _ = try shelf.collection("a", types: ["end": .number], ttl: .until("end")) }
        .contains("is declared as number"))
    _ = try shelf.collection("holder", relations: ["to": RecordRelation("held")])
    #expect(
      reason { _ = try shelf.collection("held", ttl: .seconds(1)) }.contains("holder: the relation \"to\""))
    _ = try shelf.collection("expiring", ttl: .seconds(1))
    #expect(
      reason { _ = try shelf.collection("other", relations: ["to": RecordRelation("expiring")]) }
        .contains("cascade or nullify"))
    #expect(
      reason { _ = try shelf.collection("self", relations: ["to": RecordRelation("self")], ttl: .seconds(1)) }
        .contains("cascade or nullify"))
    #expect(
      reason { _ = try shelf.collection("expiring", ttl: .seconds(2)) }.contains("the ttl is 1 in the store"))
    let offers = try shelf.collection("offers", ttl: .until("end"))
    #expect(
      reason { try offers.put("a", ["end": "tomorrow"]) }
        == "offers/a: /end: must be a time of ISO 8601 or null: the record expires then")
    #expect(reason { try offers.put("a", ["end": 1_900_000_000]) }.contains("/end: must be a time"))
    let declared = try #require(try shelf.store.collections().first { $0.name == "offers" })
    #expect(declared.ttl == .until("end") && !declared.isSynced)
  }

  @Test("A declaration adds, replaces and drops the lifetime of records, and migrations move its path")
  func declaredAgain() throws {
    var notes = try shelf.collection("notes")
    try notes.put("a", ["end": "2027-01-15T08:00:01Z"])
    try notes.put("b", ["end": "soon"])
    notes = try shelf.collection("notes", ttl: .until("end"))
    clock.advance(by: 1000)
    #expect(try notes.ids() == ["b"])
    notes = try shelf.collection("notes")
    #expect(try notes.ids() == ["b"])
    notes = try shelf.collection(
      "notes", version: 2, migrations: [.steps([.rename(from: JSONPath("end"), to: JSONPath("until"))])])
    #expect(try notes.ids() == ["b"])
    #expect(try shelf.store.collections().first?.ttl == .until("until"))
    notes = try shelf.collection("notes", ttl: .seconds(10), redeclare: true)
    #expect(try notes.ids().count == 2)
    clock.advance(by: 10_000)
    #expect(try notes.count() == 0)
    notes = try shelf.collection("notes", redeclare: true)
    #expect(try notes.ids().count == 2)
    try shelf.expectSound()
  }

  @Test(
    "Expired records are deleted in the background, and live queries follow the clock",
    .timeLimit(.minutes(20)))
  func background() throws {
    let cache = try shelf.collection("cache", ttl: .seconds(60))
    let results = Locked<[[String]]>([])
    let live = try cache.watch { result in
      if case .success(let result) = result { results.withLock { $0.append(result.records.map(\.id)) } }
    }
    defer { live.cancel() }
    func wait(_ isTrue: () throws -> Bool) throws {
      while try !isTrue() { usleep(5000) }
    }
    try wait { results.withLock { $0.last } == [] }
    try cache.putAll((0..<250).map { ("r\($0)", ["n": .int($0)]) })
    try wait { results.withLock { $0.last?.count } == 250 }
    clock.advance(by: 60_000)
    try cache.put("new", ["n": 0])
    try wait { results.withLock { $0.last } == ["new"] }
    #expect(try rows(cache) == 251)
    let job = ExpiryJob(delay: 0)
    try job.add(cache)
    try wait { try rows(cache) == 1 }
    job.stop()
    try shelf.expectSound()
  }

  @Test(
    "A process that ends soon deletes some of what expired a day ago with each transaction"
  )
  func longExpired() throws {
    let cache = try shelf.collection("cache", ttl: .seconds(60))
    try cache.putAll((0..<150).map { ("r\($0)", ["n": .int($0)]) })
    clock.advance(by: 3_600_000)
    try cache.put("a", ["n": 0])
    #expect(try rows(cache) == 151)
    clock.advance(by: 60_000 + Self.day)
    try cache.put("b", ["n": 0])
    #expect(try rows(cache) == 52)
    try cache.put("b", ["n": 0])
    #expect(try rows(cache) == 1)
    #expect(try cache.ids() == ["b"])
    try shelf.expectSound()
  }

  @Test("A store that is opened read-only hides expired records")
  func readOnly() throws {
    try shelf.collection("cache", ttl: .seconds(60)).put("a", ["n": 1])
    var options = StoreOptions()
    (options.isReadOnly, options.clock) = (true, clock.clock)
    let database = try Database.open(
      path: shelf.path, options: options, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    let store = RecordStore(database: database, outbox: Outbox(path: shelf.path))
    let cache = try store.open(CollectionDeclaration("cache"))
    #expect(try cache.count() == 1)
    clock.advance(by: 60_000)
    #expect(try cache.count() == 0 && cache.get("a") == nil)
  }

  @Test("Random writes and steps of the clock have the results of a model", arguments: 1...4)
  func model(seed: Int) throws {
    struct Entry: Equatable {
      var n: Int64
      var end: Int64
    }
    var random = SeededRandom(seed: UInt64(seed))
    let shelves = [shelf, try shelf.another(clock: clock.clock)]
    let handles = try shelves.map {
      try $0.collection(
        "events", indexes: [RecordIndex("n"), RecordIndex("code", unique: true)], ttl: .until("end"))
    }
    var (model, now) = ([String: Entry](), Self.start)
    for step in 0..<600 {
      let events = handles[step % 2]
      let id = "e\(Int.random(in: 0..<40, using: &random))"
      model = model.filter { $0.value.end > now }
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let entry = Entry(
          n: Int64.random(in: 0..<5, using: &random), end: now + Int64.random(in: 1...9, using: &random) * 500
        )
        let end = ISODateTime.text(seconds: entry.end / 1000, fraction: ".\(entry.end % 1000 / 100)")
        let receipt = try events.put(id, ["n": .int(entry.n), "code": .string(id), "end": .string(end)])
        #expect(receipt.isNew == (model[id] == nil))
        model[id] = entry
      case 5: #expect(try events.delete(id) == (model.removeValue(forKey: id) != nil))
      case 6:
        #expect(try events.delete(where: .field("n", .equals(2))) == model.filter { $0.value.n == 2 }.count)
        model = model.filter { $0.value.n != 2 }
      default:
        let step = Int64.random(in: 0...3, using: &random) * 500
        clock.advance(by: step)
        now += step
        model = model.filter { $0.value.end > now }
      }
      #expect(try events.ids().sorted() == model.keys.sorted())
      let wanted = Int64.random(in: 0..<5, using: &random)
      #expect(
        try events.ids(RecordQuery(.field("n", .lessOrEqual(.int(wanted))), order: [.init("n")])).sorted()
          == model.filter { $0.value.n <= wanted }.keys.sorted())
      #expect(
        try events.count(.field("n", .notEquals(.int(wanted)))) == model.filter { $0.value.n != wanted }.count
      )
      let groups = try events.aggregate(groupBy: ["n"])
      #expect(groups.map(\.count).reduce(0, +) == model.count)
      #expect(try (events.get(id) != nil) == (model[id] != nil))
    }
    try shelf.expectSound()
  }
}
