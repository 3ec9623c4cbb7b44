import SatchelJSON
import SatchelRemoteTesting
import SatchelCore
import SatchelStorage
import Testing

@testable import SatchelRemote

/// Tests with a real server, behind a proxy that injects faults.
@Suite("A bucket on an unreliable connection", .enabled(if: TestServer.current != nil), .serialized)
struct S3FaultTests {
  let key: ObjectKey
  init() throws { key = try ObjectKey("photos/shard 3.csv") }

  private static func fault(_ name: String, _ more: JSONObject = [:]) -> JSONValue {
    var fault: JSONObject = ["fault": .string(name)]
    for (name, value) in more { fault[name] = value }
    return .object(fault)
  }

  private static func status(_ code: Int64, _ errorCode: String = "", _ headers: JSONObject = [:])
    -> JSONValue
  {
    let body = errorCode.isEmpty ? "" : "<Error><Code>\(errorCode)</Code><Message>So it is.</Message></Error>"
    return fault("status", ["code": .int(code), "body": .string(body), "headers": .object(headers)])
  }

  private static let unknown = ObjectStoreError.Reason.unknownOutcome(retryAfter: nil)
  private static let transient = ObjectStoreError.Reason.transient(retryAfter: nil)

  @Test(
    "a write without a response has an unknown outcome, and is never sent twice",
    arguments: [
      (fault("reset_before"), false), (fault("hang"), false), (fault("cut_upload", ["bytes": 1000]), false),
      (fault("lost_reply"), true), (fault("lost_reply", ["reset": true]), true),
    ])
  func writes(fault: JSONValue, takesEffect: Bool) throws {
    try FaultProxy.with([]) { store, proxy throws in
      // A connection is kept open, on which libcurl would repeat the request.
      let first = try store.put(key, [UInt8]("first"))
      let etag = try store.put(key, [UInt8]("old"), condition: .ifMatch(first))
      try proxy.expect([fault])
      let body = [UInt8](repeating: 7, count: 3_000_000)
      #expect(try reason { try store.put(key, body, condition: .ifMatch(etag)) } == Self.unknown)
      #expect(try proxy.seen().map(\.method) == ["PUT"])
      #expect(try store.get(key).body.count == (takesEffect ? body.count : 3))
    }
  }

  @Test(
    "a truncated body is never returned",
    arguments: [
      fault("truncate", ["bytes": 40]), fault("truncate", ["bytes": 0]),
      fault("truncate", ["bytes": 40, "reset": true]), fault("stall", ["bytes": 40]),
    ])
  func truncated(fault: JSONValue) throws {
    try FaultProxy.with([]) { store, proxy throws in
      try store.put(key, [UInt8](repeating: 1, count: 1_000_000))
      try proxy.expect([fault])
      #expect(try reason { _ = try store.get(key) } == .truncated)
      #expect(try store.get(key).body.count == 1_000_000)
    }
  }

  @Test("a read without a response is transient")
  func reads() throws {
    try FaultProxy.with([]) { store, proxy throws in
      try store.put(key, [1])
      for fault in [Self.fault("hang"), Self.fault("reset_before")] {
        try proxy.expect([fault, fault, fault])
        #expect(try reason { _ = try store.get(key) } == Self.transient)
        try proxy.expect([fault, fault, fault])
        #expect(try reason { _ = try store.head(key) } == Self.transient)
        try proxy.expect([fault, fault, fault])
        #expect(try reason { _ = try store.list() } == Self.transient)
      }
    }
  }

