import Foundation
import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelRemote

@Suite("Classes of faults")
struct FaultClassTests {
  private func failure(_ body: () throws -> Void) throws -> ObjectStoreError {
    do {
      try body()
    } catch let error as ObjectStoreError {
      return error
    }
    throw SatchelError(.internal, "it did not fail")
  }

  @Test(
    "an answer of a server has the class of its status and code",
    .enabled(if: TestServer.current != nil),
    arguments: [
      (503, "SlowDown", .transient), (500, "", .transient), (403, "AccessDenied", .remote),
      (400, "ExpiredToken", .remote), (400, "AuthorizationHeaderMalformed", .remote),
      (301, "PermanentRedirect", .remote), (404, "NoSuchBucket", .remote), (501, "NotImplemented", .remote),
      (405, "MethodNotAllowed", .remote), (507, "", .remote), (403, "QuotaExceeded", .remote),
      (404, "NoSuchKey", .object), (403, "InvalidObjectState", .object), (413, "", .object),
      (400, "EntityTooLarge", .object), (400, "KeyTooLongError", .object), (400, "InvalidRequest", .object),
    ] as [(Int64, String, ObjectStoreError.FaultClass)])
  func server(status: Int64, code: String, wanted: ObjectStoreError.FaultClass) throws {
    let body = code.isEmpty ? "" : "<Error><Code>\(code)</Code></Error>"
    let fault: JSONValue = ["fault": "status", "code": .int(status), "body": .string(body)]
    try FaultProxy.with([]) { store, proxy throws in
      let key = try ObjectKey("k")
      // A head's answer has no body; a refused read is followed by a listing.
      try proxy.expect([fault, fault, fault])
      let head = try failure { _ = try store.head(key) }.faultClass
      #expect(head == wanted || (400..<500).contains(status) && head != .transient)
      try proxy.expect([fault, fault])
      #expect(try failure { _ = try store.get(key) }.faultClass == wanted)
      try proxy.expect([fault])
      #expect(try failure { try store.put(key, [1]) }.faultClass == wanted)
    }
  }

  @Test("an archived object is not reported as a lack of permission", .enabled(if: TestServer.current != nil))
  func archived() throws {
    let body = "<Error><Code>InvalidObjectState</Code></Error>"
    try FaultProxy.with([["fault": "status", "code": 403, "body": .string(body)]]) { store, _ throws in
      let error = try failure { _ = try store.get(ObjectKey("k")) }
      #expect(error.satchelError.code == .unavailable)
      #expect(error.message.contains("archive"))
    }
  }

  @Test("a refused HEAD has the code of the same GET", .enabled(if: TestServer.current != nil))
  func refusedHead() throws {
    let body = "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
    let fault: JSONValue = ["fault": "status", "code": 400, "body": .string(body)]
    try FaultProxy.with([fault, fault]) { store, _ throws in
      let error = try failure { _ = try store.head(ObjectKey("k")) }
      #expect(error.reason == .denied && error.message.contains("ExpiredToken"))
    }
  }

  @Test("a directory whose own files are in disorder is a fault of the remote")
  func ownFiles() throws {
    let directory = try TemporaryDirectory()
    let store = try DirectoryStore(path: directory.path)
    let key = try ObjectKey("x/y")
    try store.put(key, [1])
    try FileManager.default.removeItem(atPath: directory.path + "/.satchel/incoming")
    try directory.write("", to: ".satchel/incoming")
    let error = try failure { try store.put(ObjectKey("x/z"), [1]) }
    #expect(error.reason == .failed(.damaged) && error.faultClass == .remote)
    #expect(try failure { try store.put(ObjectKey("x/y/z"), [1]) }.faultClass == .remote)
  }

  @Test("a file of a directory that is no file, or cannot be a key, concerns its object")
  func files() throws {
    let directory = try TemporaryDirectory()
    let store = try DirectoryStore(path: directory.path)
    let key = try ObjectKey("link")
    symlink("/etc/passwd", directory.path + "/link")
    #expect(try failure { _ = try store.get(key) }.faultClass == .object)
    let long = try ObjectKey(String(repeating: "n", count: 300))
    #expect(try failure { _ = try store.get(long) }.faultClass == .object)
  }

  @Test("a full disk is a fault of the remote, a cancellation has no class")
  func others() throws {
    let directory = try TemporaryDirectory()
    var calls = FileCalls.system
    calls.sync = { _ in
      errno = ENOSPC
      return -1
    }
    let store = try DirectoryStore(path: directory.path + "/r", calls: calls)
    #expect(try failure { try store.put(ObjectKey("k"), [1]) }.faultClass == .remote)
    let cancelled = try failure { _ = try store.get(ObjectKey("k"), cancellation: Cancellation { true }) }
    #expect(cancelled.faultClass == nil)
  }

  @Test(
    "an error of a host's function has the class of its code",
    arguments: [
      (.unavailable, .transient), (.unauthorized, .remote), (.full, .remote), (.notFound, .object),
      (.invalid, .object), (.internal, .remote), (.cancelled, nil),
    ] as [(SatchelError.Code, ObjectStoreError.FaultClass?)])
  func callbacks(code: SatchelError.Code, wanted: ObjectStoreError.FaultClass?) throws {
    let directory = try TemporaryDirectory()
    var calls = HostCalls(try DirectoryStore(path: directory.path))
    calls.head = { _, _ in throw SatchelError(code, "no") }
    #expect(try failure { _ = try CallbackStore(calls).head(ObjectKey("k")) }.faultClass == wanted)
  }
}
