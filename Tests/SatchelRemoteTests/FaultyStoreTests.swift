import SatchelRemoteTesting
import SatchelTesting
import Testing

import SatchelRemote

/// Tests the faults themselves, because other tests rely on them.
@Suite("Injected faults")
struct FaultyStoreTests {
  let directory: TemporaryDirectory
  let inner: DirectoryStore
  let key: ObjectKey

  init() throws {
    directory = try TemporaryDirectory()
    inner = try DirectoryStore(path: directory.path)
    key = try ObjectKey("k")
    try inner.put(key, [UInt8]("old"))
  }

  @Test(
    "a write fails as planned, with or without its effect",
    arguments: [
      (Fault.conflict, ObjectStoreError.Reason.unknownOutcome(retryAfter: nil), false),
      (.errorBefore, .unknownOutcome(retryAfter: nil), false),
      (.errorAfter, .unknownOutcome(retryAfter: nil), true),
      (.timeoutBefore, .unknownOutcome(retryAfter: nil), false),
      (.timeoutAfter, .unknownOutcome(retryAfter: nil), true),
      (.preconditionAfter, .preconditionFailed, true), (.refused, .transient(retryAfter: nil), false),
    ])
  func writes(fault: Fault, wanted: ObjectStoreError.Reason, takesEffect: Bool) throws {
    let etag = try inner.head(key).etag
    let store = FaultyStore(inner, plan: [fault])
    #expect(try reason { try store.put(key, [UInt8]("new"), condition: .ifMatch(etag)) } == wanted)
    #expect(try inner.get(key).body == [UInt8](takesEffect ? "new" : "old"))
    #expect(try store.get(key).body == [UInt8](takesEffect ? "new" : "old"))
    #expect(store.requests == 2)
  }

  @Test(
    "a read fails as planned",
    arguments: [
      (Fault.missing, ObjectStoreError.Reason.notFound), (.truncated, .truncated),
      (.timeoutBefore, .transient(retryAfter: nil)), (.refused, .transient(retryAfter: nil)),
    ])
  func reads(fault: Fault, wanted: ObjectStoreError.Reason) throws {
    let store = FaultyStore(inner, plan: [fault])
    #expect(try reason { _ = try store.get(key) } == wanted)
    #expect(try store.get(key).body == [UInt8]("old"))
  }

  @Test("a corrupted body differs in one byte, a stale one is the previous version")
  func content() throws {
    let store = FaultyStore(inner, plan: [.corrupted, .none, .stale, .stale])
    let corrupted = try store.get(key).body
    #expect(corrupted.count == 3 && zip(corrupted, "old".utf8).filter { $0 != $1 }.count == 1)
    let old = try inner.head(key).etag
    try store.put(key, [UInt8]("new"))
    #expect(try store.get(key).body == [UInt8]("old"))
    #expect(try store.get(key, ifNoneMatch: old) == .notModified)
    #expect(try store.get(key).body == [UInt8]("new"))
  }

  @Test("a plan is the same for the same seed, and contains all kinds of faults")
  func plan() {
    let plan = Fault.plan(seed: 3, count: 1000)
    #expect(plan == Fault.plan(seed: 3, count: 1000))
    #expect(plan != Fault.plan(seed: 4, count: 1000))
    #expect(Set(Fault.allCases.map { "\($0)" }) == Set(plan.map { "\($0)" }))
    #expect((600...760).contains(plan.filter { $0 == .none }.count))
  }

  @Test("reads with retries survive any plan of transient faults", arguments: 0..<20 as Range<UInt64>)
  func retried(seed: UInt64) throws {
    let transient: [Fault] = [.errorBefore, .timeoutAfter, .truncated, .refused]
    let store = FaultyStore(inner, plan: Fault.plan(seed: seed, count: 40, rarity: 2, of: transient))
    var random = SeededRandom(seed: seed)
    for _ in 0..<20 {
      let object = try Retry(attempts: 41).run(random: &random, pause: { _ in }) {
        _ throws(ObjectStoreError) in
        try store.get(key)
      }
      #expect(object.body == [UInt8]("old"))
    }
  }
}
