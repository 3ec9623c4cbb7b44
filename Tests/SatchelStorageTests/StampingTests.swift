import SatchelTesting
import Synchronization
import Testing

@testable import SatchelCore
@testable import SatchelStorage

/// Times that a clock wrote while it was ahead.
@Suite("Stamping")
struct StampingTests {
  static let start = ClockTests.start
  static let day = ClockTests.day
  static let century: Int64 = 4_102_444_800_000

  /// Tables with each kind of time: with rowids and without.
  static let subject = SubjectSchema(
    name: "state",
    migrations: [
      Migration(
        version: 1,
        sql: """
          CREATE TABLE note(id INTEGER PRIMARY KEY, made INTEGER NOT NULL, seen INTEGER, file INTEGER) STRICT;
          CREATE TABLE fetched(
            name TEXT NOT NULL,
            ttl INTEGER NOT NULL,
            expires INTEGER NOT NULL,
            PRIMARY KEY(name)
          ) STRICT, WITHOUT ROWID;
          CREATE TABLE list(
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            time INTEGER NOT NULL,
            PRIMARY KEY(name, number)
          ) STRICT, WITHOUT ROWID;
          """)
    ],
    rules: StoredRules(times: [
      "note.made": .stamp, "note.seen": .stamp, "note.file": .kept,
      "fetched.expires": .expiry(timeToLive: "ttl"),
      "list.time": .ordered(group: "name", number: "number"),
    ]))

  let fixture: StorageFixture
  let host = TestClock(StampingTests.start)
  init() throws { fixture = try StorageFixture() }

