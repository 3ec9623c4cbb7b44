import SatchelJSON
import SatchelRemoteTesting
import Testing

import SatchelRemote

/// Tests the guarantees for each kind of server that the tests can run with.
@Suite("The object store of the tests", .enabled(if: TestServer.current != nil))
struct S3VerdictTests {
  @Test("passes or fails the probe, as documented")
  func verdict() throws {
    let server = try #require(TestServer.current)
    let store = try server.open("store", ["prefix": .string(TestServer.prefix())])
    let verdict = try ConditionProbe().probe(store, under: .all)
    switch server.kind {
    case "rclone": #expect(verdict == .unsupported("an object was overwritten despite If-None-Match: *"))
    case "swift":
      guard case .unsupported(let what) = verdict else {
        Issue.record("taken")
        return
      }
      #expect(what.contains("501 NotImplemented"))
    default: #expect(verdict == .supported)
    }
    #expect(try store.list().isEmpty)
  }

  @Test("loses no acknowledged write, with four concurrent writers")
  func losesNothing() throws {
    let server = try #require(TestServer.current)
    guard server.kind != "rclone", server.kind != "swift" else { return }
    let prefix = JSONValue.string(TestServer.prefix())
    let stores = try (0..<4).map { _ in try server.open("store", ["prefix": prefix]) }
    let key = try ObjectKey("lines")
    try stores[0].put(key, [])
    let retry = Retry(attempts: 40, base: 5, ceiling: 50)
    let (isWhole, failures) = try Contest.append(10, to: key, stores: stores, retry: retry)
    #expect(failures == [])
    #expect(isWhole)
  }

  @Test("accepts the signatures of keys with any characters")
  func signatures() throws {
    let server = try #require(TestServer.current)
    let store = try server.open("store", ["prefix": .string(TestServer.prefix() + "/a b+ü%")])
    for text in ListingConformance.keys {
      let key = try ObjectKey(text)
      let etag = try store.put(
        key, Array(text.utf8), metadata: ObjectMetadata(["x": "one two", "y": "+=%&"]))
      let object = try store.get(key)
      #expect(object.body == Array(text.utf8) && object.etag == etag)
      #expect(try store.head(key).size == text.utf8.count)
    }
    #expect(try store.list().map(\.key) == ListingConformance.keys.map { try ObjectKey($0) }.sorted())
    for text in ListingConformance.keys { try store.delete(ObjectKey(text)) }
    #expect(try store.list().isEmpty)
  }
}
