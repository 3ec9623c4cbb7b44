import Foundation
import SatchelCore
import SatchelStorage
import Testing

import SatchelRemote

@Suite("Signed requests")
struct RequestSignerTests {
  private struct Published: Decodable {
    struct Case: Decodable {
      var name, method, path, payload, signature: String
      var query, headers: [[String]]
    }
    var milliseconds: Int64
    var accessKey, secretKey, region, host: String
    var cases: [Case]
  }

  private struct Opinion: Decodable {
    var milliseconds: Int64
    var accessKey, secretKey, region, host, method, path, payload, authorization: String
    var token: String?
    var query, headers: [[String]]
  }

  private static func fixture<Value: Decodable>(_ name: String) throws -> Value {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let data = try Data(contentsOf: folder.appending(path: "Fixtures/sigv4/\(name)"))
    return try decoder.decode(Value.self, from: data)
  }

  private static func fields(_ pairs: [[String]]) -> [SigningRequest.Field] {
    pairs.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil }
  }

  private static func payload(_ text: String) throws -> PayloadHash {
    var (bytes, rest): ([UInt8], Substring) = ([], text[...])
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return try #require(PayloadHash(digest: bytes))
  }

  private static func signer(token: String? = nil, at time: Int64 = 0) throws -> RequestSigner {
    let credentials = try Credentials(accessKey: "key", secretKey: "secret", sessionToken: token)
    return try RequestSigner(credentials: credentials, region: "us-east-1", clock: Clock { time })
  }

  @Test("equal the examples that AWS publishes for S3")
  func published() throws {
    let published: Published = try Self.fixture("aws.json")
    let credentials = try Credentials(accessKey: published.accessKey, secretKey: published.secretKey)
    let time = published.milliseconds
    let signer = try RequestSigner(credentials: credentials, region: published.region, clock: Clock { time })
    #expect(published.cases.count == 4)
    for example in published.cases {
      let request = SigningRequest(
        try #require(SigningRequest.Method(rawValue: example.method)), host: published.host,
        path: example.path,
        query: Self.fields(example.query), headers: Self.fields(example.headers),
        payload: try Self.payload(example.payload))
      let authorization = try signer.sign(request)["authorization"] ?? ""
      #expect(authorization.hasSuffix("Signature=" + example.signature), "\(example.name)")
    }
  }

  @Test("equal those of botocore for 300 random requests")
  func botocore() throws {
    let opinions: [Opinion] = try Self.fixture("botocore.json")
    #expect(opinions.count == 300)
    for opinion in opinions {
      let credentials = try Credentials(
        accessKey: opinion.accessKey, secretKey: opinion.secretKey, sessionToken: opinion.token)
      let time = opinion.milliseconds
      let signer = try RequestSigner(credentials: credentials, region: opinion.region, clock: Clock { time })
      let request = SigningRequest(
        try #require(SigningRequest.Method(rawValue: opinion.method)), host: opinion.host, path: opinion.path,
        query: Self.fields(opinion.query), headers: Self.fields(opinion.headers),
        payload: try Self.payload(opinion.payload))
      #expect(try signer.sign(request)["authorization"] == opinion.authorization, "\(opinion.path)")
    }
  }

  @Test("have all headers that the server needs to verify the signature")
  func headers() throws {
    let request = SigningRequest(
      .put, host: "h.example:5007", path: "/b/a b+c=%é", query: [("x-id", "1"), ("x", "a+b"), ("x", "a b")],
      headers: [
        ("If-Match", "\"abc\""), ("User-Agent", "satchel"), ("X-Amz-Meta-A", " one   two "),
        ("x-amz-meta-a", "3"),
        ("X-Amz-Date", "what the caller thinks"), ("Host", "elsewhere"),
      ], payload: .unsigned)
    let signed = try Self.signer(token: "token/+=", at: 1_369_353_600_999).sign(request)
    #expect(signed.target == "/b/a%20b%2Bc%3D%25%C3%A9?x=a%20b&x=a%2Bb&x-id=1")
    #expect(
      signed.headers.dropLast().map { $0.name + ": " + $0.value } == [
        "host: h.example:5007", "if-match: \"abc\"", "user-agent: satchel",
        "x-amz-content-sha256: UNSIGNED-PAYLOAD",
        "x-amz-date: 20130524T000000Z", "x-amz-meta-a: one two,3", "x-amz-security-token: token/+=",
      ])
    let names = "host;if-match;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-security-token"
    let start =
      "AWS4-HMAC-SHA256 Credential=key/20130524/us-east-1/s3/aws4_request, SignedHeaders=\(names), Signature="
    let authorization = try #require(signed["authorization"])
    #expect(authorization.hasPrefix(start) && authorization.count == start.count + 64)
  }

  @Test("are refused for header injection and invalid values")
  func refused() throws {
    let signer = try Self.signer()
    func code(_ path: String, _ headers: [SigningRequest.Field]) throws -> ObjectStoreError.Reason? {
      try reason { _ = try signer.sign(SigningRequest(.get, host: "h", path: path, headers: headers)) }
    }
    let invalid = ObjectStoreError.Reason.failed(.invalid)
    #expect(try code("/", [("a", "b")]) == nil)
    #expect(try code("/", [("a", "b\r\nx-amz-acl: public-read")]) == invalid)
    #expect(try code("/", [("a", "b\u{0}")]) == invalid)
    #expect(try code("/", [("a b", "c")]) == invalid)
    #expect(try code("/", [("a:", "c")]) == invalid)
    #expect(try code("/", [("", "c")]) == invalid)
    #expect(try code("", []) == invalid)
    #expect(try code("key", []) == invalid)
    let hostile = SigningRequest(.get, host: "h\r\nx: y", path: "/")
    #expect(try reason { _ = try signer.sign(hostile) } == invalid)
    for time in [Int64.min, -1, 253_402_300_800_000, .max] {
      let early = try Self.signer(at: time)
      #expect(
        try reason { _ = try early.sign(SigningRequest(.get, host: "h", path: "/")) } == invalid, "\(time)")
    }
  }

  @Test("invalid credentials are refused, and none are printed")
  func credentials() throws {
    let invalid = ObjectStoreError.Reason.failed(.invalid)
    for (key, secret, token) in [
      ("", "s", "t"), ("k", "", "t"), ("k", "s", ""), ("k\n", "s", "t"), ("a/b", "s", "t"),
    ] {
      #expect(
        try reason { _ = try Credentials(accessKey: key, secretKey: secret, sessionToken: token) } == invalid)
    }
    for region in ["", "eu west", "eu/west", "é"] {
      let credentials = try Credentials(accessKey: "k", secretKey: "s")
      #expect(try reason { _ = try RequestSigner(credentials: credentials, region: region) } == invalid)
    }
    let secret = try Credentials(accessKey: "AKVISIBLE", secretKey: "HUSH", sessionToken: "QUIET")
    let signer = try RequestSigner(credentials: secret, region: "r")
    var shown = "\(secret) \(String(reflecting: secret)) \(signer) \(String(reflecting: signer))"
    dump(secret, to: &shown)
    dump(signer, to: &shown)
    for word in ["AKVISIBLE", "HUSH", "QUIET"] { #expect(!shown.contains(word)) }
  }
}
