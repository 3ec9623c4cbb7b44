import Foundation
import SatchelCore
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("A library is restored from its remote alone")
struct RestoreAllTests {
  private let remote: TemporaryDirectory
  private let user: UserID
  private var options: PhotoBackupOptions {
    var options = PhotoBackupOptions()
    (options.retry, options.all) = (SyncFixture.retry, true)
    return options
  }

  init() throws {
    remote = try TemporaryDirectory()
    user = try UserID("anna")
  }

  private func store() throws -> DirectoryStore { try DirectoryStore(path: remote.path + "/remote") }

  /// A device with these files, scanned and backed up.
  private func device(_ files: [String: String]) throws -> ScanFixture {
    let fixture = try ScanFixture()
    for (name, tail) in files {
      try fixture.put(name, ScanFixture.jpeg(tail: tail), modified: 1_000_000_000 + tail.utf8.count)
    }
    let photos = try fixture.catalogue()
    _ = try photos.scan()
    let report = try photos.runBackup(with: store(), user: user, options: options)
    #expect(report.failed.isEmpty && report.queued == 0)
    return fixture
  }

  private func restore(
    _ fixture: ScanFixture, _ change: (inout PhotoRestoreOptions) -> Void = { _ in }
  ) throws -> PhotoRestoreAllReport {
    var options = PhotoRestoreOptions()
    options.backup = self.options
    change(&options)
    return try fixture.catalogue().restoreAll(from: store(), user: user, options: options)
  }

  /// The contents and times of a directory's files.
  private func tree(_ path: String) throws -> [String: [UInt8]] {
    var tree: [String: [UInt8]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      let url = URL(filePath: path).appending(path: name)
      guard let bytes = try? Data(contentsOf: url) else { continue }
      var status = stat()
      #expect(lstat(url.path(percentEncoded: false), &status) == 0)
      tree[name] = Array(bytes) + Array("@\(status.contentTime.tv_sec)".utf8)
    }
    return tree
  }

