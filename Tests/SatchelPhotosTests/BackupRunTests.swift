import Foundation
import SatchelCore
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Backups of files") struct BackupRunTests {
  private let fixture: ScanFixture
  private let photos: PhotoCatalogue
  private let store = SyncStore()
  private let user: UserID
  private var options: PhotoBackupOptions {
    var options = PhotoBackupOptions()
    options.retry = SyncFixture.retry
    return options
  }

  /// Photos that are scanned and starred.
  init() throws {
    fixture = try ScanFixture()
    user = try UserID("anna")
    for number in 0..<12 {
      try fixture.put("\(number % 3)/\(number).jpg", ScanFixture.jpeg(tail: "\(number)"))
    }
    photos = try fixture.catalogue()
    _ = try photos.scan()
    for photo in try photos.query().photos { try photos.star(photo.md5) }
  }

  private func run(_ change: (inout PhotoBackupOptions) -> Void = { _ in }) throws -> PhotoBackupReport {
    var options = options
    change(&options)
    return try photos.runBackup(with: store, user: user, options: options)
  }

  /// The number of writes of files, without those of the index.
  private func uploads() -> Int {
    store.requests.filter { $0.method == .put && $0.key?.text.hasPrefix("photos/") == true }.count
  }

  private func count(_ status: BackupStatus) throws -> Int64 {
    var query = PhotoQuery()
    query.backup = status
    return try photos.count(query)
  }

  @Test("every file is there under its MD5, once", arguments: [1, 4, 16])
  func uploads(parallel: Int) throws {
    let report = try run { $0.parallel = parallel }
    #expect(report.uploaded == 12 && report.found == 0 && report.failed.isEmpty && report.queued == 0)
    #expect(try count(.uploaded) == 12)
    let files = store.bodies.filter { $0.key.hasPrefix("photos/") }
    #expect(files.count == 12)
    for (key, body) in files {
      var hash = MD5Hash()
      body.withUnsafeBytes { hash.update($0) }
      #expect(key == "photos/anna/\(hash.digest())")
    }
    #expect(uploads() == 12)
    #expect(try run().requests == 0)
  }

  @Test("a remote that fails ends the run, and loses no photo of the queue")
  func failing() throws {
    store.before.withLock {
      $0 = { request throws(ObjectStoreError) in
        if request.method == .put, request.number > 8 { throw ObjectStoreError(.denied, "denied") }
      }
    }
    #expect { try run { $0.parallel = 1 } } throws: { ($0 as? SatchelError)?.code == .unauthorized }
    let uploaded = try count(.uploaded)
    #expect(uploaded > 0 && uploaded < 12)
    #expect(try count(.queued) == 12 - uploaded)
    store.before.withLock { $0 = { _ in } }
    #expect(try run().uploaded == 12 - uploaded)
  }

  @Test("a lost response is not a failure, and the bytes are not sent twice")
  func lostResponses() throws {
    let lost = Locked<Set<ObjectKey>>([])
    store.after.withLock {
      $0 = { request throws(ObjectStoreError) in
        guard request.method == .put, let key = request.key, lost.withLock({ $0.insert(key).inserted }) else {
          return
        }
        throw ObjectStoreError(.unknownOutcome(retryAfter: nil), "lost")
      }
    }
    let report = try run()
    #expect(report.uploaded == 12 && report.failed.isEmpty)
    #expect(uploads() == 12)
  }

  @Test("another object under a photo's key is replaced; the photo's file is not sent again")
  func existing() throws {
    let all = try photos.query().photos
    let bytes = try Array(Data(contentsOf: URL(filePath: fixture.path + "/0/0.jpg")))
    let own = try #require(all.first { $0.photo.filename == "0.jpg" })
    let other = try #require(all.first { $0.photo.filename == "1.jpg" })
    try store.place("photos/anna/\(own.md5)", bytes)
    // The right size, and other bytes.
    try store.place("photos/anna/\(other.md5)", [UInt8](repeating: 0, count: Int(other.photo.size)))
    let report = try run()
    #expect(report.uploaded == 11 && report.found == 1 && report.failed.isEmpty)
    #expect(store.bodies["photos/anna/\(other.md5)"]?.first == 0xFF)
  }

  @Test("a photo that is deleted, or loses its star, during its upload")
  func changing() throws {
    let all = try photos.query().photos
    let (deleted, unstarred) = (all[0].md5, all[1].md5)
    let photos = photos
    store.before.withLock {
      $0 = { request throws(ObjectStoreError) in
        guard request.method == .put, let key = request.key?.text else { return }
        if key.hasSuffix(deleted.description) { _ = try? photos.delete([deleted]) }
        if key.hasSuffix(unstarred.description) { try? photos.star(unstarred, false) }
      }
    }
    let report = try run()
    #expect(report.uploaded == 12 && report.failed.isEmpty && report.queued == 0)
    #expect(try photos.photo(deleted) == nil)
    let found = try #require(try photos.photo(unstarred))
    #expect(!found.isStarred && found.backup == .uploaded)
    try photos.upsert([all[0].photo])
    #expect(try photos.claimBackup() == nil)
  }

  @Test("downloading a file")
  func restores() throws {
    _ = try run()
    let photo = try #require(try photos.query().photos.first)
    let path = fixture.path + "/back.jpg"
    let report = try photos.restoreBackup(of: photo.md5, to: path, from: store, user: user, options: options)
    #expect(report.size == photo.photo.size && !report.isUnchanged && report.bytesDown == report.size)
    #expect(try Data(contentsOf: URL(filePath: path)).count == Int(report.size))
    let again = try photos.restoreBackup(of: photo.md5, to: path, from: store, user: user, options: options)
    #expect(again.isUnchanged && again.requests == 0)
    store.damage("photos/anna/\(photo.md5)") { $0[$0.count - 1] ^= 1 }
    #expect {
      try photos.restoreBackup(
        of: photo.md5, to: fixture.path + "/bad.jpg", from: store, user: user, options: options)
    } throws: { ($0 as? SatchelError)?.code == .damaged }
    #expect(access(fixture.path + "/bad.jpg", F_OK) != 0 && access(fixture.path + "/bad.jpg.part", F_OK) != 0)
  }

  @Test("the asynchronous functions")
  func asynchronous() async throws {
    let report = try await photos.runBackup(with: store, user: user, options: options)
    #expect(report.uploaded == 12)
    let refreshed = try await photos.refreshBackups(with: store, user: user, options: options)
    #expect(refreshed.photos == 12 && refreshed.starred == 0 && refreshed.requests == 2)
  }
}

