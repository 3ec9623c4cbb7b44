import Foundation
import SatchelJSON
import SatchelRemoteTesting
import Testing

@testable import SatchelRemote

@Suite("The security of a bucket", .enabled(if: TestServer.current != nil))
struct S3SecurityTests {
  let server: TestServer
  let key: ObjectKey

  init() throws {
    server = try #require(TestServer.current)
    key = try ObjectKey("k")
  }

  private func isSecure() -> Bool { server.description("secure") != nil }

  @Test("accepts https with a trusted certificate")
  func trusted() throws {
    guard isSecure() else { return }
    let store = try server.open("secure", ["prefix": .string(TestServer.prefix())])
    let etag = try store.put(key, [1, 2], condition: .ifAbsent)
    try store.put(key, [3], condition: .ifMatch(etag))
    #expect(try store.get(key).body == [3])
  }

  @Test("refuses certificates of an untrusted authority, and those for another name")
  func untrusted() throws {
    guard isSecure(), let endpoint = server.description("secure")?["endpoint"]?.stringValue else { return }
    let wrong = try #require(server.wrongCAFile)
    let localhost = endpoint.replacing("127.0.0.1", with: "localhost")
    for changes in [["ca_file": .string(wrong)], ["ca_file": .null], ["endpoint": .string(localhost)]]
      as [JSONObject]
    {
      let store = try server.open("secure", changes)
      #expect(try reason { _ = try store.get(key) } == .denied)
      #expect(try reason { try store.put(key, [1], condition: .ifAbsent) } == .denied)
    }
    let none = try server.open("secure", ["ca_file": "/nowhere/ca.pem"])
    #expect(try reason { _ = try none.get(key) } == .failed(.invalid))
  }

  @Test("refuses wrong keys, without naming them")
  func wrongKeys() throws {
    let token = server.description("temporary")?["session_token"]?.stringValue
    var cases: [(String, JSONObject)] = [
      ("store", ["secret_key": "HUSHHUSH"]), ("store", ["access_key": "AKNOBODYISHERE00000"]),
      ("store", ["region": "eu-central-7", "secret_key": "HUSHHUSH"]),
    ]
    if let token { cases.append(("temporary", ["session_token": .string(String(token.reversed()))])) }
    for (access, changes) in cases {
      let store = try server.open(access, changes)
      let description = try #require(server.description(access, changes))
      do {
        try store.put(key, [1])
        Issue.record("let in with \(changes.keys)")
      } catch {
        #expect(error.reason == .denied)
        for name in ["access_key", "secret_key", "session_token"] {
          if let secret = description[name]?.stringValue { #expect(!error.message.contains(secret)) }
        }
      }
    }
  }

  @Test("allows the bucket as the first label of the host name")
  func virtualHost() throws {
    guard server.kind == "ministack" else { return }
    let endpoint = try #require(server.description()?["endpoint"]?.stringValue)
    let localhost = JSONValue.string(endpoint.replacing("127.0.0.1", with: "localhost"))
    let changes: JSONObject = ["endpoint": localhost, "prefix": .string(TestServer.prefix())]
    let path = try server.open("store", changes)
    var virtual = changes
    virtual["path_style"] = false
    let host = try server.open("store", virtual)
    #expect(host.endpoint.host.hasPrefix("satchel-test.localhost:"))
    for text in ["a", "a b/ü+=%.csv"] {
      try host.put(ObjectKey(text), [7])
      #expect(try path.get(ObjectKey(text)).body == [7])
    }
    #expect(try host.list().map(\.key.text) == ["a", "a b/ü+=%.csv"])
  }

  @Test("prints no keys in any form")
  func shown() throws {
    let store = try server.open()
    var text = "\(store) \(String(reflecting: store))"
    dump(store, to: &text)
    for name in ["access_key", "secret_key"] {
      let secret = try #require(server.description()?[name]?.stringValue)
      #expect(!text.contains(secret))
    }
  }
}
