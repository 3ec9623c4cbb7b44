import Foundation
import SatchelCore
import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelRemote

@Suite("Directory stores")
struct DirectoryStoreTests {
  let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  @Test("an object is a file with its key as path, and only its body as content")
  func files() throws {
    let store = try DirectoryStore(path: directory.path)
    try store.put(ObjectKey("photos/a b.csv"), [UInt8]("x,y\n"), metadata: ObjectMetadata(["writer": "me"]))
    #expect(try String(contentsOfFile: directory.path + "/photos/a b.csv", encoding: .utf8) == "x,y\n")
    try directory.write("from outside", to: "photos/other.csv")
    let key = try ObjectKey("photos/other.csv")
    let object = try store.get(key)
    #expect(object.body == [UInt8]("from outside"))
    try directory.write("changed outside", to: "photos/other.csv")
    #expect(try reason { try store.put(key, [1], condition: .ifMatch(object.etag)) } == .preconditionFailed)
  }

  @Test("a lazy write is visible immediately, and replaces no object")
  func lazily() throws {
    let store = try DirectoryStore(path: directory.path)
    let (key, prefix) = (try ObjectKey("a/b/one"), try ObjectPrefix("a/b/"))
    try store.makeDurable(prefix)
    for store: any LazyObjectStore in [store, MeteredStore(store), MeteredStore(SyncStore())] {
      try store.delete(key)
      try store.putLazily(key, [1], cancellation: .never)
      #expect(try store.get(key).body == [1])
      #expect(
        try reason { try store.putLazily(key, [2], cancellation: .never) } == .preconditionFailed)
      try store.makeDurable(prefix)
      #expect(try store.get(key).body == [1])
    }
  }

  @Test("a file system that cannot sync directories holds a store", arguments: [EINVAL, EOPNOTSUPP])
  func directoriesWithoutSync(code: Int32) throws {
    var calls = FileCalls.system
    calls.sync = { file in
      var status = stat()
      guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return fsync(file) }
      errno = code
      return -1
    }
    let store = try DirectoryStore(path: directory.path + "/new", calls: calls)
    let key = try ObjectKey("a/b")
    try store.put(key, [1], metadata: ObjectMetadata(["a": "b"]))
    try store.putLazily(ObjectKey("a/c"), [2], cancellation: .never)
    try store.makeDurable(ObjectPrefix("a/"))
    try store.delete(key)
    #expect(try store.list().map(\.key.text) == ["a/c"])
  }

  @Test("what is made in a directory of a group is the group's, whatever the umask")
  func group() throws {
    let root = directory.path + "/shared"
    mkdir(root, 0o755)
    chmod(root, 0o2775)
    let before = umask(0o077)
    defer { umask(before) }
    let store = try DirectoryStore(path: root)
    try store.put(ObjectKey("a/b"), [1], metadata: ObjectMetadata(["a": "b"]))
    for path in ["/a", "/.satchel", "/.satchel/incoming", "/.satchel/metadata"] {
      var status = stat()
      #expect(stat(root + path, &status) == 0 && status.st_mode & 0o2070 == 0o2070)
      #expect(status.st_mode & 0o007 == 0)
    }
    for path in ["/a/b", "/.satchel/lock", "/.satchel/remote.json"] {
      var status = stat()
      #expect(stat(root + path, &status) == 0 && status.st_mode & 0o777 == 0o660)
    }
  }

  @Test("deleting removes the file and empty directories")
  func nothingLeft() throws {
    let store = try DirectoryStore(path: directory.path)
    let key = try ObjectKey("one/two/three")
    try store.put(key, [1], metadata: ObjectMetadata(["a": "b"]))
    try store.put(key, [2], metadata: ObjectMetadata(["a": "c"]))
    #expect(try directory.files().count == 4)
    try store.delete(key)
    #expect(try directory.files() == [".satchel/lock", ".satchel/remote.json"])
    #expect(!FileManager.default.fileExists(atPath: directory.path + "/one"))
    try store.put(ObjectKey("one"), [3])
    #expect(try store.get(ObjectKey("one")).body == [3])
  }

  @Test("a key of an object cannot be a prefix of other keys, nor the other way round")
  func inTheWay() throws {
    let store = try DirectoryStore(path: directory.path)
    try store.put(ObjectKey("a"), [1])
    try store.put(ObjectKey("b/c"), [2])
    #expect(try reason { try store.put(ObjectKey("a/x"), [3]) } == .invalidKey)
    #expect(try reason { try store.put(ObjectKey("b"), [3]) } == .invalidKey)
    #expect(try reason { _ = try store.get(ObjectKey("a/x")) } == .notFound)
    #expect(try reason { _ = try store.get(ObjectKey("b")) } == .notFound)
    #expect(try store.list().map(\.key.text) == ["a", "b/c"])
    #expect(try directory.files().filter { $0.hasPrefix(".satchel/incoming/") } == [])
  }

  @Test(
    "keys that are not valid paths are refused",
    arguments: [
      ".satchel", ".satchel/lock", ".satchel/incoming/x", String(repeating: "x", count: 256),
      "a/" + String(repeating: "é", count: 128),
    ])
  func refused(text: String) throws {
    let store = try DirectoryStore(path: directory.path)
    let key = try ObjectKey(text)
    #expect(try reason { try store.put(key, [1]) } == .invalidKey)
    #expect(try reason { _ = try store.get(key) } == .invalidKey)
    #expect(try reason { try store.delete(key) } == .invalidKey)
  }

  @Test("keys of 1024 bytes and of 512 components are accepted")
  func longKeys() throws {
    let store = try DirectoryStore(path: directory.path)
    let deep = try ObjectKey(Array(repeating: "d", count: 512).joined(separator: "/"))
    let long = try ObjectKey(
      Array(repeating: String(repeating: "x", count: 204), count: 5).joined(separator: "/"))
    #expect(long.text.utf8.count == 1024)
    for key in [deep, long] {
      try store.put(key, [7], metadata: ObjectMetadata(["a": "b"]))
      #expect(try store.get(key).metadata["a"] == "b")
    }
    #expect(try store.list().map(\.key) == [deep, long])
    try store.delete(deep)
    try store.delete(long)
    #expect(try directory.files() == [".satchel/lock", ".satchel/remote.json"])
  }

  @Test("symbolic links are not followed: as object, in its path, and in listings")
  func links() throws {
    let outside = try TemporaryDirectory()
    try outside.write("secret", to: "file")
    let store = try DirectoryStore(path: directory.path)
    try store.put(ObjectKey("real"), [1])
    let manager = FileManager.default
    try manager.createSymbolicLink(
      atPath: directory.path + "/link", withDestinationPath: outside.path + "/file")
    try manager.createSymbolicLink(atPath: directory.path + "/away", withDestinationPath: outside.path)
    for text in ["link", "away/file"] {
      let key = try ObjectKey(text)
      #expect(try reason { _ = try store.get(key) } == .denied)
      #expect(try reason { _ = try store.head(key) } == .denied)
      #expect(try reason { try store.put(key, [2], condition: .ifAbsent) } == .denied)
      #expect(try reason { try store.delete(key) } == .denied)
    }
    #expect(try reason { try store.put(ObjectKey("away/new"), [2]) } == .denied)
    #expect(try outside.files() == ["file"])
    #expect(try String(contentsOfFile: outside.path + "/file", encoding: .utf8) == "secret")
    let page = try store.list(.all, from: nil, limit: 10, cancellation: .never)
    #expect(page.entries.map(\.key.text) == ["real"])
    #expect(page.skipped == 2)
  }

  @Test("FIFOs and names that are not UTF-8 are skipped, and do not block")
  func oddities() throws {
    let store = try DirectoryStore(path: directory.path)
    #expect(mkfifo(directory.path + "/pipe", 0o600) == 0)
    var name = Array((directory.path + "/bad").utf8CString.dropLast())
    name += [CChar(bitPattern: 0xFF), 0]
    let descriptor = open(name, O_CREAT | O_WRONLY, 0o600)
    #expect(descriptor >= 0)
    close(descriptor)
    #expect(try reason { _ = try store.get(ObjectKey("pipe")) } == .denied)
    #expect(try store.list(.all, from: nil, limit: 10, cancellation: .never).skipped == 2)
  }

  @Test(
    "temporary files of crashed writers are hidden, and removed at the next opening; those in use are kept")
  func leftovers() throws {
    let store = try DirectoryStore(path: directory.path)
    try store.put(ObjectKey("a"), [1])
    try directory.write("half", to: ".satchel/incoming/left-by-a-crash")
    guard let incoming = try store.tree.directory(DirectoryStore.incoming) else {
      Issue.record("there is no directory for files in work")
      return
    }
    let inWork = try IncomingFile(in: incoming, store.tree)
    #expect(try store.list().map(\.key.text) == ["a"])
    #expect(try directory.files().filter { $0.contains("incoming") }.count == 2)
    _ = try DirectoryStore(path: directory.path)
    let left = try directory.files().filter { $0.contains("incoming") }
    #expect(left.count == 1 && !left.contains(".satchel/incoming/left-by-a-crash"))
    withExtendedLifetime(inWork) {}
  }

  @Test("a write that cannot get the lock fails as transient, or when the caller cancels")
  func lock() throws {
    let store = try DirectoryStore(path: directory.path, timeout: 50)
    let key = try ObjectKey("a")
    try store.put(key, [1])
    let descriptor = open(directory.path + "/.satchel/lock", O_RDWR)
    #expect(flock(descriptor, LOCK_EX) == 0)
    #expect(try reason { try store.put(key, [2]) } == .transient(retryAfter: nil))
    #expect(try store.get(key).body == [1])
    close(descriptor)
    try store.put(key, [3])
    #expect(try store.get(key).body == [3])
    #expect(try directory.files() == [".satchel/lock", ".satchel/remote.json", "a"])
  }

  @Test("damaged metadata is reported")
  func damagedMetadata() throws {
    let store = try DirectoryStore(path: directory.path)
    let key = try ObjectKey("a")
    try store.put(key, [1], metadata: ObjectMetadata(["a": "b"]))
    let file = try #require(try directory.files().first { $0.hasPrefix(".satchel/metadata/") })
    try directory.write("nonsense", to: file)
    #expect(try reason { _ = try store.get(key) } == .failed(.damaged))
    try store.put(key, [1])
    #expect(try store.get(key).metadata == .none)
  }

  @Test(
    "a repeated call makes the effect of a failed first call durable, whichever sync failed",
    arguments: 0..<12)
  func repeatedAfterFailedSync(at failing: Int) throws {
    let syncs = Locked((left: failing, synced: Set<UInt64>()))
    var calls = FileCalls.system
    calls.sync = { file in
      var status = stat()
      fstat(file, &status)
      return syncs.withLock { syncs in
        syncs.left -= 1
        errno = EIO
        guard syncs.left != -1 else { return -1 }
        syncs.synced.insert(UInt64(status.st_ino))
        return FileCalls.system.sync(file)
      }
    }
    func repeated(_ body: () throws -> Void) throws {
      for _ in 0..<2 {
        guard let found = try reason(body) else { return }
        if found == .preconditionFailed { return }
        #expect([.failed(.io), .unknownOutcome(retryAfter: nil)].contains(found))
      }
      try body()
    }
    let store = try DirectoryStore(path: directory.path, calls: calls)
    let key = try ObjectKey("a/b/one")
    try repeated { try store.put(key, [1], condition: .ifAbsent) }
    #expect(try store.get(key).body == [1])
    for name in ["", "/a", "/a/b"] {
      var status = stat()
      #expect(stat(directory.path + name, &status) == 0)
      #expect(syncs.withLock { $0.synced.contains(UInt64(status.st_ino)) }, "\(name)")
    }
    // Beside another object, so that the directory stays.
    syncs.withLock { $0.left = .max }
    try store.put(ObjectKey("a/b/two"), [2])
    syncs.withLock { $0 = (failing % 3, []) }
    let parent = try #require(try store.tree.directory(["a", "b"])?.status)
    try repeated { try store.delete(key) }
    #expect(syncs.withLock { $0.synced.contains(UInt64(parent.st_ino)) })
  }

  @Test("a directory that cannot be opened is reported")
  func unusable() throws {
    try directory.write("", to: "file")
    #expect(try reason { _ = try DirectoryStore(path: directory.path + "/file") } == .failed(.invalid))
    #expect(try reason { _ = try DirectoryStore(path: directory.path + "/no/such") } == .failed(.notFound))
    #expect(try reason { _ = try DirectoryStore(path: "") } == .failed(.invalid))
    #expect(try reason { _ = try DirectoryStore(path: "a\u{0}b") } == .failed(.invalid))
    _ = try DirectoryStore(path: directory.path + "/new")
    #expect(try directory.files() == ["file"])
  }
}