  @Test(
    "a response determines the reason of the error",
    arguments: [
      (
        status(503, "SlowDown", ["Retry-After": "3"]), ObjectStoreError.Reason.transient(retryAfter: 3000),
        ObjectStoreError.Reason.unknownOutcome(retryAfter: 3000)
      ),
      (status(503, "", ["Retry-After": "-1"]), .transient(retryAfter: 0), .unknownOutcome(retryAfter: 0)),
      (status(500, "InternalError"), transient, unknown), (status(504), transient, unknown),
      (status(409, "ConditionalRequestConflict"), transient, unknown), (status(429), transient, unknown),
      (status(408), transient, unknown), (status(400, "RequestTimeout"), transient, unknown),
      (status(400, "BadDigest"), transient, transient), (status(404, "NoSuchKey"), .notFound, .notFound),
      (status(404, "NoSuchBucket"), .failed(.notFound), .failed(.notFound)),
      (status(403, "AccessDenied"), .denied, .denied), (status(401), .denied, .denied),
      (status(400, "ExpiredToken"), .denied, .denied), (status(412), .failed(.foreign), .preconditionFailed),
      (status(501, "NotImplemented"), .failed(.foreign), .failed(.foreign)),
      (status(400, "KeyTooLongError"), .invalidKey, .invalidKey),
      (status(507), .failed(.full), .failed(.full)),
      (status(403, "QuotaExceeded"), .failed(.full), .failed(.full)),
      (status(418), .failed(.foreign), .failed(.foreign)), (status(204), .failed(.foreign), nil),
    ] as [(JSONValue, ObjectStoreError.Reason?, ObjectStoreError.Reason?)])
  func statuses(
    status: JSONValue, ofReading: ObjectStoreError.Reason?, ofWriting: ObjectStoreError.Reason?
  ) throws {
    try FaultProxy.with([]) { store, proxy throws in
      try store.put(key, [1])
      try proxy.expect([status])
      #expect(try reason { _ = try store.get(key) } == ofReading)
      try proxy.expect([status])
      #expect(try reason { try store.put(key, [2], condition: .ifAbsent) } == (ofWriting ?? nil))
      #expect(try store.get(key).body == [1])
    }
  }

  @Test("a Retry-After with a date is respected")
  func retryAfterDate() throws {
    try FaultProxy.with([Self.status(503, "", ["Retry-After": "Sat, 01 Jan 2050 00:00:00 GMT"])]) {
      store, _ throws in
      // Limited to a day.
      #expect(try reason { _ = try store.get(key) } == .transient(retryAfter: 86_400_000))
    }
  }

