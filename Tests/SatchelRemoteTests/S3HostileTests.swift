import SatchelJSON
import SatchelRemoteTesting
import Testing

import SatchelRemote

/// Tests with malicious responses, which the proxy sends.
@Suite("A bucket that cannot be trusted", .enabled(if: TestServer.current != nil), .serialized)
struct S3HostileTests {
  private static func listing(_ keys: [String], more: String = "") -> String {
    let contents = keys.map { "<Contents><Key>p/\($0)</Key><Size>1</Size></Contents>" }.joined()
    return "<?xml version='1.0'?><ListBucketResult>\(more)\(contents)</ListBucketResult>"
  }

  private func list(
    _ body: String, from continuation: String? = nil, limit: Int = 1000
  ) throws -> ObjectPage {
    let fault: JSONValue = ["fault": "status", "code": 200, "body": .string(body)]
    return try FaultProxy.with([fault], ["prefix": "p"]) { store, _ throws in
      try store.list(
        .all, from: continuation.map { ObjectPage.Continuation($0) }, limit: limit, cancellation: .never)
    }
  }

  @Test("keys that escape the prefix, or lack it, are skipped")
  func keys() throws {
    let body = Self.listing(["../../etc/passwd", "/x", "a/../b", "fine", "ok&#10;"]).replacing(
      "</ListBucketResult>",
      with: "<Contents><Key>q/other</Key><Size>1</Size></Contents>"
        + "<Contents><Key>r</Key><Size>-1</Size></Contents></ListBucketResult>")
    let page = try list(body)
    #expect(page.entries.map(\.key.text) == ["fine"])
    #expect(page.skipped == 6)
  }

  @Test("encoded keys are decoded, and keys that look encoded are not")
  func encoded() throws {
    let keys = ["a%2Bb", "c+d", "e%F0%9F%98%80", "z%zz"]
    let page = try list(Self.listing(keys, more: "<EncodingType>url</EncodingType>"))
    #expect(page.entries.map(\.key.text) == ["a+b", "c d", "e😀", "z%zz"])
    #expect(try list(Self.listing(keys)).entries.map(\.key.text) == keys)
  }

  @Test(
    "a listing that does not advance, or is not a listing, is refused",
    arguments: [
      (listing(["a", "a"]), nil), (listing(["b", "a"]), "p/a"),
      (listing([], more: "<IsTruncated>true</IsTruncated>"), nil), (listing(["a", "b", "c"]), nil),
      ("", nil), ("<html><body>Welcome to the hotel</body></html>", nil), ("<ListBucketResult>", nil),
      ("{}", nil), ("<ListBucketResult><Contents></ListBucketResult>", nil),
      ("<!DOCTYPE a [<!ENTITY b 'c'>]><ListBucketResult>&b;</ListBucketResult>", nil),
      (String(repeating: "<a>", count: 1000), nil),
      ("<ListBucketResult>" + String(repeating: "<a>", count: 50) + "</ListBucketResult>", nil),
    ] as [(String, String?)])
  func refused(body: String, from: String?) throws {
    let found = try reason { _ = try list(body, from: from, limit: 2) }
    #expect(found == .failed(.foreign))
  }

  @Test("a cyclic listing ends with an error")
  func circle() throws {
    let pages = [["a", "b"], ["c"], ["a", "b"]].map { keys -> JSONValue in
      let body = Self.listing(keys, more: "<IsTruncated>true</IsTruncated>")
      return ["fault": "status", "code": 200, "body": .string(body)]
    }
    try FaultProxy.with(pages, ["prefix": "p"]) { store, proxy throws in
      #expect(try reason { _ = try store.list() } == .failed(.foreign))
      #expect(try proxy.seen().count == 3)
    }
  }

  @Test("an entity bomb is rejected")
  func bomb() throws {
    var definitions = "<!ENTITY a0 'ha'>"
    for number in 1..<30 {
      definitions += "<!ENTITY a\(number) '" + String(repeating: "&a\(number - 1);", count: 10) + "'>"
    }
    let body = "<!DOCTYPE x [\(definitions)]><ListBucketResult>&a29;</ListBucketResult>"
    #expect(try reason { _ = try list(body) } == .failed(.foreign))
  }

  @Test("a response with invalid headers is an error")
  func headers() throws {
    for headers in [[:], ["ETag": ""], ["ETag": "\"\""], ["ETag": "a b"]] as [JSONObject] {
      let fault: JSONValue = ["fault": "status", "code": 200, "body": "x", "headers": .object(headers)]
      try FaultProxy.with([fault, fault]) { store, _ throws in
        #expect(try reason { _ = try store.get(ObjectKey("k")) } == .failed(.foreign))
        #expect(try reason { _ = try store.head(ObjectKey("k")) } == .failed(.foreign))
      }
    }
    let fault: JSONValue = [
      "fault": "status", "code": 200, "body": "x",
      "headers": ["ETag": "W/\"t\"", "x-amz-meta-a_b": "1", "x-amz-meta-ok": "2", "x-amz-meta-e": "\u{e9}"],
    ]
    try FaultProxy.with([fault]) { store, _ throws in
      let object = try store.get(ObjectKey("k"))
      #expect(try object.metadata == ObjectMetadata(["ok": "2"]))
      #expect(object.etag.text == "\"t\"")
    }
  }

  @Test("not modified in response to an unconditional request is an error")
  func notModified() throws {
    try FaultProxy.with([["fault": "status", "code": 304]]) { store, _ throws in
      #expect(try reason { _ = try store.get(ObjectKey("k")) } == .failed(.invalid))
    }
  }
}
