import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelRecords

/// Real collections and a directory, through the front door.
struct RecordSyncCollectionTests {
  private let directory: TemporaryDirectory
  private let store: DirectoryStore
  private let user: UserID

  init() throws {
    directory = try TemporaryDirectory()
    store = try DirectoryStore(path: directory.path)
    user = try UserID("anna")
  }

  private func document(_ name: String) throws -> JSONValue { try JSONValue(parsing: name) }

  @Test("two stores have the same, and know that they do") func twoStoresSame() throws {
    let (one, other) = (try RecordShelf(), try RecordShelf())
    let (mine, theirs) = (try one.collection("courses"), try other.collection("courses"))
    try mine.put("c1", text: #"{"name": "Algebra"}"#)
    try mine.put("c/2", text: #"{"name": "Logic"}"#)
    #expect(try mine.get("c1")?.syncStatus == .local)
    #expect(try mine.sync(with: store, user: user).uploaded == 2)
    #expect(try mine.get("c1")?.syncStatus == .synced)
    #expect(
      try directory.files().filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") } == [
        "records/anna/courses/c%2F2.json", "records/anna/courses/c1.json",
      ])
    #expect(try theirs.sync(with: store, user: user).downloaded == 2)
    #expect(try theirs.text("c1") == #"{"name": "Algebra"}"#)
    try theirs.put("c1", text: #"{"name": "Algebra II"}"#)
    #expect(try theirs.get("c1")?.syncStatus == .pending)
    _ = try theirs.delete("c/2")
    let report = try theirs.sync(with: store, user: user)
    #expect(report.uploaded == 1 && report.deletedRemotely == 1 && report.failed.isEmpty)
    _ = try mine.sync(with: store, user: user)
    #expect(try mine.ids(RecordQuery()) == ["c1"] && mine.text("c1") == #"{"name": "Algebra II"}"#)
    // The listing tells that nothing has changed; whether the directory heeds conditions is known by now.
    let quiet = try mine.sync(with: store, user: user)
    #expect(quiet.isUnchanged && quiet.unchanged == 2 && quiet.requests == 1 && quiet.bytesDown == 0)
    try one.expectSound()
    try other.expectSound()
  }

  @Test("what refers to others comes with them, and what is refused stays out") func whatRefersOthers() throws
  {
    let (one, other) = (try RecordShelf(), try RecordShelf())
    let relations = ["parent": RecordRelation("chapters", onDelete: .cascade)]
    let mine = try one.collection("chapters", relations: relations)
    for number in (1...20).reversed() {
      let parent = number == 20 ? "{}" : #"{"parent": "c\#(number + 1)"}"#
      try mine.put("c\(number)", text: parent)
    }
    _ = try mine.sync(with: store, user: user)
    let theirs = try other.collection("chapters", relations: relations)
    let report = try theirs.sync(with: store, user: user)
    #expect(report.downloaded == 20 && report.failed.isEmpty)
    // A cascade there is many deletions, and each of them travels.
    _ = try theirs.delete("c20")
    #expect(try theirs.sync(with: store, user: user).deletedRemotely == 20)
    #expect(try mine.sync(with: store, user: user).failed.isEmpty)
    #expect(try mine.count(RecordQuery()) == 0)
    #expect(try mine.sync(with: store, user: user).isUnchanged)
    try one.expectSound()
  }

  @Test("a record that the collection refuses is told, and the others come") func recordCollectionRefuses()
    throws
  {
    let (one, other) = (try RecordShelf(), try RecordShelf())
    let mine = try one.collection("courses")
    try mine.put("a", text: #"{"code": 1}"#)
    try mine.put("b", text: #"{"code": 1}"#)
    try mine.put("c", text: #"{"code": 2}"#)
    _ = try mine.sync(with: store, user: user)
    let theirs = try other.collection("courses", indexes: [RecordIndex("code", unique: true)])
    let report = try theirs.sync(with: store, user: user)
    #expect(report.downloaded == 2 && report.failed.map(\.code) == [.constraint])
    try mine.put("b", text: #"{"code": 3}"#)
    try mine.put("a", text: #"{"code": 4}"#)
    _ = try mine.sync(with: store, user: user)
    var options = RecordSyncOptions()
    options.isImpatient = true
    #expect(try theirs.sync(with: store, user: user, options: options).failed.isEmpty)
    #expect(try theirs.count(RecordQuery()) == 3)
    try other.expectSound()
  }

  @Test("what a newer app has written comes at once when this app is as new") func whatNewerApp() throws {
    let (one, other) = (try RecordShelf(), try RecordShelf())
    let steps = [try RecordMigration(json: JSONValue(parsing: #"[{"rename":{"from":"name","to":"title"}}]"#))]
    let declaration = CollectionDeclaration("courses", version: 2, migrations: steps)
    try one.store.open(declaration).put("a", text: #"{"title": "Algebra"}"#)
    _ = try one.store.open(declaration).sync(with: store, user: user)
    let old = try other.collection("courses")
    try old.put("b", text: #"{"name": "Logic"}"#)
    var options = RecordSyncOptions()
    options.isImpatient = true
    // So often that it has to wait for longer than a test takes.
    for _ in 0..<8 {
      let report = try old.sync(with: store, user: user, options: options)
      #expect(report.failed.map(\.id) == ["a"] && report.failed.map(\.code) == [.newer])
    }
    #expect(try old.sync(with: store, user: user).failed.map(\.code) == [.busy])
    let new = try other.store.open(declaration)
    let report = try new.sync(with: store, user: user)
    #expect(report.failed.isEmpty && report.downloaded == 1)
    #expect(try new.text("a") == #"{"title": "Algebra"}"# && new.text("b") == #"{"title":"Logic"}"#)
    try other.expectSound()
  }

  @Test("a conflict is asked about, and the answer travels") func conflictAskedAbout() throws {
    let (one, other) = (try RecordShelf(), try RecordShelf())
    let (mine, theirs) = (try one.collection("courses"), try other.collection("courses"))
    var options = RecordSyncOptions()
    options.onConflict = .ask
    for collection in [mine, theirs] {
      try collection.put("a", text: #"{"by": "\#(collection === mine ? "me" : "them")"}"#)
      _ = try collection.sync(with: store, user: user, options: options)
    }
    #expect(try theirs.get("a")?.syncStatus == .conflict && mine.get("a")?.syncStatus == .synced)
    let conflict = try #require(theirs.conflicts().first)
    #expect(conflict.kind == .open && conflict.remote == ["by": "me"] && conflict.local == ["by": "them"])
    try theirs.resolve(conflict.id, .keepLocal)
    _ = try theirs.sync(with: store, user: user, options: options)
    _ = try mine.sync(with: store, user: user, options: options)
    #expect(try mine.text("a") == #"{"by": "them"}"# && theirs.get("a")?.syncStatus == .synced)
    #expect(try theirs.conflicts().isEmpty)
  }

  @Test("who unlinks agrees anew, also as somebody else") func whoUnlinksAgrees() throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses")
    try courses.put("a", text: "{}")
    _ = try courses.sync(with: store, user: user)
    let bob = try UserID("bob")
    let error = #expect(throws: SatchelError.self) { try courses.sync(with: store, user: bob) }
    #expect(error?.code == .foreign)
    try courses.detach()
    #expect(try courses.get("a")?.syncStatus == .local)
    #expect(try courses.sync(with: store, user: bob).uploaded == 1)
  }

  @Test("syncs of one collection take turns") func syncsOneCollection() throws {
    let (one, other) = (try RecordShelf(), try RecordShelf())
    let courses = try one.collection("courses")
    let failures = Locked<[String]>([])
    let (store, user) = (store, user)
    inParallel([0, 1, 2, 3], limit: 4) { number in
      do {
        for step in 0..<5 {
          try courses.put("r\(number)", text: #"{"step": \#(step)}"#)
          let report = try courses.sync(with: store, user: user)
          for failure in report.failed { failures.withLock { $0.append("\(failure)") } }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    _ = try courses.sync(with: store, user: user)
    let theirs = try other.collection("courses")
    #expect(try theirs.sync(with: store, user: user).downloaded == 4)
    for number in 0..<4 { #expect(try theirs.text("r\(number)") == #"{"step": 4}"#) }
    #expect(try courses.conflicts().isEmpty)
  }

  @Test("cancelling the task cancels the sync") func cancellingTaskCancels() async throws {
    let shelf = try RecordShelf()
    let courses = try shelf.collection("courses")
    for number in 0..<50 { try courses.put("r\(number)", text: "{}") }
    let (store, user) = (store, user)
    let report = try await courses.sync(with: store, user: user) { _ in true }
    #expect(report.uploaded == 50)
    for number in 0..<50 { try courses.put("r\(number)", text: #"{"x": 1}"#) }
    let task = Task {
      try await courses.sync(with: store, user: user) { progress in
        if progress.recordsDone > 2 { usleep(20_000) }
        return true
      }
    }
    task.cancel()
    let result = await task.result
    let error = #expect(throws: SatchelError.self) { try result.get() }
    #expect(error?.code == .cancelled)
    let rest = try await courses.sync(with: store, user: user)
    #expect(rest.failed.isEmpty)
  }
}
