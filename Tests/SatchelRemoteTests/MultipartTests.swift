import Foundation
import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelRemote

@Suite("Uploads in parts", .enabled(if: TestServer.current != nil), .serialized)
struct MultipartTests {
  private let fixture: TransferFixture
  /// Three parts and a smaller one.
  private let bytes = TransferFixture.bytes(3 * SmallPartsStore.partSize + 1000)
  private var checksum: ContentChecksum { .md5(ContentHash.digests(of: bytes).md5) }

  init() throws { fixture = try TransferFixture() }

  private func open() throws -> S3Store {
    try #require(TestServer.current).open("store", ["prefix": .string(TestServer.prefix())])
  }

  private func isStored(in store: any ObjectStore) throws -> Bool { try store.get(fixture.key).body == bytes }

  private func unfinished(_ store: S3Store) throws -> Int {
    try store.unfinishedUploads(of: fixture.key, cancellation: .never).count
  }

  @Test("the object has the file's bytes and the metadata")
  func whole() throws {
    let store = try open()
    let metadata = try ObjectMetadata(["md5": "x"])
    let outcome = try fixture.transfer(SmallPartsStore(store)).upload(
      fixture.key, from: fixture.body(bytes, checksum: checksum), condition: .ifAbsent, metadata: metadata)
    let head = try store.head(fixture.key)
    #expect(outcome == .written(head.etag) && head.metadata["md5"] == "x")
    #expect(try isStored(in: store) && unfinished(store) == 0)
    try fixture.download(from: store, checksum: checksum)
    #expect(try fixture.read(fixture.target) == bytes)
  }

  @Test("the condition is that of the completion, and a lost upload leaves nothing")
  func lost() throws {
    let store = try open()
    try store.put(fixture.key, [1])
    let head = try store.head(fixture.key)
    let outcome = try fixture.transfer(SmallPartsStore(store)).upload(
      fixture.key, from: fixture.body(bytes), condition: .ifAbsent)
    #expect(outcome == .lost(head))
    #expect(try unfinished(store) == 0)
    let second = try fixture.transfer(SmallPartsStore(store)).upload(
      fixture.key, from: fixture.body(bytes), condition: .ifMatch(head.etag))
    #expect(try second == .written(store.head(fixture.key).etag))
    #expect(try isStored(in: store))
  }

  @Test("a part that fails twice is sent again, and no other")
  func failingPart() throws {
    let store = MeteredStore(try open())
    let failures = Locked(0)
    let faulty = SmallPartsStore(store) { number throws(ObjectStoreError) in
      guard number == 2 else { return }
      let count = failures.withLock {
        $0 += 1
        return $0
      }
      if count < 3 { throw ObjectStoreError(.unknownOutcome(retryAfter: nil), "injected") }
    }
    _ = try fixture.transfer(faulty).upload(fixture.key, from: fixture.body(bytes), condition: .ifAbsent)
    #expect(failures.withLock { $0 } == 3)
    #expect(store.traffic.bytesUp == bytes.count)
    #expect(try isStored(in: store))
  }

