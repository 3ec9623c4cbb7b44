import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelRemote

/// A store that refuses conditions, as Backblaze B2 does: "501 Not Implemented".
private struct RefusingStore: ForwardingStore {
  let store: any ObjectStore

  private func refuse(_ condition: ObjectCondition) throws(ObjectStoreError) {
    if condition != .none { throw ObjectStoreError(.failed(.foreign), "501 NotImplemented") }
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try refuse(condition)
    return try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    try refuse(known.map { .ifMatch($0) } ?? .none)
    try store.delete(key, ifMatch: known, cancellation: cancellation)
  }
}

@Suite("Stores that people rent")
struct RentedStoreTests {
  @Test("a condition that a store refuses is checked by a look before the write, where that is allowed")
  func conditions() throws {
    let directory = try TemporaryDirectory()
    let inner = RefusingStore(store: try DirectoryStore(path: directory.path))
    let key = try ObjectKey("k")
    let strict = MeteredStore(inner)
    #expect(try reason { try strict.put(key, [1], condition: .ifAbsent) } == .failed(.foreign))
    let store = MeteredStore(inner, checksConditions: true)
    let first = try store.put(key, [1], condition: .ifAbsent)
    // A write that was refused, a look, a write.
    #expect(store.traffic.requests == 3)
    #expect(try reason { try store.put(key, [2], condition: .ifAbsent) } == .preconditionFailed)
    // It is not asked again.
    #expect(store.traffic.requests == 4)
    let second = try store.put(key, [2], condition: .ifMatch(first))
    #expect(try reason { try store.put(key, [3], condition: .ifMatch(first)) } == .preconditionFailed)
    #expect(try reason { try store.delete(key, ifMatch: first) } == .preconditionFailed)
    #expect(try store.get(key).body == [2])
    try store.delete(key, ifMatch: second)
    #expect(try reason { _ = try store.get(key) } == .notFound)
    #expect(try reason { try store.put(key, [3], condition: .ifMatch(second)) } == .preconditionFailed)
  }

  private static func status(_ code: Int64, _ name: String, _ headers: JSONObject = [:]) -> JSONValue {
    let body = JSONValue.string("<Error><Code>\(name)</Code></Error>")
    return ["fault": "status", "code": .int(code), "body": body, "headers": .object(headers)]
  }

  @Test("a refused date is corrected by the store's, once", .enabled(if: TestServer.current != nil))
  func skewed() throws {
    let skew = Self.status(403, "RequestTimeTooSkewed", ["Date": "Sat, 01 Jan 2039 00:00:00 GMT"])
    try FaultProxy.with([skew, skew]) { store, proxy throws in
      let key = try ObjectKey("k")
      do {
        _ = try store.get(key)
        Issue.record("let in")
      } catch let error as ObjectStoreError {
        #expect(error.reason == .denied)
      }
      #expect(try proxy.seen().count == 2)
      #expect(abs(store.clock.now() - 2_177_452_800_000) < 600_000)
    }
  }

  @Test(
    "without the right to list, a refused read names it; with it, an object that is not listed is missing",
    .enabled(if: TestServer.current != nil))
  func forbidden() throws {
    let denied = Self.status(403, "AccessDenied")
    try FaultProxy.with([]) { store, proxy throws in
      let (missing, present) = (try ObjectKey("missing"), try ObjectKey("present"))
      try store.put(present, [1])
      for read in [{ _ = try store.get($0) }, { _ = try store.head($0) }] as [(ObjectKey) throws -> Void] {
        try proxy.expect([denied, denied, denied])
        do {
          try read(missing)
          Issue.record("read")
        } catch let error as ObjectStoreError {
          #expect(error.reason == .denied && error.message.contains("s3:ListBucket"))
        }
      }
      try proxy.expect([denied])
      #expect(try reason { _ = try store.get(missing) } == .notFound)
      try proxy.expect([denied, denied])
      #expect(try reason { _ = try store.head(missing) } == .notFound)
      try proxy.expect([denied])
      #expect(try reason { _ = try store.get(present) } == .denied)
    }
  }
}
