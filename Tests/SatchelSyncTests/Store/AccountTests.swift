import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("The owner of a store")
struct AccountTests {
  let devices: SyncDevices
  let store: Store
  let other: UserID

  init() throws {
    devices = try SyncDevices()
    store = try devices.store("one")
    other = try UserID("berta")
  }

  func sync(_ store: Store, _ user: UserID, first: FirstSync? = nil, dryRun: Bool = false) throws
    -> StoreSyncReport
  {
    var options = StoreSyncOptions()
    (options.first, options.isDryRun) = (first, dryRun)
    return try store.sync(with: devices.remote, user: user, options: options)
  }

  func keys(of user: UserID) throws -> [String] {
    try devices.remote.list(ObjectPrefix("records/\(user)/")).map(\.key.text)
  }

  // MARK: Another user

  @Test("content is not sent to another user, also after it was detached, copied or restored")
  func refusal() throws {
    let notes = try store.records("notes")
    try notes.put("diary", ["text": "of anna"])
    try devices.sync(store)
    try store.detach()
    let path = devices.path("copy")
    try store.backup(to: path)
    let copy = try Store(path: path)
    for each in [store, copy] {
      let error = #expect(throws: SatchelError.self) { try sync(each, other) }
      #expect(error?.code == .foreign)
      #expect(error?.message.contains("anna") == true && error?.message.contains("sign_out") == true)
      #expect(throws: SatchelError.self) { try sync(each, other, dryRun: true) }
      #expect(try each.syncStatus().owner == "anna")
    }
    #expect(try keys(of: other).isEmpty)
    #expect(try notes.documents == ["diary": ["text": "of anna"]])
    // The owner goes on, on all of them.
    #expect(try sync(copy, devices.user).records.uploaded == 0)
    #expect(try sync(store, devices.user).records.uploaded == 0)
  }

  @Test("a store that never reached a remote is still that of a guest") func unreached() throws {
    try store.records("notes").put("draft", [:])
    let wrong = try DirectoryStore(path: devices.directory.path + "/elsewhere")
    try wrong.put(ObjectKey("records/anna/head"), Array("not a head".utf8))
    #expect(throws: SatchelError.self) { try store.sync(with: wrong, user: devices.user) }
    #expect(try store.syncStatus().owner == nil)
    #expect(try sync(store, other).firstUpload == 1)
    #expect(try store.syncStatus().owner == "berta")
  }

  @Test("the content of a guest is added to the user's, and a dry run tells how much") func guest() throws {
    try store.records("notes").put("theirs", [:])
    try devices.sync(store)
    let guest = try devices.store("guest")
    let notes = try guest.records("notes")
    try notes.put("ours", [:])
    try guest.state.set("theme", "dark", synced: true)
    try guest.state.set("volume", 3)
    #expect(try sync(guest, devices.user, dryRun: true).firstUpload == 2)
    let report = try sync(guest, devices.user)
    #expect(report.firstUpload == 2 && report.records.downloaded == 1)
    #expect(try Set(notes.documents.keys) == ["theirs", "ours"])
    #expect(try sync(guest, devices.user).firstUpload == 0)
  }

  @Test("first: upload gives the content to another user as well") func upload() throws {
    let notes = try store.records("notes")
    try notes.put("shared", ["n": 1])
    try devices.sync(store)
    #expect(try sync(store, other, first: .upload, dryRun: true).firstUpload == 1)
    #expect(try store.syncStatus().user == "anna")
    #expect(try sync(store, other, first: .upload).firstUpload == 1)
    #expect(try store.syncStatus().owner == "berta" && store.syncStatus().user == "berta")
    #expect(throws: SatchelError.self) { try sync(store, devices.user) }
    let back = try devices.store("back")
    let theirs = try back.records("notes")
    try devices.sync(back)
    #expect(try theirs.documents == ["shared": ["n": 1]])
  }

  @Test("first: discard removes what was here, and has no effect afterwards") func discard() throws {
    let notes = try store.records("notes")
    try notes.put("of-anna", [:])
    try devices.sync(store)
    try notes.put("unsent", [:])
    #expect(try sync(store, other, first: .discard, dryRun: true).firstUpload == 0)
    #expect(try notes.count() == 2)
    #expect(try sync(store, other, first: .discard).firstUpload == 0)
    #expect(try notes.count() == 0)
    try notes.put("of-berta", [:])
    #expect(try sync(store, other, first: .discard).records.uploaded == 1)
    #expect(try Array(notes.documents.keys) == ["of-berta"])
  }

  // MARK: Signing out

