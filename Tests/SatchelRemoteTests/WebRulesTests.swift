import SatchelCore
import Testing

@testable import SatchelRemote

@Suite("The rules for URLs, addresses and redirects") struct WebRulesTests {
  @Test(
    "a URL is encoded as it is sent, and shown without its query",
    arguments: [
      ("https://Example.org", "https://example.org/", "https://example.org/"),
      ("HTTP://a:80/x?y#z", "http://a/x?y", "http://a/x"),
      ("https://a:8443?key=1", "https://a:8443/?key=1", "https://a:8443/"),
      ("https://a/ü b%20c", "https://a/%C3%BC%20b%20c", "https://a/%C3%BC%20b%20c"),
      ("https://[2A00::1]:443/", "https://[2a00::1]/", "https://[2a00::1]/"),
      ("https://a/x?q={\"k\":\\}", "https://a/x?q=%7B%22k%22:%5C%7D", "https://a/x"),
    ])
  func parsing(text: String, sent: String, shown: String) throws {
    let url = try WebURL(text)
    #expect(url.text == sent)
    #expect(url.shown == shown)
  }

  @Test(
    "a URL that is ambiguous or has credentials is refused, without being repeated",
    arguments: [
      "", "example.org", "ftp://a/", "file:///etc/passwd", "http://", "http:///x", "http://user:SECRET@a/",
      "http://a\\@b/", "http://a b/", "http://a:99999/", "http://a:x/", "http://ü.example/", "http://a/\n",
      "http://a%2fb/", "http://[::1", "http://[fe80::1%25eth0]/",
      "https://a/" + String(repeating: "x", count: 9000),
    ])
  func invalid(text: String) throws {
    let error = #expect(throws: SatchelError.self) { try WebURL(text) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("SECRET") == false)
  }