  @Test("Photos, films and sidecars of two devices, with folders, names and times")
  func whole() throws {
    let one = try device([
      "2024/a.jpg": "a", "2024/a.mov": "film", "2024/a.jpg.xmp": "edit", "b.jpg": "b", "f.mp4": "own",
    ])
    let two = try device(["2024/a.jpg": "another", "2025/c d.jpg": "c", "copy/b.jpg": "b"])
    let new = try ScanFixture()
    let report = try restore(new)
    #expect(report.restored == 8 && report.failed.isEmpty && report.absent == 0)
    let (first, second, restored) = (try tree(one.path), try tree(two.path), try tree(new.path))
    #expect(
      restored.count == 8 && restored["copy/b.jpg"] == second["copy/b.jpg"]
        && restored["b.jpg"] == first["b.jpg"])
    #expect(Set(restored.values) == Set(first.values).union(second.values))
    // The index of either device may be the first. The film and the sidecar keep the name of their photo.
    let isRenamed = restored["2024/a (2).jpg"] == first["2024/a.jpg"]
    #expect(report.renamed == (isRenamed ? 3 : 1))
    for suffix in ["jpg", "mov", "jpg.xmp"] {
      #expect(restored["2024/a\(isRenamed ? " (2)" : "").\(suffix)"] == first["2024/a.\(suffix)"])
    }
    // All is there: nothing is downloaded again, and the next scan finds it.
    var again = try restore(new) { $0.onlyMissing = false }
    #expect(again.restored == 0 && again.unchanged == 8)
    #expect(try new.catalogue().scan().added == 4)
    again = try restore(new)
    #expect(again.restored == 0)
    // What is missing comes back, and nothing else.
    new.remove("2025/c d.jpg")
    #expect(try restore(new).restored == 1)
    #expect(try tree(new.path) == restored)
  }

  @Test("To another directory, without folders, and without replacing a file")
  func elsewhere() throws {
    let one = try device(["2024/a.jpg": "a", "2025/a.jpg": "other"])
    let target = try TemporaryDirectory()
    try Data([1]).write(to: URL(filePath: target.path + "/a.jpg"))
    let report = try restore(one) {
      ($0.target, $0.withFolders, $0.onlyMissing) = (target.path, false, false)
    }
    #expect(report.restored == 2 && report.renamed == 2)
    #expect(try tree(target.path).keys.sorted() == ["a (2).jpg", "a (3).jpg", "a.jpg"])
    let error = #expect(throws: SatchelError.self) {
      try restore(one) { $0.target = target.path + "/none/deeper" }
    }
    #expect(error?.code == .notFound)
  }

  @Test("An index that is hostile writes nothing outside, and one that is lost costs names only")
  func hostile() throws {
    let one = try device(["2024/a.jpg": "a"])
    let md5 = try one.md5("2024/a.jpg")
    let client = RemoteClient(try store(), retry: SyncFixture.retry)
    let outside = try TemporaryDirectory()
    let lines = ["../a.jpg", "\(outside.path)/a.jpg", "link/a.jpg", "x/../../a.jpg"].map {
      "\($0),\(md5),1,2,photo,"
    }
    for entry in try client.list("photo-index/", limit: 10).entries { try client.delete(entry.key.text) }
    try client.put("photo-index/anna/evil.csv", Array(lines.joined(separator: "\n").utf8))
    try client.put("photo-index/anna/notes.txt", [1])
    let new = try ScanFixture()
    symlink(outside.path, new.path + "/link")
    let report = try restore(new)
    #expect(report.failedCount == 4 && report.restored == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
    try client.delete("photo-index/anna/evil.csv")
    #expect(try restore(new).restored == 1)
    #expect(try new.md5("\(md5)") == md5)
    // With a row it has its name.
    let named = try ScanFixture()
    try named.catalogue().upsert([Photo(md5: md5, filename: "named.jpg", size: 1, photodate: 2, modified: 3)])
    _ = try restore(named)
    #expect(try named.md5("named.jpg") == md5)
  }

  @Test("Only changed indexes are written; a clone writes one of its own")
  func clones() throws {
    let one = try device(["a.jpg": "a"])
    let client = RemoteClient(try store(), retry: SyncFixture.retry)
    func indexes() throws -> [String] {
      try client.list("photo-index/anna/", limit: 10).entries.map(\.key.text)
    }
    let first = try indexes()
    #expect(first.count == 1)
    #expect(try one.catalogue().runBackup(with: store(), user: user, options: options).requests == 0)
    // The same store on another device, with other files.
    let other = try ScanFixture()
    try other.put("a.jpg", ScanFixture.jpeg(tail: "a"))
    try other.put("b.jpg", ScanFixture.jpeg(tail: "b"))
    let original = try one.catalogue()
    try original.database.backup(to: other.store)
    let clone = try PhotoCatalogue(database: other.database(), directory: one.path)
    try clone.move(to: other.path)
    _ = try clone.scan()
    try one.put("c.jpg", ScanFixture.jpeg(tail: "c"))
    _ = try original.scan()
    for photos in [original, clone, original, clone] {
      #expect(try photos.runBackup(with: store(), user: user, options: options).failed.isEmpty)
    }
    #expect(try indexes().count == 2)
    let new = try ScanFixture()
    #expect(try restore(new).restored == 3)
    #expect(try tree(new.path).keys.sorted() == ["a.jpg", "b.jpg", "c.jpg"])
  }

  @Test("A run without the directory's disk ends, and a photo that failed is tried again after a delay")
  func unmounted() throws {
    let fixture = try ScanFixture()
    try fixture.put("a.jpg", ScanFixture.jpeg(tail: "a"))
    try fixture.put("b.jpg", ScanFixture.jpeg(tail: "b"))
    let now = Locked<Int64>(1_700_000_000_000)
    var opened = StoreOptions()
    opened.clock = Clock { now.withLock { $0 } }
    let database = try Database.open(
      path: fixture.store, options: opened, migrations: [Migration(version: 1, sql: ChangeLog.schema)])
    let photos = try fixture.catalogue(in: database)
    _ = try photos.scan()
    var options = options
    func run() throws -> PhotoBackupReport {
      try photos.runBackup(with: store(), user: user, options: options)
    }
    for name in ["a.jpg", "b.jpg"] { rename(fixture.path + "/" + name, fixture.path + "-" + name) }
    let error = #expect(throws: SatchelError.self) { try run() }
    #expect(error?.code == .unavailable)
    #expect(try photos.status().backups == [.queued: 2])
    // One file is gone while another one shows that the disk is there: it concerns that photo.
    rename(fixture.path + "-b.jpg", fixture.path + "/b.jpg")
    var report = try run()
    #expect(report.uploaded == 1 && report.failedCount == 1)
    rename(fixture.path + "-a.jpg", fixture.path + "/a.jpg")
    options.all = false
    report = try run()
    #expect(report.uploaded == 0 && report.failedCount == 0)
    now.withLock { $0 += 60_000 }
    report = try run()
    #expect(report.uploaded == 1)
  }
}
