import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage
import Testing

@testable import SatchelRecords

/// Devices and a remote, one after the other.
struct RecordSyncTests {
  @Test("records travel, and so do edits and deletions") func recordsTravelSo() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing(["a", "b/c", "é"])
    #expect(try fixture.text(other, "b/c") == #"{"x":1,"y":1}"#)
    try fixture.put(other, "a", #"{"x":2}"#)
    try fixture.delete(other, "é")
    let sent = try fixture.sync(other)
    #expect((sent.uploaded, sent.deletedRemotely, sent.unchanged) == (1, 1, 1))
    let taken = try fixture.sync(one)
    #expect((taken.downloaded, taken.deletedLocally, taken.unchanged) == (1, 1, 1))
    #expect(try fixture.text(one, "a") == #"{"x":2}"# && fixture.text(one, "é") == nil)
    let quiet = try fixture.sync(one)
    #expect(quiet.isUnchanged && quiet.requests == 1 && quiet.unchanged == 3)
    #expect(one.completeSyncs == 3)
  }

  @Test("a deletion reaches who was away, and is not undone by him") func deletionReachesWho() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing()
    try fixture.delete(one, "a")
    try fixture.sync(one)
    try fixture.sync(other)
    #expect(try fixture.text(other, "a") == nil && fixture.remote("a") == nil)
    #expect(try fixture.envelope("a")?.content.isDeleted == true)
    // A device that has never seen it learns that it is gone, and nothing more.
    let third = fixture.device("third")
    let report = try fixture.sync(third)
    #expect((report.downloaded, report.deletedLocally, report.unchanged) == (1, 0, 1))
    #expect(try fixture.sync(third).requests == 1)
    // Who makes it anew does so on top of that.
    try fixture.put(other, "a", #"{"new":true}"#)
    try fixture.sync(other)
    try fixture.sync(one)
    #expect(try fixture.text(one, "a") == #"{"new":true}"#)
  }

