import Foundation
import SatchelTesting
import Testing

@testable import SatchelRemote

@Suite("ETags in the listing of a directory")
struct DirectoryETagTests {
  let directory: TemporaryDirectory
  let store: DirectoryStore
  init() throws {
    directory = try TemporaryDirectory()
    store = try DirectoryStore(path: directory.path)
  }

  /// Lists the store some ticks of the file system's clock after the last write.
  @discardableResult
  private func settled() throws -> [String: ETag] {
    usleep(50_000)
    return try tags()
  }

  private func tags() throws -> [String: ETag] {
    Dictionary(
      uniqueKeysWithValues: try store.list().compactMap { entry in entry.etag.map { (entry.key.text, $0) } })
  }

  private func remember(_ hashes: [FileVersion: [UInt8]]) throws {
    guard let incoming = try store.tree.directory(DirectoryStore.incoming) else {
      Issue.record("there is no directory for files in work")
      return
    }
    try ETagCacheFile(store.tree, of: "d/").write(hashes, in: IncomingFile(in: incoming, store.tree))
  }

  @Test("an unchanged file is not read again: a false cache entry is returned until it is written")
  func remembered() throws {
    let (one, other) = (try ObjectKey("d/one"), try ObjectKey("d/other"))
    let tag = try store.put(one, [1])
    try store.put(other, [2])
    try settled()
    let known = ETagCacheFile(store.tree, of: "d/").read()
    #expect(known.count == 2)
    let invented = [UInt8](repeating: 7, count: 32)
    try remember(known.mapValues { _ in invented })
    let lie = ETag(hash: invented)
    #expect(try tags() == ["d/one": lie, "d/other": lie])
    #expect(try DirectoryStore(path: directory.path).list().allSatisfy { $0.etag == lie })
    #expect(try store.get(one).etag == tag)
    try store.put(one, [1])
    #expect(try settled() == ["d/one": tag, "d/other": lie])
    #expect(try settled() == ["d/one": tag, "d/other": lie])
    // The entry of a removed file is dropped when the cache is written next.
    #expect(ETagCacheFile(store.tree, of: "d/").read().count == 2)
    try store.delete(other)
    #expect(try settled() == ["d/one": tag])
    try store.delete(one)
    #expect(try directory.files() == [".satchel/lock", ".satchel/remote.json"])
  }

  @Test(
    "a change in place by another program is detected, with equal size and times set back"
  )
  func inPlace() throws {
    let key = try ObjectKey("d/one")
    try store.put(key, [0, 0])
    let descriptor = open(directory.path + "/d/one", O_WRONLY)
    defer { close(descriptor) }
    #expect(descriptor >= 0)
    var seen: Set<ETag> = []
    for number in 0..<300 {
      let body = [UInt8(number & 255), UInt8(number >> 8)]
      #expect(pwrite(descriptor, body, 2, 0) == 2)
      let times = [timespec(tv_sec: 1_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0)]
      #expect(futimens(descriptor, times) == 0)
      if number.isMultiple(of: 50) { usleep(50_000) }
      let tag = try #require(try store.list().first?.etag)
      #expect(try tag == store.get(key).etag, "\(number)")
      seen.insert(tag)
    }
    #expect(seen.count == 300)
  }

  @Test(
    "a file that was written after a listing began to read is not cached")
  func tooYoung() throws {
    let (one, other) = (try ObjectKey("d/one"), try ObjectKey("d/other"))
    try store.put(one, [1])
    usleep(50_000)
    var etags = ETagCache(store.tree, of: "d/")
    for key in [one, other] {
      if key == other { try store.put(other, [2]) }
      guard let parent = try store.tree.directory(["d"]),
        let file = try store.tree.object(key, path: key.components)
      else {
        Issue.record("\(key) is not there")
        return
      }
      let name = try #require(key.components.last)
      let entry = try etags.entry(key, name: name, in: parent, status: file.status, .never)
      #expect(try entry?.etag == store.get(key).etag)
    }
    etags.save([])
    #expect(
      ETagCacheFile(store.tree, of: "d/").read().values.map { ETag(hash: $0) } == [try store.get(one).etag])
  }

  @Test(
    "a damaged cache file is ignored",
    arguments: [0, 1, 31, 32, 33, 95, 96, 97, 160])
  func damaged(length: Int) throws {
    let tag = try store.put(ObjectKey("d/one"), [1])
    try store.put(ObjectKey("d/other"), [1])
    try settled()
    let name = try #require(try directory.files().first { $0.hasPrefix(".satchel/tags/") })
    let url = URL(filePath: directory.path + "/" + name)
    var bytes = try Data(contentsOf: url)
    #expect(bytes.count == 160)
    if length < 160 { bytes = bytes.prefix(length) } else { bytes[159] ^= 1 }
    try bytes.write(to: url)
    #expect(ETagCacheFile(store.tree, of: "d/").read().isEmpty)
    #expect(try settled() == ["d/one": tag, "d/other": tag])
    #expect(ETagCacheFile(store.tree, of: "d/").read().count == 2)
  }

  @Test("a directory that was never written is listed with ETags, and not changed")
  func foreign() throws {
    for name in ["a", "d/one"] { try directory.write(name, to: name) }
    for _ in 0..<2 {
      let tags = try settled()
      #expect(try tags["a"] == store.get(ObjectKey("a")).etag && tags.count == 2)
    }
    #expect(try directory.files() == ["a", "d/one"])
  }

  @Test("a file that is larger than the maximum is listed without an ETag")
  func tooLarge() throws {
    let descriptor = open(directory.path + "/large", O_CREAT | O_WRONLY, 0o600)
    #expect(ftruncate(descriptor, off_t(StoredObject.maximumSize + 1)) == 0)
    close(descriptor)
    #expect(
      try store.list() == [ObjectPage.Entry(key: ObjectKey("large"), size: StoredObject.maximumSize + 1)])
  }
}
