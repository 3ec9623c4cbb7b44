import SatchelRemoteTesting
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

import SatchelRemote

@Suite("Reliable writes")
struct ReliableWriterTests {
  let directory: TemporaryDirectory
  let inner: DirectoryStore
  let key: ObjectKey

  init() throws {
    directory = try TemporaryDirectory()
    inner = try DirectoryStore(path: directory.path)
    key = try ObjectKey("k")
  }

  private static let faults: [Fault] = [
    .conflict, .preconditionAfter, .errorBefore, .errorAfter, .timeoutBefore, .timeoutAfter, .refused,
  ]

  private func writer(_ plan: [Fault], attempts: Int = 30) -> ReliableWriter {
    ReliableWriter(FaultyStore(inner, plan: plan), retry: Retry(attempts: attempts, base: 0))
  }

  @Test("report the correct outcome after each single fault", arguments: faults)
  func single(fault: Fault) throws {
    #expect(try writer([fault]).write(key, [1], condition: .ifAbsent) == .written(inner.head(key).etag))
    let first = try inner.head(key)
    #expect(try writer([fault]).write(key, [2], condition: .ifAbsent) == .lost(first))
    #expect(
      try writer([fault]).write(key, [2], condition: .ifMatch(first.etag)) == .written(inner.head(key).etag))
    #expect(try writer([fault]).write(key, [3], condition: .ifMatch(first.etag)) == .lost(inner.head(key)))
    try inner.delete(key)
    #expect(try writer([fault]).write(key, [3], condition: .ifMatch(first.etag)) == .gone)
    #expect(try writer([fault]).write(key, [4], condition: .none) == .written(inner.head(key).etag))
    #expect(try inner.get(key).metadata["sha256"] == SHA256.digest([4]).hexadecimal)
  }

  @Test(
    "lose no acknowledged write, with four writers on unreliable connections",
    arguments: 0..<6 as Range<UInt64>)
  func losesNothing(seed: UInt64) throws {
    try inner.put(key, [])
    let stores = (0..<4).map { index in
      FaultyStore(inner, plan: Fault.plan(seed: seed * 4 + index, count: 300, of: Self.faults))
    }
    let retry = Retry(attempts: 100, base: 0)
    let (isWhole, failures) = try Contest.append(20, to: key, stores: stores, retry: retry)
    #expect(failures == [])
    #expect(isWhole)
  }

  @Test("give up in time, and report whether a write may have taken effect")
  func usedUp() throws {
    let endless = [Fault](repeating: .timeoutBefore, count: 100)
    #expect(
      try reason { _ = try writer(endless, attempts: 3).write(key, [1], condition: .ifAbsent) }
        == .unknownOutcome(retryAfter: nil))
    let refused = [Fault](repeating: .refused, count: 100)
    #expect(
      try reason { _ = try writer(refused, attempts: 3).write(key, [1], condition: .ifAbsent) }
        == .transient(retryAfter: nil))
    #expect(try reason { _ = try inner.head(key) } == .notFound)
  }

  @Test("recognise the written bytes also when metadata is lost")
  func withoutMetadata() throws {
    let etag = try inner.put(key, [1, 2, 3])
    #expect(try writer([]).write(key, [1, 2, 3], condition: .ifAbsent) == .written(etag))
    #expect(try writer([]).write(key, [1, 2, 4], condition: .ifAbsent) == .lost(inner.head(key)))
  }

  @Test("stops when the caller cancels")
  func cancelled() throws {
    let endless = [Fault](repeating: .errorBefore, count: 1000)
    let asked = Locked(0)
    let cancellation = Cancellation {
      asked.withLock {
        $0 += 1
        return $0 > 20
      }
    }
    let writer = ReliableWriter(FaultyStore(inner, plan: endless), retry: Retry(attempts: 1000, base: 1))
    #expect(
      try reason { _ = try writer.write(key, [1], condition: .ifAbsent, cancellation: cancellation) }
        == .cancelled)
  }

  @Test("a meter counts requests and bytes")
  func metered() throws {
    let store = MeteredStore(inner)
    let etag = try store.put(key, [1, 2, 3])
    _ = try store.get(key)
    _ = try store.get(key, ifNoneMatch: etag)
    _ = try store.head(key)
    _ = try store.list()
    try store.delete(key)
    #expect(try reason { _ = try store.get(key) } == .notFound)
    #expect((store.traffic.requests, store.traffic.bytesUp, store.traffic.bytesDown) == (7, 3, 3))
  }
}
