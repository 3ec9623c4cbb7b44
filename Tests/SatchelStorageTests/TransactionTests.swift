import Dispatch
import Testing

import SatchelCore
import SatchelStorage

@Suite("Transactions")
struct TransactionTests {
  let fixture: StorageFixture
  init() throws { fixture = try StorageFixture() }

  struct Refused: Error {}

  @Test("a failed write changes nothing and reports nothing")
  func rollback() throws {
    let database = try fixture.open()
    let observed = ObservedChanges()
    let subscription = try database.observe { observed.add($0) }
    nonisolated(unsafe) var mended: [Int] = []
    #expect(throws: Refused.self) {
      try database.write { transaction in
        try transaction.add("gone")
        transaction.note(subject: .test, keys: ["gone"], place: nil)
        transaction.onFailure { mended.append(1) }
        transaction.onFailure { mended.append(2) }
        throw Refused()
      }
    }
    #expect(try database.read { try $0.items() } == 0)
    #expect(observed.all.isEmpty)
    #expect(mended == [2, 1])
    try database.write { try $0.add("kept") }
    #expect(try database.read { try $0.names() } == ["kept"])
    subscription.cancel()
  }

  @Test("a failed write inside a write is rolled back alone")
  func savepoint() throws {
    let database = try fixture.open()
    let observed = ObservedChanges()
    let subscription = try database.observe { observed.add($0) }
    nonisolated(unsafe) var mended: [String] = []
    try database.write { outer in
      try outer.add("before")
      outer.note(subject: .test, keys: ["before"], place: nil)
      outer.onFailure { mended.append("outer") }
      #expect(throws: Refused.self) {
        try database.write { inner in
          try inner.add("inner")
          inner.note(subject: .test, keys: ["inner"], place: nil)
          inner.onFailure { mended.append("inner") }
          try database.write { innermost in
            try innermost.add("innermost")
            innermost.note(subject: .test, keys: ["innermost"], place: nil)
          }
          #expect(try database.read { try $0.items() } == 3)
          throw Refused()
        }
      }
      #expect(try database.read { try $0.items() } == 1)
      try database.write { sibling in
        try sibling.add("sibling")
        sibling.note(subject: .test, keys: ["sibling"], place: nil)
        #expect(sibling.revision == outer.revision)
      }
      #expect(observed.all.isEmpty, "reported before the commit")
    }
    #expect(try database.read { try $0.names() } == ["before", "sibling"])
    #expect(observed.keys == ["before", "sibling"])
    #expect(mended == ["inner"])
    subscription.cancel()
  }

  @Test("changes of the inner write are rolled back when the outer one fails")
  func outerFails() throws {
    let database = try fixture.open()
    #expect(throws: Refused.self) {
      try database.write { _ in
        try database.write { try $0.add("inner") }
        throw Refused()
      }
    }
    #expect(try database.read { try $0.items() } == 0)
  }

  @Test("a write inside a read inside a write belongs to the outer write")
  func writeInReadInWrite() throws {
    let database = try fixture.open()
    #expect(throws: Refused.self) {
      try database.write { outer in
        try outer.add("outer")
        try database.read { connection in
          #expect(try connection.items() == 1)
          try database.write { try $0.add("inner") }
          #expect(try connection.items() == 2)
        }
        throw Refused()
      }
    }
    #expect(try database.read { try $0.items() } == 0)
  }

  @Test("a read keeps its snapshot while another call of the same thread writes")
  func writeInRead() throws {
    let database = try fixture.open()
    try database.read { connection in
      #expect(try connection.items() == 0)
      try database.write { try $0.add("x") }
      #expect(try connection.items() == 0)
      #expect(try database.read { try $0.items() } == 1)
    }
    #expect(try database.read { try $0.items() } == 1)
  }

  @Test("two handles of one file see each other's writes")
  func twoHandles() throws {
    let (one, other) = (try fixture.open(), try fixture.open())
    for round in 0..<20 {
      let (writer, reader) = round % 2 == 0 ? (one, other) : (other, one)
      try writer.write { try $0.add("\(round)") }
      #expect(try reader.read { try $0.items() } == Int64(round + 1))
    }
    try one.close()
    try other.write { try $0.add("last") }
    try other.close()
    #expect(try fixture.listing() == ["store"])
  }

  @Test("readers see the snapshot before a long write, and never wait for it")
  func readersDoNotWait() throws {
    let (one, other) = (try fixture.open(), try fixture.open())
    try one.write { try $0.add("before") }
    let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let writing = Background {
      try one.write { transaction in
        for number in 0..<2000 { try transaction.add("during \(number)") }
        began.signal()
        mayEnd.wait()
      }
    }
    began.wait()
    let readers = [one, other, one, other, one, other].map { database in
      Background {
        let count = try database.read { try $0.items() }
        #expect(count == 1)
      }
    }
    for reader in readers {
      #expect(reader.ends(within: 120), "a reader waits for the writer")
      try reader.finish()
    }
    #expect(!writing.ends(within: 0))
    mayEnd.signal()
    try writing.finish()
    #expect(try other.read { try $0.items() } == 2001)
  }

  @Test("a second writer times out and changes nothing", arguments: [true, false])
  func busy(ofSameHandle: Bool) throws {
    let holder = try fixture.open { $0.busyTimeout = 300 }
    let waiter = ofSameHandle ? holder : try fixture.open { $0.busyTimeout = 300 }
    try waiter.write { try $0.add("before") }
    let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let holding = Background {
      try holder.write { transaction in
        try transaction.add("holder")
        began.signal()
        mayEnd.wait()
      }
    }
    began.wait()
    var result: SatchelError.Code?
    let waited = try elapsed { result = try code { try waiter.write { try $0.add("waiter") } } }
    #expect(result == .busy)
    #expect(waited > 0.2)
    mayEnd.signal()
    try holding.finish()
    #expect(try waiter.read { try $0.names() } == ["before", "holder"])
    try waiter.write { try $0.add("after") }
    #expect(try holder.read { try $0.names() } == ["before", "holder", "after"])
  }

  @Test("a second writer waits for a short first one", arguments: [true, false])
  func waits(ofSameHandle: Bool) throws {
    let one = try fixture.open()
    let other = ofSameHandle ? one : try fixture.open()
    let writers = [one, other, one, other].map { database in
      Background { for number in 0..<50 { try database.write { try $0.add("\(number)") } } }
    }
    for writer in writers { try writer.finish() }
    #expect(try one.read { try $0.items() } == 200)
  }

  @Test("a statement is prepared once and reused")
  func preparedOnce() throws {
    let database = try fixture.open()
    func statement(_ connection: Connection) throws -> Statement {
      try connection.prepared("SELECT name FROM item WHERE id = ?")
    }
    var seen: Set<ObjectIdentifier> = []
    var kept: [Statement] = []
    for number in 0..<50 {
      try database.write { transaction in
        let prepared = try statement(transaction.connection)
        if seen.insert(ObjectIdentifier(prepared)).inserted { kept.append(prepared) }
        try transaction.add("\(number)")
      }
    }
    #expect(kept.count == 1)
    kept = []
    // Earlier bindings are cleared.
    try database.read { connection in
      for id in Int64(1)...3 {
        let name = try connection.first("SELECT name FROM item WHERE id = ?", .integer(id)) { $0.text(0) }
        #expect(name == "\(id - 1)")
      }
      #expect(try connection.first("SELECT name FROM item WHERE id = ?") { $0.text(0) } == nil)
    }
  }

  @Test("values are returned as they were bound")
  func bindings() throws {
    let database = try fixture.open(
      migrations: StorageFixture.schema + [Migration(version: 2, sql: "CREATE TABLE value(x)")])
    let bytes: [UInt8] = [0, 1, 255, 0]
    try database.write { transaction in
      let connection = transaction.connection
      try connection.run("INSERT INTO value VALUES(?)", .null)
      try connection.run("INSERT INTO value VALUES(?)", .integer(.min))
      try connection.run("INSERT INTO value VALUES(?)", .text(""))
      try connection.run("INSERT INTO value VALUES(?)", .text("é\u{0}x"))
      try bytes.withUnsafeBytes { try connection.run("INSERT INTO value VALUES(?)", .blob($0)) }
      try connection.run("INSERT INTO value VALUES(?)", .blob(UnsafeRawBufferPointer(start: nil, count: 0)))
      try connection.run(
        "INSERT INTO value VALUES(?)", .textBytes(UnsafeRawBufferPointer(start: nil, count: 0)))
    }
    var kinds: [String] = []
    var read: [[UInt8]] = []
    try database.read { connection in
      try connection.each("SELECT typeof(x), x FROM value ORDER BY rowid") { row in
        kinds.append(row.text(0))
        if row.text(0) == "integer" { #expect(row.anyInteger(1) == .min) }
        read.append(row.isNull(1) ? [] : Array(row.bytes(1)))
        #expect((row.textIfAny(1) == nil) == (row.text(0) == "null"))
      }
    }
    #expect(kinds == ["null", "integer", "text", "text", "blob", "blob", "text"])
    #expect(read[2].isEmpty && read[3] == Array("é\u{0}x".utf8) && read[4] == bytes && read[5].isEmpty)
  }
}
