import SatchelRemoteTesting
import SatchelTesting
import Testing

import SatchelCore
import SatchelRemote

@Suite("The probe for conditional writes")
struct ConditionProbeTests {
  let directory: TemporaryDirectory
  let inner: DirectoryStore

  init() throws {
    directory = try TemporaryDirectory()
    inner = try DirectoryStore(path: directory.path)
  }

  @Test("passes stores with conditional writes, and removes its object", arguments: ConformingStore.allCases)
  func honest(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let everywhere = try ConditionProbe().probe(one, under: .all)
      let somewhere = try ConditionProbe().probe(one, under: ObjectPrefix("user/photos/"))
      #expect([everywhere, somewhere] == [.supported, .supported])
      #expect(try other.list().isEmpty)
    }
  }

  @Test(
    "detects stores that ignore one condition or all",
    arguments: [
      (ForgetfulStore.Weakness.ifAbsent, "despite If-None-Match"), (.ifMatch, "despite If-Match"),
      (.both, "despite"), (.refusesIfMatch, "501"), (.oneTag, "the same ETag"),
      (.refusesAll, "could not be written"), (.refusesMatching, "could not be overwritten"),
      (.createsDespiteIfMatch, "a deleted object was written despite If-Match"),
    ])
  func weak(weakness: ForgetfulStore.Weakness, words: String) throws {
    let verdict = try ConditionProbe().probe(
      ForgetfulStore(inner, weakness), under: .all, retry: Retry(attempts: 3, base: 0))
    guard case .unsupported(let what) = verdict else {
      Issue.record("not found out")
      return
    }
    #expect(what.contains(words))
    #expect(try inner.list().isEmpty)
  }

  @Test("is not misled by an unreliable connection", arguments: Portion.of(0..<30 as Range<UInt64>))
  func badLine(seed: UInt64) throws {
    let faults: [Fault] = [.conflict, .preconditionAfter, .errorBefore, .errorAfter, .timeoutAfter, .refused]
    let retry = Retry(attempts: 50, base: 0)
    let good = FaultyStore(inner, plan: Fault.plan(seed: seed, count: 20, of: faults))
    #expect(try ConditionProbe().probe(good, under: .all, retry: retry) == .supported)
    let bad = FaultyStore(
      ForgetfulStore(inner, .both), plan: Fault.plan(seed: seed, count: 20, of: faults))
    #expect(try ConditionProbe().probe(bad, under: .all, retry: retry) != .supported)
  }

  /// Ignores one condition or the other in turn, by the keys of the trials.
  private final class FickleStore: ForwardingStore {
    let store: any ObjectStore
    let keys = Locked<[ObjectKey]>([])

    init(_ store: any ObjectStore) { self.store = store }

    func put(
      _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
      cancellation: Cancellation
    ) throws(ObjectStoreError) -> ETag {
      let trial = keys.withLock { keys in
        if !keys.contains(key) { keys.append(key) }
        return keys.count
      }
      return try ForgetfulStore(store, trial.isMultiple(of: 2) ? .ifAbsent : .ifMatch)
        .put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
    }
  }

  @Test("makes a bounded number of trials that disagree")
  func fickle() throws {
    let store = FickleStore(inner)
    #expect(try reason { _ = try ConditionProbe().probe(store, under: .all) } == .transient(retryAfter: nil))
    #expect(store.keys.withLock { $0.count } == 8)
    #expect(try inner.list().isEmpty)
  }

  @Test("fails with the store when it cannot be reached")
  func unreachable() throws {
    let store = FaultyStore(inner, plan: [Fault](repeating: .refused, count: 100))
    let retry = Retry(attempts: 3, base: 0)
    #expect(
      try reason { _ = try ConditionProbe().probe(store, under: .all, retry: retry) }
        == .transient(retryAfter: nil))
  }
}
