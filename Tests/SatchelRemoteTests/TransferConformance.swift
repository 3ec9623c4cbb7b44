import Foundation
import SatchelCore
import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelRemote

/// The conformance suite of transfers, for every object store.
@Suite("Transfers of every object store")
struct TransferConformance {
  private let fixture: TransferFixture
  init() throws { fixture = try TransferFixture() }

  @Test(
    "a file is the same after an upload and a download, with its digests", arguments: ConformingStore.allCases
  )
  func roundTrip(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      for count in [0, 1, FileBody.blockSize, 3 * FileBody.blockSize + 7] {
        let bytes = TransferFixture.bytes(count)
        let digests = ContentHash.digests(of: bytes)
        let body = try fixture.body(bytes, checksum: .md5(digests.md5))
        let metadata = try ObjectMetadata(["name": "a b"])
        let outcome = try fixture.transfer(one).upload(
          fixture.key, from: body, condition: .none, metadata: metadata)
        let head = try other.head(fixture.key)
        #expect(outcome == .written(head.etag))
        #expect(head.size == count && head.metadata["name"] == "a b")
        #expect(try fixture.download(from: other) == digests)
        #expect(try fixture.read(fixture.target) == bytes)
        #expect(try fixture.transfer(other).digests(fixture.key) == digests)
        #expect(try one.get(fixture.key).body == bytes)
      }
      #expect(!fixture.exists(fixture.target + ".part"))
    }
  }

  @Test("a range of an object is read, and no more", arguments: ConformingStore.allCases)
  func ranges(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let bytes = TransferFixture.bytes(3 * FileBody.blockSize + 7)
      _ = try fixture.transfer(one).upload(fixture.key, from: fixture.body(bytes), condition: .none)
      let size = Int64(bytes.count)
      let ranges: [Range<Int64>] = [
        0..<1, 0..<size, 5..<5, 5..<300_000, size - 1..<size, 262_144..<524_288,
      ]
      for range in ranges {
        var read: [UInt8] = []
        let metered = MeteredStore(other)
        try fixture.transfer(metered).read(fixture.key, range) { read.append(contentsOf: $0) }
        #expect(read == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        if kind == .directory { #expect(metered.traffic.bytesDown == Int64(range.count)) }
      }
      #expect(try reason { try fixture.transfer(other).read(fixture.key, 5..<size + 1) { _ in } } != nil)
    }
  }

  @Test("a host's file goes in parts and comes in ranges, under the condition of the write")
  func hostsParts() throws {
    try ConformingStore.callbacksInParts.withStores { one, other in
      let bytes = TransferFixture.bytes((20 << 20) + 5)
      let digests = ContentHash.digests(of: bytes)
      let metered = MeteredStore(one)
      let outcome = try fixture.transfer(metered).upload(
        fixture.key, from: fixture.body(bytes), condition: .ifAbsent)
      #expect(try outcome == .written(other.head(fixture.key).etag))
      // The listing of uploads, the begin, three parts and the completion.
      #expect(metered.traffic.requests == 6)
      #expect(try other.head(fixture.key).metadata["sha256"] == digests.sha256.hexadecimal)
      #expect(try fixture.download(from: other) == digests)
      let lost = try fixture.transfer(one).upload(
        fixture.key, from: fixture.body(TransferFixture.bytes(9 << 20)), condition: .ifAbsent)
      #expect(try lost == .lost(other.head(fixture.key)))
    }
  }

  @Test(
    "a host's wrong range is refused",
    arguments: [
      HostRange(body: [1, 2, 3], size: 2, etag: "a"), HostRange(body: [], size: 2, etag: "a"),
      HostRange(body: [1], size: 1, etag: ""), HostRange(body: [], size: -1, etag: "a"),
    ])
  func hostsWrongRange(range: HostRange) throws {
    let store = try DirectoryStore(path: fixture.directory.path + "/store")
    var calls = HostCalls(inParts: store)
    calls.transfers?.getRange = { _, _, _, _, _ in range }
    #expect(try reason { _ = try fixture.transfer(CallbackStore(calls)).digests(fixture.key) } != nil)
  }

  @Test("conditions hold for files as for bytes", arguments: ConformingStore.allCases)
  func conditions(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let key = fixture.key
      let first = try fixture.transfer(one).upload(key, from: fixture.body([1]), condition: .ifAbsent)
      let head = try other.head(key)
      #expect(first == .written(head.etag))
      // The same bytes are the writer's own.
      #expect(try fixture.transfer(other).upload(key, from: fixture.body([1]), condition: .ifAbsent) == first)
      #expect(
        try fixture.transfer(other).upload(key, from: fixture.body([2]), condition: .ifAbsent) == .lost(head))
      let second = try fixture.transfer(other).upload(
        key, from: fixture.body([2]), condition: .ifMatch(head.etag))
      #expect(try second == .written(one.head(key).etag))
      #expect(
        try fixture.transfer(one).upload(key, from: fixture.body([3]), condition: .ifMatch(head.etag))
          == .lost(other.head(key)))
      try one.delete(key)
      #expect(
        try fixture.transfer(one).upload(key, from: fixture.body([3]), condition: .ifMatch(head.etag))
          == .gone)
    }
  }

  @Test("a file with other bytes than its checksum's is not written", arguments: ConformingStore.allCases)
  func otherBytes(kind: ConformingStore) throws {
    try kind.withStores { one, _ in
      let bytes = TransferFixture.bytes(2 * FileBody.blockSize)
      let digests = ContentHash.digests(of: bytes)
      let body = try fixture.body(bytes, checksum: .sha256(digests.sha256))
      // The file changes after it was opened, and its size and time stay.
      let time = timespec(tv_sec: 1_700_000_000, tv_nsec: 0)
      var changed = bytes
      changed[100] ^= 1
      try fixture.write(changed, to: fixture.source)
      utimensat(AT_FDCWD, fixture.source, [time, time], 0)
      let other = try fixture.body(checksum: .sha256(digests.sha256))
      for body in [body, other] {
        do {
          _ = try fixture.transfer(one).upload(fixture.key, from: body, condition: .ifAbsent)
          Issue.record("written")
        } catch let error as ObjectStoreError {
          #expect(error.faultClass == .object && error.satchelError.code == .invalid)
        }
      }
      #expect(try reason { _ = try one.head(fixture.key) } == .notFound)
    }
  }

  @Test("a file that changes between two readings is not written", arguments: ConformingStore.allCases)
  func changed(kind: ConformingStore) throws {
    try kind.withStores { one, _ in
      let bytes = TransferFixture.bytes(2 * FileBody.blockSize)
      let body = try fixture.body(bytes)
      _ = try body.digests(.never)
      let file = try DiskFile(fixture.source, O_WRONLY)
      try file.write([bytes[bytes.count - 1] ^ 1], at: Int64(bytes.count - 1))
      #expect(
        try reason { _ = try fixture.transfer(one).upload(fixture.key, from: body, condition: .none) }
          == .failed(.invalid))
      try file.truncate(to: 10)
      #expect(
        try reason { _ = try fixture.transfer(one).upload(fixture.key, from: body, condition: .none) }
          == .failed(.invalid))
      #expect(try reason { _ = try one.head(fixture.key) } == .notFound)
    }
  }

  @Test("a download continues with what an earlier one has left", arguments: ConformingStore.allCases)
  func resumes(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let bytes = TransferFixture.bytes(3 << 20)
      let digests = ContentHash.digests(of: bytes)
      try one.put(fixture.key, bytes)
      for rest in [0, 1, 1 << 20] {
        try fixture.write(Array(bytes.dropLast(rest)), to: fixture.target + ".part")
        let metered = MeteredStore(other)
        #expect(try fixture.download(from: metered, checksum: .sha256(digests.sha256)) == digests)
        #expect(try fixture.read(fixture.target) == bytes)
        #expect(metered.traffic.bytesDown == rest)
      }
    }
  }

  @Test("what an earlier download has left of other bytes is not used", arguments: ConformingStore.allCases)
  func leftOfOther(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let bytes = TransferFixture.bytes(3 << 20)
      let checksum = ContentChecksum.md5(ContentHash.digests(of: bytes).md5)
      try one.put(fixture.key, bytes)
      for count in [1 << 20, 3 << 20, 4 << 20] {
        try fixture.write(TransferFixture.bytes(count, seed: 7), to: fixture.target + ".part")
        try fixture.download(from: other, checksum: checksum)
        #expect(try fixture.read(fixture.target) == bytes)
      }
      // Neither are they used without a checksum.
      try fixture.write(TransferFixture.bytes(2 << 20, seed: 7), to: fixture.target + ".part")
      try fixture.download(from: other)
      #expect(try fixture.read(fixture.target) == bytes)
    }
  }

  @Test("an object with other bytes than its checksum's is damaged", arguments: ConformingStore.allCases)
  func damaged(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      try one.put(fixture.key, TransferFixture.bytes(3 << 20))
      let checksum = ContentChecksum.md5(ContentHash.digests(of: [1]).md5)
      #expect(try reason { try fixture.download(from: other, checksum: checksum) } == .failed(.damaged))
      #expect(!fixture.exists(fixture.target))
      try one.delete(fixture.key)
      #expect(try reason { try fixture.download(from: other, checksum: checksum) } == .notFound)
      #expect(!fixture.exists(fixture.target + ".part"))
    }
  }

  @Test("a transfer stops when the caller cancels", arguments: ConformingStore.allCases)
  func cancelled(kind: ConformingStore) throws {
    try kind.withStores { one, _ in
      try one.put(fixture.key, [1])
      let body = try fixture.body([2])
      let transfer = ObjectTransfer(one, cancellation: Cancellation { true })
      #expect(
        try reason { _ = try transfer.upload(fixture.key, from: body, condition: .none) } == .cancelled)
      let file = try DownloadFile(replacing: fixture.target, resuming: false)
      #expect(try reason { _ = try transfer.download(fixture.key, to: file) } == .cancelled)
      #expect(try one.get(fixture.key).body == [1])
    }
  }

  @Test("an object beyond the limit is neither uploaded nor downloaded", arguments: ConformingStore.allCases)
  func limits(kind: ConformingStore) throws {
    try kind.withStores { one, _ in
      try one.put(fixture.key, TransferFixture.bytes(3 << 20))
      let file = try DownloadFile(replacing: fixture.target, resuming: false)
      #expect(
        try reason { _ = try fixture.transfer(one).download(fixture.key, to: file, limit: 1 << 20) }
          == .tooLarge)
      guard one.limits.object < 1 << 42 else { return }
      try fixture.write([], to: fixture.source)
      let sparse = try DiskFile(fixture.source, O_WRONLY)
      try sparse.truncate(to: one.limits.object + 1)
      let body = try fixture.body()
      #expect(
        try reason { _ = try fixture.transfer(one).upload(fixture.key, from: body, condition: .none) }
          == .tooLarge)
    }
  }
}