  @Test(
    "a reference is resolved as RFC 3986 has it",
    arguments: [
      ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
      ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
      ("#s", "http://a/b/c/d;p?q"),
      ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
      ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("g;x=1/../y", "http://a/b/c/y"),
      ("https://z/x", "https://z/x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
  func resolving(reference: String, result: String) throws {
    #expect(try WebURL("http://a/b/c/d;p?q").resolving(reference).text == result)
  }

  @Test(
    "redirects lead to the same site, or from http to https of the same host",
    arguments: [
      ("https://a/x", "/y", "https://a/y"), ("https://a/x", "https://a:443/y", "https://a/y"),
      ("http://a/x", "https://a/x", "https://a/x"),
      ("http://a:8080/x", "https://a:8443/x", "https://a:8443/x"),
      ("https://a/x", "http://a/x", nil), ("https://a/x", "https://b/x", nil), ("https://a/x", "//b/x", nil),
      ("https://a/x", "https://www.a/x", nil), ("https://a:1/x", "https://a:2/x", nil),
      ("http://a:1/x", "http://a:2/x", nil), ("https://a/x", "file:///etc/passwd", nil),
      ("https://a/x", "https://u:p@a/x", nil), ("https://a/x?token=SECRET", "https://b/?token=SECRET", nil),
      ("https://a/x", "javascript:alert(1)", nil),
    ] as [(String, String, String?)])
  func redirects(from: String, to: String, result: String?) throws {
    do {
      let target = try WebClient.redirected(from: WebURL(from), to: to)
      #expect(target.text == result)
    } catch let error as WebFailure {
      #expect(result == nil)
      #expect(
        error.message.hasPrefix("https://a/x") || error.message.hasPrefix("http://a:1/x")
          || from.contains(":1"))
      #expect(!error.message.contains("SECRET"))
    }
  }

  @Test(
    "addresses of networks at this end are not public",
    arguments: [
      "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
      "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1",
      "192.168.1.1",
      "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.9", "224.0.0.1", "239.1.2.3", "240.0.0.1",
      "255.255.255.255", "[::]", "[::1]", "[::ffff:8.8.8.8]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
      "[64:ff9b::10.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::1]", "[100::1]", "[2001::1]",
      "[2001:db8::1]",
      "[2002:7f00:1::]", "[3fff::1]", "[fc00::1]", "[fd12:3456::1]", "[fe80::1]", "[fec0::1]", "[ff02::1]",
      "[4000::1]", "[5f00::1]",
    ])
  func privateAddresses(host: String) {
    #expect(PublicAddress.isPrivateAddress(host))
    #expect(PublicAddress.isPrivate(host: host))
  }

  @Test(
    "addresses of the internet are public",
    arguments: [
      "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1",
      "192.167.1.1",
      "198.17.0.1", "198.20.0.1", "223.255.255.255", "[2001:4860:4860::8888]", "[2606:4700::1111]",
      "[2a00::1]",
      "[2003::1]", "[64:ff9b::8.8.8.8]",
    ])
  func publicAddresses(host: String) {
    #expect(!PublicAddress.isPrivateAddress(host))
    #expect(!PublicAddress.isPrivate(host: host))
  }

  @Test(
    "names of private networks are known; others are judged when they are resolved",
    arguments: [
      ("localhost", true), ("backend", true), ("box.local", true), ("api.internal", true),
      ("x.home.arpa", true),
      ("a.localhost", true), ("localhost.", true), ("example.org", false), ("local.example.org", false),
      ("notlocal", true), ("xlocalhost.org", false), ("2130706433", false), ("127.1", false),
    ])
  func names(host: String, isPrivate: Bool) {
    #expect(PublicAddress.isPrivate(host: host) == isPrivate)
    #expect(!PublicAddress.isPrivateAddress(host))
  }

  @Test("addresses are shown as people write them")
  func texts() {
    #expect([UInt8]([169, 254, 0, 1]).withUnsafeBytes { PublicAddress.text($0) } == "169.254.0.1")
    let bytes: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
    #expect(bytes.withUnsafeBytes { PublicAddress.text($0) } == "fe80:0:0:0:0:0:0:1")
  }

  private static let sent = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test(
    "how long a response is fresh",
    arguments: [
      (["cache-control": "max-age=60"], 60), (["cache-control": "public, Max-Age=\"60\" , x"], 60),
      (["cache-control": "max-age=60", "age": "20"], 40), (["cache-control": "max-age=60", "age": "90"], 0),
      (["cache-control": "max-age=60", "age": "x"], 60), (["cache-control": "max-age=-1"], 0),
      (["cache-control": "max-age=soon"], 0), (["cache-control": "max-age=60, max-age=30"], 30),
      (["cache-control": "max-age=60, must-revalidate"], 60), (["cache-control": "must-revalidate"], 0),
      (["cache-control": "no-cache"], 0), (["cache-control": "no-store, max-age=60"], 0),
      (["cache-control": "max-age=60, no-cache=\"set-cookie, x\""], 0),
      (["cache-control": "private=\"no-store, max-age=1\", max-age=60"], 60),
      (["cache-control": "s-maxage=60"], nil),
      (["cache-control": "max-age=99999999999999999999"], WebFreshness.maximum), ([:], nil),
      (["age": "9"], nil),
      (["cache-control": ""], nil), (["cache-control": "public"], nil),
      (["expires": "Sun, 06 Nov 1994 08:50:37 GMT", "date": sent], 60),
      (["expires": "Sun, 06 Nov 1994 08:50:37 GMT", "date": sent, "age": "10"], 50),
      (["expires": "Sunday, 06-Nov-94 08:50:37 GMT", "date": sent], 60),
      (["expires": "Sun Nov  6 08:50:37 1994", "date": sent], 60),
      (["expires": "Sun, 06 Nov 1994 08:50:37 GMT"], 97), (["expires": sent, "date": sent], 0),
      (["expires": "0", "date": sent], 0), (["expires": "-1"], 0), (["expires": "never"], 0),
      (["expires": "Sun, 06 Nov 1994 08:50:37 GMT", "date": sent, "cache-control": "max-age=5"], 5),
    ] as [([String: String], Int64?)])
  func maxAge(headers: [String: String], seconds: Int64?) throws {
    try load()
    // 08:49:00
    #expect(WebFreshness.maxAge(headers, now: 784_111_740_000) == seconds)
  }

  @Test(
    "when a request may be repeated",
    arguments: [
      (["retry-after": "120"], 120), (["retry-after": "0"], 0), ([:], nil), (["retry-after": "soon"], nil),
      (["retry-after": "-5"], nil), (["retry-after": "1.5"], nil), (["retry-after": ""], nil),
      (["retry-after": "99999999999999999999"], WebFreshness.maximum),
      (["retry-after": "Sun, 06 Nov 1994 08:50:37 GMT", "date": sent], 60),
      (["retry-after": "Sun, 06 Nov 1994 08:50:37 GMT"], 97), (["retry-after": sent, "date": sent], 0),
      (["retry-after": "Sun, 06 Nov 1994 08:40:37 GMT", "date": sent], 0),
    ] as [([String: String], Int64?)])
  func retryAfter(headers: [String: String], seconds: Int64?) throws {
    try load()
    #expect(WebFreshness.retryAfter(headers, now: 784_111_740_000) == seconds)
  }

  /// libcurl reads dates.
  private func load() throws { _ = try HTTPSession() }

  @Test(
    "an entity tag that is no header value is not sent, nor a private header to another origin")
  func fields() throws {
    let url = try WebURL("https://a/x")
    var request = WebRequest(url, limit: 1)
    request.headers = [("accept", "x")]
    request.privateHeaders = ("https://a", [("authorization", "SECRET")])
    request.etag = "\"1\"\r\nx: y"
    request.range = 5...9
    #expect(request.fields(for: url).map(\.name) == ["accept", "authorization", "range"])
    request.etag = "W/\"1\""
    #expect(
      request.fields(for: try WebURL("http://a/x")).map(\.name) == ["accept", "if-none-match", "range"])
    #expect(request.fields(for: try WebURL("https://a:8/x")).map(\.value) == ["x", "W/\"1\"", "bytes=5-9"])
  }
}