  @Test("the next run sends only the parts that are missing")
  func resumes() throws {
    let store = try open()
    // Progress is reported after 4 MiB.
    let parts = Locked(0)
    let first = ObjectTransfer(SmallPartsStore(store), retry: TransferFixture.retry) {
      () throws(ObjectStoreError) in
      let count = parts.withLock {
        $0 += 1
        return $0
      }
      if count == 2 { throw ObjectStoreError(.cancelled, "cancelled") }
    }
    #expect(
      try reason {
        _ = try first.upload(fixture.key, from: fixture.body(bytes, checksum: checksum), condition: .ifAbsent)
      } == .cancelled)
    #expect(try unfinished(store) == 1)
    let metered = MeteredStore(store)
    _ = try fixture.transfer(SmallPartsStore(metered)).upload(
      fixture.key, from: fixture.body(bytes, checksum: checksum), condition: .ifAbsent)
    // The second part was broken off.
    #expect(metered.traffic.bytesUp == 2 * SmallPartsStore.partSize + 1000)
    #expect(try isStored(in: store) && unfinished(store) == 0)
  }

  @Test("parts of another file under the same key are not used")
  func othersParts() throws {
    let store = try open()
    let key = fixture.key
    let stranger = try store.startUpload(key, metadata: .none, cancellation: .never)
    let other = try fixture.body(TransferFixture.bytes(SmallPartsStore.partSize, seed: 9))
    _ = try store.putPart(1, of: stranger, other, cancellation: .never)
    // The first part is the file's, the second is not.
    let mixed = try store.startUpload(key, metadata: .none, cancellation: .never)
    let begin = try fixture.body(Array(bytes.prefix(SmallPartsStore.partSize)))
    _ = try store.putPart(1, of: mixed, begin, cancellation: .never)
    let again = try fixture.body(TransferFixture.bytes(SmallPartsStore.partSize, seed: 9))
    _ = try store.putPart(2, of: mixed, again, cancellation: .never)
    _ = try fixture.transfer(SmallPartsStore(store)).upload(
      key, from: fixture.body(bytes), condition: .ifAbsent)
    #expect(try isStored(in: store))
    #expect(try store.unfinishedUploads(of: key, cancellation: .never).map(\.id) == [stranger.id])
  }

  @Test("a file that changes during the upload makes no object, and leaves no parts")
  func changes() throws {
    let store = try open()
    let body = try fixture.body(bytes)
    let source = fixture.source
    let faulty = SmallPartsStore(store) { number throws(ObjectStoreError) in
      guard number == 2 else { return }
      // Behind the part that is sent now, and before it.
      for offset in [3 * SmallPartsStore.partSize, 5] {
        let file = try? DiskFile(source, O_WRONLY)
        try? file?.write([0xAA, 0xBB], at: Int64(offset))
      }
    }
    for checksum in [checksum, nil] {
      let body = checksum == nil ? body : try fixture.body(bytes, checksum: checksum)
      let error = try reason {
        _ = try fixture.transfer(faulty).upload(fixture.key, from: body, condition: .ifAbsent)
      }
      #expect(error == .failed(.invalid))
      #expect(try reason { _ = try store.head(fixture.key) } == .notFound)
      #expect(try unfinished(store) == 0)
    }
  }

  @Test("an upload that another program has ended is begun again")
  func ended() throws {
    let store = try open()
    let isEnded = Locked(false)
    let key = fixture.key
    let faulty = SmallPartsStore(store) { number throws(ObjectStoreError) in
      guard number == 3,
        isEnded.withLock({ ended in
          defer { ended = true }
          return !ended
        })
      else { return }
      for upload in try store.unfinishedUploads(of: key, cancellation: .never) {
        try store.abort(upload, cancellation: .never)
      }
    }
    _ = try fixture.transfer(faulty).upload(key, from: fixture.body(bytes), condition: .ifAbsent)
    #expect(isEnded.withLock { $0 })
    #expect(try isStored(in: store) && unfinished(store) == 0)
  }

  @Test(
    "a connection that is cut, in either direction, costs what was not yet acknowledged",
    arguments: [
      ["fault": "cut_upload", "bytes": 1_000_000], ["fault": "lost_reply"], ["fault": "reset_before"],
      ["fault": "status", "code": 503],
    ] as [JSONValue])
  func cut(fault: JSONValue) throws {
    // The listing, the begin, and a part pass.
    let pass: JSONValue = ["fault": "pass"]
    try FaultProxy.with([pass, pass, pass, fault, pass, fault]) { store, proxy throws in
      _ = try fixture.transfer(SmallPartsStore(store)).upload(
        fixture.key, from: fixture.body(bytes, checksum: checksum), condition: .ifAbsent)
      #expect(try isStored(in: store))
      #expect(try store.unfinishedUploads(of: fixture.key, cancellation: .never).isEmpty)
    }
  }

  @Test("a lost answer of the completion is a success")
  func lostCompletion() throws {
    let pass: JSONValue = ["fault": "pass"]
    let plan = [JSONValue](repeating: pass, count: 6) + [["fault": "lost_reply"]]
    try FaultProxy.with(plan) { store, proxy throws in
      let outcome = try fixture.transfer(SmallPartsStore(store)).upload(
        fixture.key, from: fixture.body(bytes, checksum: checksum), condition: .ifAbsent)
      #expect(try proxy.seen()[6].fault == "lost_reply")
      #expect(try outcome == .written(store.head(fixture.key).etag))
      #expect(try isStored(in: store))
    }
  }

  @Test(
    "a download goes on from the byte at which its connection was cut",
    arguments: [
      ["fault": "truncate", "bytes": 2_000_000], ["fault": "truncate", "bytes": 3_000_000, "reset": true],
      ["fault": "stall", "bytes": 1_500_000],
    ] as [JSONValue])
  func cutDownload(fault: JSONValue) throws {
    try FaultProxy.with([["fault": "pass"], fault, fault]) { store, proxy throws in
      let bytes = TransferFixture.bytes(6 << 20)
      try store.put(fixture.key, bytes)
      let metered = MeteredStore(store)
      try fixture.download(from: metered, checksum: .md5(ContentHash.digests(of: bytes).md5))
      #expect(try fixture.read(fixture.target) == bytes)
      #expect(metered.traffic.bytesDown == bytes.count)
      #expect(metered.traffic.requests == 3)
    }
  }

  @Test("an object that is replaced during its download is downloaded as one of both")
  func replaced() throws {
    try FaultProxy.with([["fault": "pass"], ["fault": "truncate", "bytes": 5_000_000]]) { store, _ throws in
      try store.put(fixture.key, bytes)
      let other = TransferFixture.bytes(6 << 20, seed: 5)
      let hasChanged = Locked(false)
      let transfer = ObjectTransfer(store, retry: TransferFixture.retry) { () throws(ObjectStoreError) in
        let isFirst = hasChanged.withLock { changed in
          defer { changed = true }
          return !changed
        }
        if isFirst { try store.put(fixture.key, other) }
      }
      let file = try DownloadFile(replacing: fixture.target, resuming: false)
      let digests = try transfer.download(fixture.key, to: file)
      #expect(digests == ContentHash.digests(of: other))
    }
  }

  @Test("a server that ignores ranges sends the whole object")
  func ignoresRanges() throws {
    let text = (0..<400).map { "\($0)," }.joined()
    let whole: JSONValue = [
      "fault": "status", "code": 200, "body": .string(text), "headers": ["ETag": "\"e\""],
    ]
    try FaultProxy.with([whole]) { store, _ throws in
      let bytes = Array(text.utf8)
      try fixture.write(Array(bytes.prefix(1000)), to: fixture.target + ".part")
      try fixture.download(from: store, checksum: .md5(ContentHash.digests(of: bytes).md5))
      #expect(try fixture.read(fixture.target) == bytes)
    }
  }

  @Test("a size that HEAD does not say is that of the listing")
  func headWithoutLength() throws {
    let fault: JSONValue = ["fault": "drop_answer", "name": "content-length"]
    try FaultProxy.with([]) { store, proxy throws in
      try store.put(fixture.key, [1, 2, 3])
      try store.put(ObjectKey(fixture.key.text + "0"), [1])
      try proxy.expect([fault])
      #expect(try store.head(fixture.key).size == 3)
      #expect(try proxy.seen().map(\.method) == ["HEAD", "GET"])
    }
  }

  @Test("a write carries its checksum in a header, as buckets with Object Lock demand")
  func checksumHeader() throws {
    // A signed header that is dropped is noticed.
    let fault: JSONValue = ["fault": "drop_header", "name": "content-md5"]
    try FaultProxy.with([fault]) { store, _ throws in
      #expect(try reason { try store.put(fixture.key, [1]) } == .denied)
    }
    try FaultProxy.with([fault]) { store, _ throws in
      let body = try fixture.body([1])
      #expect(
        try reason { _ = try fixture.transfer(store).upload(fixture.key, from: body, condition: .none) }
          == .denied)
    }
    #expect(Base64.encode([]) == "" && Base64.encode(Array("f".utf8)) == "Zg==")
    #expect(Base64.encode(Array("fo".utf8)) == "Zm8=" && Base64.encode(Array("foobar".utf8)) == "Zm9vYmFy")
    #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
  }

  @Test("the files of a backup share their connections")
  func connections() throws {
    try FaultProxy.with([]) { store, proxy throws in
      for number in 0..<4 {
        _ = try fixture.transfer(store).upload(
          ObjectKey("k\(number)"), from: fixture.body([UInt8(number)]), condition: .ifAbsent)
      }
      #expect(try Set(proxy.seen().map(\.connection)).count == 1)
    }
  }

  @Test("a byte that is damaged on the way is noticed")
  func corrupted() throws {
    try FaultProxy.with([["fault": "pass"], ["fault": "corrupt", "at": 1000]]) { store, _ throws in
      let bytes = TransferFixture.bytes(2000)
      try store.put(fixture.key, bytes)
      let checksum = ContentChecksum.md5(ContentHash.digests(of: bytes).md5)
      #expect(try reason { try fixture.download(from: store, checksum: checksum) } == .failed(.damaged))
      #expect(!fixture.exists(fixture.target) && !fixture.exists(fixture.target + ".part"))
    }
  }
}