@Suite("Objects of the app") struct RemoteClientTests {
  @Test("conditions, listing and deleting")
  func objects() throws {
    let folder = try TemporaryDirectory()
    let client = RemoteClient(try DirectoryStore(path: folder.path + "/remote"), retry: SyncFixture.retry)
    let first = try client.put("own/a", [1], ifAbsent: true, metadata: ["kind": "test"])
    #expect { try client.put("own/a", [2], ifAbsent: true) } throws: {
      ($0 as? SatchelError)?.code == .conflict
    }
    #expect(try client.get("own/a", ifNoneMatch: first) == nil)
    #expect(try client.head("own/a").metadata["kind"] == "test")
    for number in 0..<5 { try client.put("own/\(number)", []) }
    let page = try client.list("own/", limit: 2)
    #expect(page.entries.map(\.key.text) == ["own/0", "own/1"])
    let second = try client.list("own/", from: page.next?.text, limit: 2)
    #expect(second.entries.map(\.key.text) == ["own/2", "own/3"])
    try client.delete("own/a", ifMatch: first)
    #expect { try client.get("own/a") } throws: { ($0 as? SatchelError)?.code == .notFound }
    #expect { try client.delete("own/a", ifMatch: first) } throws: {
      ($0 as? SatchelError)?.code == .conflict
    }
    for key in ["", "/", "a//b", "../a"] {
      #expect { try client.head(key) } throws: { ($0 as? SatchelError)?.code == .invalid }
    }
  }

  @Test("a request that fails once is repeated, and a lost response is not a failure")
  func retries() throws {
    let store = SyncStore()
    let client = RemoteClient(store, retry: SyncFixture.retry)
    let fails = Locked(true)
    func fault(_ reason: ObjectStoreError.Reason)
      -> @Sendable (SyncStore.Request) throws(ObjectStoreError) -> Void
    {
      { _ throws(ObjectStoreError) in
        let isFirst = fails.withLock { fails in
          defer { fails = false }
          return fails
        }
        if isFirst { throw ObjectStoreError(reason, "a fault") }
      }
    }
    store.before.withLock { $0 = fault(.transient(retryAfter: nil)) }
    try client.put("own/a", [1])
    fails.withLock { $0 = true }
    #expect(try client.get("own/a")?.body == [1])
    store.clearHooks()
    store.after.withLock { $0 = fault(.unknownOutcome(retryAfter: nil)) }
    fails.withLock { $0 = true }
    try client.put("own/b", [2], ifAbsent: true)
    fails.withLock { $0 = true }
    try client.delete("own/b")
    #expect(store.bodies.keys.sorted() == ["own/a"])
  }
}