  @Test("a redirect is not followed, and its region is in the message")
  func redirected() throws {
    let headers: JSONObject = ["Location": "http://127.0.0.1:1/", "x-amz-bucket-region": "eu-west-3"]
    try FaultProxy.with([Self.status(301, "PermanentRedirect", headers)]) { store, proxy throws in
      do {
        _ = try store.get(key)
        Issue.record("followed")
      } catch let error as ObjectStoreError {
        #expect(error.reason == .failed(.invalid))
        #expect(
          error.message.hasSuffix("301 PermanentRedirect: So it is. (the bucket is in region eu-west-3)"))
      }
      #expect(try proxy.seen().count == 1)
    }
  }

  @Test("a clock of this device that is wrong is corrected by the server's date")
  func skewed() throws {
    let clock = Clock { Clock.system.now() - 40 * 60_000 }
    let server = try #require(TestServer.current)
    let plain = try server.open()
    let store = try S3Store(
      endpoint: plain.endpoint, credentials: plain.credentials, options: S3Options(clock: clock))
    #expect(try reason { _ = try store.get(key) } == .notFound)
    #expect(try reason { _ = try store.head(key) } == .notFound)
  }

  @Test("a response that repeats credentials is not in the message")
  func secrets() throws {
    try FaultProxy.with([]) { store, proxy throws in
      let server = try #require(TestServer.current)
      let secret = try #require(server.description()?["secret_key"]?.stringValue)
      let body = "<Error><Code>\(secret)</Code><Message>You sent \(secret).</Message></Error>"
      try proxy.expect([Self.fault("status", ["code": 403, "body": .string(body)])])
      do {
        _ = try store.get(key)
        Issue.record("let in")
      } catch {
        #expect("\(error)" == "\(key): the store responded with 403")
      }
    }
  }

  @Test("a body over the limit is refused before it is read")
  func tooLarge() throws {
    let server = try #require(TestServer.current)
    let plain = try server.open("store", ["prefix": .string(TestServer.prefix())])
    try plain.put(key, [UInt8](repeating: 0, count: 1001))
    let store = try S3Store(
      endpoint: plain.endpoint, credentials: plain.credentials, options: S3Options(maximumSize: 1000))
    #expect(try reason { _ = try store.get(key) } == .tooLarge)
    #expect(try store.head(key).size == 1001)
  }

  @Test("a waiting request ends soon after the caller cancels")
  func cancelled() throws {
    try FaultProxy.with([Self.fault("hang"), Self.fault("hang")], ["timeouts": ["stall": 600_000]]) {
      store, _ throws in
      let start = Clock.monotonic.now()
      let cancellation = Cancellation { Clock.monotonic.now() - start > 200 }
      #expect(try reason { _ = try store.get(key, cancellation: cancellation) } == .cancelled)
    }
  }

  @Test("an ETag that matches but is refused is sent without quotes from then on, as Ceph requires")
  func bareTags() throws {
    try FaultProxy.with([]) { store, proxy throws in
      let first = try store.put(key, [1])
      try proxy.expect([Self.status(412, "PreconditionFailed")])
      let second = try store.put(key, [2], condition: .ifMatch(first))
      try store.put(key, [3], condition: .ifMatch(second))
      let seen = try proxy.seen()
      #expect(seen.map(\.method) == ["PUT", "HEAD", "PUT", "PUT"])
      #expect(first.text.hasPrefix("\"") && seen[0].ifMatch == first.text)
      #expect(seen[2].ifMatch == String(first.text.dropFirst().dropLast()))
      #expect(seen[3].ifMatch == String(second.text.dropFirst().dropLast()))
      #expect(try reason { try store.put(key, [4], condition: .ifMatch(first)) } == .preconditionFailed)
    }
  }

  @Test(
    "a conditional write has the correct outcome after any fault",
    arguments: [
      fault("double"), fault("lost_reply"), fault("lost_reply", ["reset": true]), fault("reset_before"),
      fault("hang"), fault("cut_upload", ["bytes": 100]), status(409, "ConditionalRequestConflict"),
      status(503, "SlowDown"), status(412),
    ])
  func reliable(fault: JSONValue) throws {
    try FaultProxy.with([]) { store, proxy throws in
      let writer = ReliableWriter(store, retry: Retry(attempts: 4, base: 1))
      let body = [UInt8](repeating: 9, count: 100_000)
      try proxy.expect([fault])
      let first = try writer.write(key, body, condition: .ifAbsent)
      let etag = try store.head(key).etag
      #expect(first == .written(etag))
      try proxy.expect([fault])
      guard case .written(let second) = try writer.write(key, [1] + body, condition: .ifMatch(etag)) else {
        Issue.record("lost")
        return
      }
      #expect(try store.get(key).etag == second)
      try proxy.expect([fault])
      let third = try writer.write(key, [2], condition: .ifMatch(etag))
      #expect(try third == .lost(store.head(key)))
    }
  }

  @Test("a store without conditional writes is detected", arguments: ["if-match", "if-none-match"])
  func ignored(header: String) throws {
    guard TestServer.current?.kind == "ministack" else { return }
    let dropping = [JSONValue](repeating: Self.fault("drop_header", ["name": .string(header)]), count: 20)
    let root = TestServer.current?.description("unchecked")
    // A proxy cannot drop a signed header, unless the server does not check the signature.
    let keys: JSONObject = [
      "access_key": root?["access_key"] ?? .null, "secret_key": root?["secret_key"] ?? .null,
    ]
    try FaultProxy.with(dropping, keys) { store, proxy throws in
      guard case .unsupported(let what) = try ConditionProbe().probe(store, under: .all) else {
        Issue.record("not found out")
        return
      }
      #expect(what.contains(header == "if-match" ? "despite If-Match" : "despite If-None-Match"))
      try proxy.expect([])
      #expect(try ConditionProbe().probe(store, under: ObjectPrefix("x/")) == .supported)
      #expect(try store.list().isEmpty)
    }
  }
}