  @Test("signing out removes what is the user's, from the file as well, and deletes nothing in the remote")
  func signOut() throws {
    let notes = try store.records("notes", indexes: [RecordIndex("text")])
    try notes.put("diary", ["text": "the secret of anna"])
    try store.state.set("nickname", "annas nickname", synced: true)
    try store.state.set("volume", 3)
    let history = try store.state.list("history", synced: true)
    try history.push("annas search")
    let refusal = #expect(throws: SatchelError.self) { try store.signOut() }
    #expect(refusal?.code == .conflict && refusal?.message.contains("3 changes") == true)
    #expect(try notes.count() == 1)
    try devices.sync(store)
    try notes.put("late", ["text": "another secret of anna"])
    try #expect(#require(try store.signOut(syncingWith: devices.remote)).records.uploaded == 1)

    #expect(try store.syncStatus() == StoreSyncStatus())
    #expect(try notes.count() == 0 && notes.list().isEmpty && history.items().isEmpty)
    #expect(try store.state.get("nickname") == nil && store.state.get("volume") == 3)
    #expect(try store.check().isEmpty)
    try expectNoTrace(of: ["secret of anna", "annas nickname", "annas search"])
    // The handles go on as those of the next user.
    try notes.put("diary", ["text": "of berta"])
    try history.push("bertas search")
    #expect(try sync(store, other).firstUpload == 2)
    #expect(try notes.list(RecordQuery(.field("text", .equals("of berta")))).count == 1)

    let back = try devices.store("back")
    let theirs = try back.records("notes")
    try devices.sync(back)
    #expect(try Set(theirs.documents.keys) == ["diary", "late"])
    #expect(try back.state.get("nickname") == "annas nickname")
  }

  /// Looks for texts in the store's file and in its WAL.
  func expectNoTrace(of texts: [String], in name: String = "one") throws {
    for path in [devices.path(name), devices.path(name) + "-wal"] {
      guard let bytes = FileManager.default.contents(atPath: path) else { continue }
      for text in texts { #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) in \(path)") }
    }
  }

  @Test("what is left of signing out is completed by the next handle") func resume() throws {
    let notes = try store.records("notes")
    for number in 0..<200 { try notes.put("\(number)", ["text": "the secret of anna"]) }
    try devices.sync(store)
    let path = devices.path("one")
    // A reader that pins the WAL.
    let reader = try Store(path: path)
    try reader.database.read { connection in
      _ = try connection.number("SELECT count(*) FROM record")
      let error = #expect(throws: SatchelError.self) { try store.signOut() }
      #expect(error?.code == .busy)
    }
    #expect(try notes.count() == 0 && reader.records("notes").count() == 0)
    try store.close()
    try reader.close()
    let next = try Store(path: path)
    try expectNoTrace(of: ["secret of anna"])
    #expect(try next.syncStatus() == StoreSyncStatus() && next.check().isEmpty)
  }

  // MARK: Closed accounts

  @Test("a deleted account is closed for all devices, until one opens it again") func closed() throws {
    let notes = try store.records("notes")
    try notes.put("a", ["n": 1])
    try devices.sync(store)
    let two = try devices.store("two")
    let theirs = try two.records("notes")
    try devices.sync(two)
    try theirs.put("b", ["n": 2])
    #expect(throws: SatchelError.self) { try store.deleteAccount(from: devices.remote, user: other) }
    try store.deleteAccount(from: devices.remote, user: devices.user)
    #expect(try keys(of: devices.user) == ["records/anna/head"])
    let closed = try devices.remote.get(ObjectKey("records/anna/head")).body
    for each in [store, two] {
      let error = #expect(throws: SatchelError.self) { try devices.sync(each) }
      #expect(error?.code == .foreign && error?.message.contains("account closed") == true)
      #expect(throws: SatchelError.self) { try devices.sync(each, dryRun: true) }
    }
    let guest = try devices.store("guest")
    try guest.records("notes").put("c", ["n": 3])
    #expect(throws: SatchelError.self) { try devices.sync(guest) }
    #expect(try guest.syncStatus().owner == nil)
    #expect(try devices.remote.get(ObjectKey("records/anna/head")).body == closed)
    try store.signOut(unsent: .discard)
    #expect(try store.deleteAccount(from: devices.remote, user: devices.user).objects == 0)

    #expect(try sync(two, devices.user, first: .upload).records.uploaded == 2)
    #expect(try devices.sync(store).records.downloaded == 2)
    #expect(try devices.sync(guest).firstUpload == 1)
    try devices.syncAll(store, two, guest)
    #expect(try theirs.documents == notes.documents && notes.count() == 3)
  }

  // MARK: The empty remote

  @Test("a remote that lost everything is not written to, unless it is asked for") func emptyRemote() throws {
    let notes = try store.records("notes")
    for number in 0..<300 { try notes.put("\(number)", ["n": .int(Int64(number))]) }
    try devices.sync(store)
    try notes.put("new", [:])
    let packs = try keys(of: devices.user)
    try #require(packs.count > 1)
    for key in packs { try devices.remote.delete(ObjectKey(key)) }
    for dryRun in [false, true] {
      let error = #expect(throws: SatchelError.self) { try devices.sync(store, dryRun: dryRun) }
      #expect(error?.code == .unavailable && error?.message.contains("the remote is empty") == true)
    }
    #expect(try keys(of: devices.user).isEmpty)
    var options = StoreSyncOptions()
    options.recreate = true
    try store.sync(with: devices.remote, user: devices.user, options: options)
    let two = try devices.store("two")
    let theirs = try two.records("notes")
    try devices.sync(two)
    #expect(try theirs.documents == notes.documents)
    // Only the head is lost: it is written again without asking.
    try devices.remote.delete(ObjectKey("records/anna/head"))
    try devices.sync(store)
    #expect(try devices.sync(two).isUnchanged)
  }
}
