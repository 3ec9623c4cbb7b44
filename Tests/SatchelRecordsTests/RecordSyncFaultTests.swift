import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage
import Testing

@testable import SatchelRecords

/// What can go wrong with one record, and that the others do not mind.
struct RecordSyncFaultTests {
  @Test("a bad object is reported, never taken, and stops nobody") func badObjectReported() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing(["a", "b", "c", "d"])
    try fixture.store.place(fixture.key("a"), Array("{".utf8))
    try fixture.store.place(fixture.key("b"), try #require(fixture.store.bodies[fixture.key("c")]))
    try fixture.store.place(fixture.key("new"), Array("no JSON".utf8))
    try fixture.store.place("records/anna/things/readme.txt", [1])
    try fixture.put(one, "d", #"{"x":9}"#)
    try fixture.sync(one)
    let report = try fixture.sync(other)
    #expect(report.failed.map(\.id) == ["a", "b", "new", "readme.txt"])
    #expect(report.failed.allSatisfy { $0.code == .invalid && $0.message.contains("records/anna/things/") })
    #expect(report.downloaded == 1)
    #expect(try fixture.text(other, "a") == #"{"x":1,"y":1}"# && fixture.text(other, "d") == #"{"x":9}"#)
    #expect(try fixture.text(other, "new") == nil)
    // Whoever puts it right is heard.
    try fixture.put(one, "a", #"{"x":7}"#)
    try fixture.store.place(fixture.key("a"), try #require(one.row("a")?.base))
    try fixture.sync(one) { $0.isImpatient = true }
    try fixture.sync(other) { $0.isImpatient = true }
    #expect(try fixture.text(other, "a") == #"{"x":7}"#)
  }

  @Test("bytes that are not those that were written are not taken") func bytesNotThose() throws {
    let fixture = try RecordSyncFixture()
    let (one, _) = try fixture.agreeing()
    try fixture.put(one, "a", #"{"x":2}"#)
    try fixture.sync(one)
    fixture.store.damage(try fixture.key("a")) { bytes in
      if let place = bytes.lastIndex(of: UInt8(ascii: "2")) { bytes[place] = UInt8(ascii: "3") }
    }
    let third = fixture.device("third")
    let report = try fixture.sync(third)
    #expect(report.failed.map(\.id) == ["a"] && report.failed.map(\.code) == [.damaged])
    #expect(report.downloaded == 1)
  }

  @Test("who failed waits longer and longer, and is told") func whoFailedWaits() throws {
    let fixture = try RecordSyncFixture()
    let device = fixture.device()
    try fixture.store.place(fixture.key("a"), Array("{".utf8))
    try fixture.sync(device)
    let waiting = try fixture.sync(device)
    #expect(waiting.requests == 1 && waiting.failed.map(\.code) == [.busy])
    fixture.wait(milliseconds: 1_000)
    #expect(try fixture.sync(device).requests == 2)
    #expect(device.row("a")?.failure?.attempts == 2)
    // A clock that was set back does not make it wait for ever.
    fixture.wait(milliseconds: -900_000_000)
    #expect(try fixture.sync(device).requests == 2)
    #expect(try fixture.sync(device) { $0.isImpatient = true }.requests == 2)
  }

  @Test("waits grow to an hour") func waitsGrowHour() {
    var random = SystemRandomNumberGenerator()
    for attempts in 0...100 {
      let whole = min(1000 << Int64(min(max(attempts, 1) - 1, 20)), RecordBackoff.longest)
      for _ in 0..<20 {
        let wait = RecordBackoff.delay(afterFailures: attempts, random: &random)
        #expect((whole / 2...whole).contains(wait))
      }
    }
    #expect(RecordBackoff.delay(afterFailures: .max, random: &random) >= RecordBackoff.longest / 2)
  }

  @Test("what refers to others is taken once these are there") func whatRefersOthers() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = (fixture.device("one"), Locked<RecordLedgerModel?>(nil))
    let strict = RecordLedgerModel(writer: "other") { id, document in
      // "a" refers to "b".
      id == "a" && document != nil && other.withLock { $0?.row("b")?.content } == nil
    }
    other.withLock { $0 = strict }
    try fixture.put(one, "a", #"{"refers":"b"}"#)
    try fixture.put(one, "b", #"{}"#)
    try fixture.sync(one)
    let report = try fixture.sync(strict) { $0.parallel = 1 }
    #expect(report.failed.isEmpty && report.downloaded == 2)
    let never = RecordLedgerModel(writer: "never") { id, _ in id == "a" }
    let failed = try fixture.sync(never)
    #expect(failed.failed.map(\.id) == ["a"] && failed.failed.map(\.code) == [.invalid])
    #expect(failed.downloaded == 1)
  }

  // MARK: Versions

  @Test("older versions are brought up, newer ones are left alone") func olderVersionsBrought() throws {
    let fixture = try RecordSyncFixture()
    let (old, new) = (fixture.device("old"), fixture.device("new", version: 2))
    try fixture.put(old, "a", #"{"x":1}"#)
    try fixture.put(old, "b", #"{"x":1}"#)
    try fixture.sync(old)
    try fixture.sync(new)
    #expect(try fixture.text(new, "a") == #"{"x":1,"since_2":true}"#)
    // Only what is changed is written anew.
    #expect(try fixture.sync(new).requests == 1)
    try fixture.put(new, "a", #"{"x":2,"since_2":true}"#)
    try fixture.sync(new)
    try fixture.put(old, "a", #"{"x":3}"#)
    let report = try fixture.sync(old, .localWins)
    #expect(report.failed.map(\.id) == ["a"] && report.failed.map(\.code) == [.newer])
    #expect(try fixture.remote("a") == #"{"x":2,"since_2":true}"# && fixture.text(old, "a") == #"{"x":3}"#)
    #expect(old.row("a")?.pending != nil)
    // An edit against an older base is merged in the new form.
    try fixture.put(old, "b", #"{"x":5}"#)
    try fixture.sync(old)
    try fixture.put(new, "b", #"{"x":1,"y":1,"since_2":true}"#)
    try fixture.sync(new, .merge)
    #expect(try fixture.text(new, "b") == #"{"x":5,"y":1,"since_2":true}"#)
  }

  // MARK: The caller

  @Test("a dry run tells what the sync after it does") func dryRunTells() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing(["a", "b", "c", "d", "e"])
    try fixture.put(one, "a", #"{"x":2,"y":1}"#)
    try fixture.put(one, "b", #"{"x":2,"y":1}"#)
    try fixture.delete(one, "c")
    try fixture.put(one, "f", "{}")
    try fixture.sync(one)
    try fixture.put(other, "a", #"{"x":1,"y":2}"#)
    try fixture.delete(other, "d")
    try fixture.put(other, "g", "{}")
    let (before, requests) = (fixture.store.bodies, fixture.store.requests.count)
    var foreseen = try fixture.sync(other, .merge) { $0.isDryRun = true }
    #expect(fixture.store.bodies == before && foreseen.isDryRun)
    #expect(!fixture.store.requests[requests...].contains { $0.method == .put || $0.method == .delete })
    let done = try fixture.sync(other, .merge)
    #expect(foreseen.bytesUp == done.bytesUp)
    foreseen.isDryRun = false
    (foreseen.requests, foreseen.bytesDown) = (done.requests, done.bytesDown)
    #expect(foreseen == done)
    #expect((done.merged, done.downloaded, done.deletedLocally, done.deletedRemotely) == (1, 2, 1, 1))
    #expect(done.uploaded == 2 && done.unchanged == 1)
  }

  @Test("a dry run of a collection that was never synchronized binds it to nobody") func dryRunCollection()
    throws
  {
    let fixture = try RecordSyncFixture()
    let device = fixture.device()
    try fixture.put(device, "a", "{}")
    let report = try fixture.sync(device) { $0.isDryRun = true }
    #expect(report.uploaded == 1 && report.requests == 1)
    #expect(try device.binding().user == nil && device.row("a")?.sending == nil)
  }

  @Test("progress is told, and cancels") func progressToldCancels() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = (fixture.device("one"), fixture.device("other"))
    for number in 0..<10 { try fixture.put(one, "r\(number)", "{}") }
    let heard = Locked<[RecordSyncProgress]>([])
    try fixture.sync(
      one,
      progress: { progress in
        heard.withLock { $0.append(progress) }
        return true
      })
    let last = try #require(heard.withLock { $0.last })
    #expect(last.recordsDone == 10 && last.recordsTotal == 10 && last.bytesUp > 0)
    #expect(heard.withLock { $0.first?.phase } == .list)
    let error = #expect(throws: SatchelError.self) {
      try fixture.sync(other, .newestWins, { $0.parallel = 1 }, progress: { $0.recordsDone < 3 })
    }
    #expect(error?.code == .cancelled)
    // What was done is done, and no failure is noted for the rest.
    #expect(try fixture.sync(other).downloaded == 7)
  }

  @Test("a store that does not answer ends the sync early") func storeDoesNot() throws {
    let fixture = try RecordSyncFixture()
    let device = fixture.device()
    for number in 0..<100 { try fixture.put(device, "r\(number)", "{}") }
    fixture.store.before.withLock {
      $0 = { request throws(ObjectStoreError) in
        if request.method != .list { throw ObjectStoreError(.transient(retryAfter: nil), "no answer") }
      }
    }
    let error = #expect(throws: SatchelError.self) { try fixture.sync(device) { $0.parallel = 1 } }
    #expect(error?.code == .unavailable && fixture.store.requests.count < 50)
    fixture.store.clearHooks()
    #expect(try fixture.sync(device) { $0.isImpatient = true }.uploaded == 100)
  }

  @Test("the store is asked once whether it heeds conditions, and only before a write") func storeAskedOnce()
    throws
  {
    let fixture = try RecordSyncFixture()
    let (one, other) = (fixture.device("one"), fixture.device("other"))
    let asked = Locked(0)
    let probe: @Sendable (MeteredStore, Cancellation) throws -> Void = { _, _ in asked.withLock { $0 += 1 } }
    for number in 0..<10 { try fixture.put(one, "r\(number)", "{}") }
    try fixture.sync(one, probe: probe)
    try fixture.sync(other, probe: probe)
    #expect(asked.withLock { $0 } == 1)
    try fixture.put(other, "r1", #"{"x":1}"#)
    let refusal: @Sendable (MeteredStore, Cancellation) throws -> Void = { _, _ in
      throw SatchelError(.invalid, "ignores conditions")
    }
    let error = #expect(throws: SatchelError.self) { try fixture.sync(other, probe: refusal) }
    #expect(error?.code == .invalid && other.row("r1")?.failure == nil)
    #expect(
      try fixture.sync(other, .newestWins, { $0.allowUnsafeRemote = true }, probe: refusal).uploaded == 1)
  }

  @Test("another user's records are another remote") func anotherUsersRecords() throws {
    let fixture = try RecordSyncFixture()
    let device = fixture.device()
    try device.begin(user: UserID("bob"))
    let error = #expect(throws: SatchelError.self) { try fixture.sync(device) }
    #expect(error?.code == .foreign)
  }

  @Test("a report is JSON, and so is progress") func reportJSONSo() throws {
    var report = RecordSyncReport()
    (report.downloaded, report.uploaded, report.deletedLocally, report.deletedRemotely) = (1, 2, 3, 4)
    (report.merged, report.conflicts, report.unchanged) = (5, 6, 7)
    (report.requests, report.bytesUp, report.bytesDown) = (8, 9, 10)
    report.failed = [RecordSyncReport.Failure(id: "a", code: .newer, message: "m")]
    let expected = try JSONValue(
      parsing: """
        {"downloaded": 1, "uploaded": 2, "deleted_locally": 3, "deleted_remotely": 4, "merged": 5, "conflicts": 6,
        "unchanged": 7, "requests": 8, "bytes_up": 9, "bytes_down": 10,
        "failed": [{"id": "a", "code": \(SatchelError.Code.newer.rawValue), "message": "m"}], "dry_run": false}
        """)
    #expect(report.json == expected)
    let progress = RecordSyncProgress(
      phase: .records, recordsDone: 1, recordsTotal: 2, bytesUp: 3, bytesDown: 4)
    #expect(
      progress.json
        == (try JSONValue(
          parsing: """
            {"phase": "records", "records_done": 1, "records_total": 2, "bytes_up": 3, "bytes_down": 4}
            """)))
    #expect(throws: SatchelError.self) { try ConflictPolicy(name: "best_wins") }
  }
}