  @Test("what has vanished from the store is put there again") func whatVanishedFrom() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing()
    try fixture.delete(one, "b")
    try fixture.sync(one)
    try fixture.sync(other)
    fixture.store.remove(try fixture.key("a"))
    fixture.store.remove(try fixture.key("b"))
    let report = try fixture.sync(other)
    #expect((report.uploaded, report.deletedRemotely) == (1, 1))
    #expect(try fixture.remote("a") == #"{"x":1,"y":1}"#)
    #expect(try fixture.envelope("b")?.content.isDeleted == true)
    try fixture.sync(one)
    #expect(try fixture.sync(one).requests == 1 && fixture.sync(other).requests == 1)
  }

  @Test("a store that went back is brought forward again") func storeWentBack() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing()
    let old = try #require(fixture.store.bodies[fixture.key("a")])
    try fixture.delete(one, "a")
    try fixture.sync(one)
    try fixture.store.place(fixture.key("a"), old)
    try fixture.sync(one)
    #expect(try fixture.envelope("a")?.content.isDeleted == true)
    try fixture.sync(other)
    #expect(try fixture.text(other, "a") == nil)
  }

  // MARK: Conflicts

  @Test("the newest wins, and what loses here is kept") func newestWinsWhat() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing()
    try fixture.put(one, "a", #"{"older":1}"#)
    try fixture.put(other, "a", #"{"newer":1}"#)
    try fixture.put(other, "b", #"{"older":1}"#)
    try fixture.put(one, "b", #"{"newer":1}"#)
    try fixture.sync(one)
    let report = try fixture.sync(other)
    #expect(report.conflicts == 2 && report.uploaded == 1 && report.downloaded == 1)
    try fixture.sync(one)
    for device in [one, other] {
      #expect(
        try fixture.text(device, "a") == #"{"newer":1}"# && fixture.text(device, "b") == #"{"newer":1}"#)
    }
    #expect(try one.conflicts().isEmpty)
    let lost = try #require(other.conflicts().first)
    #expect(lost.record == "b" && !lost.isOpen && lost.local == Array(#"{"older":1}"#.utf8))
    #expect(lost.base != nil)
  }

  @Test("fields that both sides have changed are merged") func fieldsBothSides() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing()
    try fixture.put(one, "a", #"{"x":2,"y":1}"#)
    try fixture.put(other, "a", #"{"x":1,"y":2}"#)
    try fixture.delete(one, "b")
    try fixture.put(other, "b", #"{"kept":1}"#)
    try fixture.sync(one, .merge)
    let report = try fixture.sync(other, .merge)
    #expect(report.merged == 1 && report.conflicts == 2 && report.uploaded == 2)
    try fixture.sync(one, .merge)
    for device in [one, other] {
      #expect(
        try fixture.text(device, "a") == #"{"x":2,"y":2}"# && fixture.text(device, "b") == #"{"kept":1}"#)
      #expect(try device.conflicts().isEmpty)
    }
  }

  @Test("the host is asked, and once it has decided that is what counts") func hostAskedOnce() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing()
    try fixture.put(one, "a", #"{"ours":1}"#)
    try fixture.put(other, "a", #"{"theirs":1}"#)
    try fixture.sync(one, .ask)
    #expect(try fixture.sync(other, .ask).conflicts == 1)
    #expect(try fixture.text(other, "a") == #"{"theirs":1}"# && fixture.remote("a") == #"{"ours":1}"#)
    // There is nothing new to decide about.
    let waiting = try fixture.sync(other, .ask)
    #expect(waiting.conflicts == 1 && waiting.requests == 1)
    // There is.
    try fixture.put(one, "a", #"{"ours":2}"#)
    try fixture.sync(one, .ask)
    #expect(try fixture.sync(other, .ask).conflicts == 1)
    let open = try other.conflicts()
    #expect(open.count == 1 && open.allSatisfy(\.isOpen))
    let conflict = try #require(open.first)
    #expect(
      try RecordEnvelope(parsing: conflict.remote, id: "a").content.document == Array(#"{"ours":2}"#.utf8))
    try other.resolve(conflict, Array(#"{"both":1}"#.utf8), now: fixture.now())
    try fixture.sync(other, .ask)
    try fixture.sync(one, .ask)
    #expect(try fixture.text(one, "a") == #"{"both":1}"#)
    #expect(try one.conflicts().isEmpty && other.conflicts().isEmpty)
  }

  // MARK: While others are at it

  @Test("a record that is changed during its upload stays pending") func recordChangedDuring() throws {
    let fixture = try RecordSyncFixture()
    let (one, _) = try fixture.agreeing()
    try fixture.put(one, "a", #"{"x":2}"#)
    let hasEdited = Locked(false)
    fixture.store.before.withLock {
      $0 = { request throws(ObjectStoreError) in
        guard request.method == .put,
          hasEdited.withLock({ hasEdited in
            defer { hasEdited = true }
            return !hasEdited
          })
        else { return }
        try? fixture.put(one, "a", #"{"x":3}"#)
      }
    }
    try fixture.sync(one)
    #expect(try fixture.remote("a") == #"{"x":2}"# && one.row("a")?.pending != nil)
    try fixture.sync(one)
    #expect(try fixture.remote("a") == #"{"x":3}"# && one.row("a")?.pending == nil)
  }

  @Test("an upload whose answer was lost is recognised, also by what was built on it")
  func uploadWhoseAnswer() throws {
    let fixture = try RecordSyncFixture()
    let (one, other) = try fixture.agreeing()
    try fixture.put(one, "a", #"{"x":2}"#)
    try fixture.put(one, "b", #"{"x":2}"#)
    fixture.store.after.withLock {
      $0 = { request throws(ObjectStoreError) in
        if request.method == .put || request.method == .head {
          throw ObjectStoreError(.failed(.io), "the line is dead")
        }
      }
    }
    #expect(try fixture.sync(one).failed.count == 2)
    fixture.store.clearHooks()
    try fixture.sync(other)
    try fixture.put(other, "b", #"{"x":3}"#)
    try fixture.sync(other)
    try fixture.put(one, "a", #"{"x":4}"#)
    let report = try fixture.sync(one, .remoteWins) { $0.isImpatient = true }
    #expect(report.failed.isEmpty && report.conflicts == 0)
    #expect(try fixture.remote("a") == #"{"x":4}"# && fixture.text(one, "b") == #"{"x":3}"#)
    #expect(try one.conflicts().isEmpty)
  }
}