  func open(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> Database {
    var options = StoreOptions()
    options.durability = .relaxed
    options.clock = host.clock
    change(&options)
    return try Database.open(
      path: fixture.path, options: options, migrations: StorageFixture.schema,
      subjects: [Self.subject, ClockSchema.subject])
  }

  func add(_ database: Database, _ sql: StaticString) throws {
    try database.prepare(Self.subject)
    try database.write { transaction in
      try transaction.connection.run(sql, .integer(transaction.now))
      transaction.note(subject: .state, keys: ["a"])
    }
  }

  func numbers(_ database: Database, _ sql: StaticString) throws -> [Int64?] {
    try database.read { connection in
      var numbers: [Int64?] = []
      try connection.each(sql) { numbers.append($0.isNull(0) ? nil : $0.anyInteger(0)) }
      return numbers
    }
  }

  /// Writes with a right clock, and with one in 2100.
  func makeStore(_ database: Database) throws {
    try add(database, "INSERT INTO note(made, seen, file) VALUES(?1, NULL, 1)")
    try add(database, "INSERT INTO fetched VALUES('right', 864000000, ?1 + 864000000)")
    host.set(Self.start + Self.day / 2)
    try add(database, "INSERT INTO list VALUES('l', 1, ?1)")
    host.set(Self.century)
    try add(database, "INSERT INTO note(made, seen, file) VALUES(?1, ?1, ?1)")
    try add(database, "INSERT INTO fetched VALUES('ahead', 864000000, ?1 + 864000000)")
    try add(database, "INSERT INTO list VALUES('l', 2, ?1)")
    try add(database, "INSERT INTO list VALUES('l', 3, ?1)")
    host.set(Self.start)
  }

  func verify(_ database: Database, at now: Int64) throws {
    #expect(try numbers(database, "SELECT made FROM note ORDER BY id") == [Self.start, now])
    #expect(try numbers(database, "SELECT seen FROM note ORDER BY id") == [nil, now])
    #expect(try numbers(database, "SELECT file FROM note ORDER BY id") == [1, Self.century])
    #expect(
      try numbers(database, "SELECT expires FROM fetched ORDER BY name DESC")
        == [Self.start + 10 * Self.day, now + 10 * Self.day])
    let half = Self.start + Self.day / 2
    #expect(
      try numbers(database, "SELECT time FROM list ORDER BY number") == [
        half, max(half, now), max(half, now),
      ])
    #expect(try numbers(database, "SELECT count(*) FROM change WHERE time > 1800000000000") == [0])
  }

  @Test("opening a store stamps what a clock that was ahead wrote, once")
  func opening() throws {
    let first = try open()
    try makeStore(first)
    #expect(try first.checkClock().map(\.code) == ["clock_ahead"])
    try first.close()
    let second = try open()
    try verify(second, at: Self.start)
    #expect(
      try second.clockCorrection
        == ClockCorrection(noticedAt: Self.start, latest: Self.century, stampedRows: 4))
    #expect(try second.checkClock() == [])
    host.set(Self.start + 100 * Self.day)
    try add(second, "INSERT INTO note(made) VALUES(?1)")
    #expect(try numbers(second, "SELECT made FROM note WHERE id = 2") == [Self.start])
    #expect(try second.clockCorrection?.noticedAt == Self.start)
  }

  @Test("the first write after the clock was set right stamps before it writes, and observers are notified")
  func writing() throws {
    let database = try open()
    try makeStore(database)
    let changes = Mutex<[[String]]>([])
    let subscription = try database.observe { change in changes.withLock { $0.append(change.keys) } }
    host.set(Self.start + 1000)
    try database.write { #expect($0.now == Self.start + 1000) }
    try verify(database, at: Self.start + 1000)
    #expect(changes.withLock { $0 } == [["*"]])
    subscription.cancel()
  }

  @Test("a read stamps as well, and a batch that is begun")
  func readingAndBatches() throws {
    let database = try open()
    try makeStore(database)
    _ = try database.query { _ in }
    try verify(database, at: Self.start)
    host.set(Self.century)
    try database.begin()
    try database.write {
      try $0.connection.run("UPDATE note SET made = ?, seen = NULL WHERE id = 2", .integer($0.now))
    }
    try database.commit()
    host.set(Self.start)
    try database.begin()
    #expect(try numbers(database, "SELECT made FROM note WHERE id = 2") == [Self.start])
    try database.rollback()
    #expect(try numbers(database, "SELECT made FROM note WHERE id = 2") == [Self.start])
  }

  @Test("another handle that was open meanwhile stamps at its next write")
  func otherHandle() throws {
    let wrong = TestClock(Self.start)
    let (one, other) = (try open { $0.clock = wrong.clock }, try open())
    try add(one, "INSERT INTO note(made) VALUES(?1)")
    wrong.set(Self.century)
    try add(one, "INSERT INTO note(made) VALUES(?1)")
    try other.write { #expect($0.now == Self.start) }
    #expect(try numbers(one, "SELECT made FROM note ORDER BY id") == [Self.start, Self.start])
    wrong.set(Self.start + 1)
    try one.write { #expect($0.now == Self.start + 1) }
  }

  @Test("a store that is opened read-only changes nothing, and says so")
  func readOnly() throws {
    let database = try open()
    try makeStore(database)
    host.set(Self.century)
    try database.close()
    host.set(Self.start)
    let reading = try open { $0.isReadOnly = true }
    _ = try reading.query { _ in }
    #expect(reading.clock.now() == Self.start)
    #expect(try numbers(reading, "SELECT made FROM note WHERE id = 2") == [Self.century])
    #expect(try reading.checkClock().first?.message.contains("fetched, list, note") == true)
  }

  @Test("a clock that goes forth and back again and again leaves one correction, and no times that are ahead")
  func again() throws {
    let database = try open()
    try makeStore(database)
    for round in 1...50 {
      host.set(Self.century + Int64(round))
      try add(database, "UPDATE note SET made = ?1 WHERE id = 2")
      host.set(Self.start + Int64(round) * 1000)
      try add(database, "UPDATE note SET seen = ?1 WHERE id = 1")
    }
    #expect(try numbers(database, "SELECT max(made) FROM note") == [Self.start + 50_000])
    #expect(try numbers(database, "SELECT count(*) FROM clock_correction") == [1])
    #expect(try database.clockCorrection?.stampedRows == 1)
  }

  @Test("an interrupted stamping is completed by the next one", arguments: 1...8)
  func interrupted(step: Int) throws {
    let database = try open()
    try makeStore(database)
    let count = try database.read { try Stamping.tables(database.times(), at: Self.start, $0).count }
    #expect(count == 4)
    // As if the process had ended after some tables: their times are stamped, and the newest one says that others are
    // left.
    host.set(Self.century)
    try database.write { transaction in
      for (_, stamping) in try Stamping.tables(database.times(), at: Self.start, transaction.connection)
        .prefix(step % 4)
      where stamping.table != "change" {
        var position = Int64.min
        while try stamping.step(after: &position, transaction.connection) > 0 {}
      }
      transaction.note(subject: .state, keys: ["b"])
    }
    host.set(Self.start)
    try database.write { _ in }
    try verify(database, at: Self.start)
  }

  @Test("a store with more rows than a step is stamped completely")
  func steps() throws {
    let database = try open()
    try database.prepare(Self.subject)
    host.set(Self.century)
    try database.write { transaction in
      try transaction.connection.run(
        """
        INSERT INTO note(id, made) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        SELECT i * 3 - 75000, ?1 FROM n
        """, .integer(transaction.now))
      try transaction.connection.run("INSERT INTO fetched SELECT id || 'x', 1, made + 1 FROM note")
    }
    host.set(Self.start)
    try database.write { _ in }
    #expect(try numbers(database, "SELECT DISTINCT made FROM note") == [Self.start])
    #expect(try numbers(database, "SELECT DISTINCT expires FROM fetched") == [Self.start + 1])
    #expect(try database.clockCorrection?.stampedRows == 100_000)
  }
}
