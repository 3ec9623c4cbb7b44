import SatchelRemoteTesting
import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelRemote

@Suite("Object stores of the host")
struct CallbackStoreTests {
  let directory: TemporaryDirectory
  let honest: HostCalls
  let key: ObjectKey

  init() throws {
    directory = try TemporaryDirectory()
    honest = HostCalls(try DirectoryStore(path: directory.path))
    key = try ObjectKey("k")
  }

  private static let foreign = ObjectStoreError.Reason.failed(.foreign)

  @Test("a result with an invalid ETag, size or metadata is an error")
  func senseless() throws {
    for etag in ["", "a b", "é", "a\r\nx-amz-acl: public"] {
      var calls = honest
      calls.get = { _, _, _, _ in .object(body: [1], etag: etag, metadata: [:]) }
      calls.put = { _, _, _, _, _ in etag }
      calls.head = { _, _ in HostHead(size: 1, etag: etag) }
      let store = CallbackStore(calls)
      #expect(try reason { _ = try store.get(key) } == Self.foreign)
      #expect(try reason { try store.put(key, [1]) } == Self.foreign)
      #expect(try reason { _ = try store.head(key) } == Self.foreign)
    }
    var calls = honest
    calls.get = { _, _, _, _ in .object(body: [1], etag: "t", metadata: ["a": "b\n"]) }
    calls.head = { _, _ in HostHead(size: -1, etag: "t") }
    #expect(try reason { _ = try CallbackStore(calls).get(key) } == Self.foreign)
    #expect(try reason { _ = try CallbackStore(calls).head(key) } == Self.foreign)
    calls.get = { _, _, _, _ in .notModified }
    #expect(try reason { _ = try CallbackStore(calls).get(key) } == Self.foreign)
  }

  @Test("a listing that does not advance, is unordered, or has keys without the prefix is an error")
  func listings() throws {
    func list(
      _ keys: [String], after: String? = nil, prefix: String = "", hasMore: Bool = false, size: Int64 = 1
    )
      throws -> ObjectPage
    {
      var calls = honest
      calls.list = { _, _, _, _ in
        HostPage(entries: keys.map { HostPage.Entry(key: $0, size: size) }, hasMore: hasMore)
      }
      return try CallbackStore(calls).list(
        ObjectPrefix(prefix), from: after.map { ObjectPage.Continuation($0) }, limit: 3, cancellation: .never)
    }
    #expect(try list(["../x", "a", "b"]).entries.map(\.key.text) == ["a", "b"])
    #expect(try list(["../x", "a", "b"]).skipped == 1)
    #expect(try list(["a"], hasMore: true).next == ObjectPage.Continuation("a"))
    #expect(try reason { _ = try list(["b", "a"]) } == Self.foreign)
    #expect(try reason { _ = try list(["a", "a"]) } == Self.foreign)
    #expect(try reason { _ = try list(["a"], after: "a") } == Self.foreign)
    #expect(try reason { _ = try list([], hasMore: true) } == Self.foreign)
    #expect(try reason { _ = try list(["a", "b", "c", "d"]) } == Self.foreign)
    #expect(try reason { _ = try list(["b"], prefix: "a") } == Self.foreign)
    #expect(try reason { _ = try list(["a"], size: -1) } == Self.foreign)
  }

  @Test(
    "errors that the host throws are converted",
    arguments: [
      (SatchelError.Code.notFound, ObjectStoreError.Reason.notFound, ObjectStoreError.Reason.notFound),
      (.busy, .transient(retryAfter: nil), .preconditionFailed),
      (.io, .transient(retryAfter: nil), .unknownOutcome(retryAfter: nil)),
      (.unavailable, .transient(retryAfter: nil), .unknownOutcome(retryAfter: nil)),
      (.unauthorized, .denied, .denied),
      (.damaged, .truncated, .unknownOutcome(retryAfter: nil)), (.readOnly, .denied, .denied),
      (.cancelled, .cancelled, .cancelled), (.full, .failed(.full), .failed(.full)),
    ])
  func thrown(code: SatchelError.Code, ofReading: ObjectStoreError.Reason, ofWriting: ObjectStoreError.Reason)
    throws
  {
    var calls = honest
    calls.get = { _, _, _, _ in throw SatchelError(code, "no") }
    calls.put = { _, _, _, _, _ in throw SatchelError(code, "no") }
    calls.delete = { _, _, _ in throw SatchelError(code, "no") }
    let store = CallbackStore(calls)
    #expect(try reason { _ = try store.get(key) } == ofReading)
    #expect(try reason { try store.put(key, [1], condition: .ifAbsent) } == ofWriting)
    #expect(try reason { try store.delete(key, ifMatch: ETag(hash: [1])) } == ofWriting)
    #expect(
      try reason { try store.delete(key) }
        == (code == .notFound ? nil : code == .busy ? .transient(retryAfter: nil) : ofWriting))
  }

  @Test("an error of an unknown type has an unknown outcome")
  func otherErrors() throws {
    struct Oops: Error {}
    var calls = honest
    calls.get = { _, _, _, _ in throw Oops() }
    calls.put = { _, _, _, _, _ in throw Oops() }
    #expect(try reason { _ = try CallbackStore(calls).get(key) } == .transient(retryAfter: nil))
    #expect(try reason { try CallbackStore(calls).put(key, [1]) } == .unknownOutcome(retryAfter: nil))
  }
}
