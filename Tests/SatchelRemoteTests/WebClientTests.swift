import SatchelCore
import SatchelJSON
import SatchelRemoteTesting
import Testing

@testable import SatchelRemote

@Suite("A client of http and https URLs", .enabled(if: ContentServer.isRunning))
struct WebClientTests {
  private let server: ContentServer
  private let client = WebClient(allowsPrivateAddresses: true)
  /// Gives up when the server is silent.
  private let hasty = WebClient(timeouts: HTTPTimeouts(stall: 500), allowsPrivateAddresses: true)

  init() throws { server = try ContentServer() }

  private func request(_ path: String, limit: Int64 = 1 << 20) throws -> WebRequest {
    WebRequest(try WebURL(server.url + path), limit: limit)
  }

  private func kind(_ request: WebRequest, _ client: WebClient? = nil) -> String {
    do throws(WebFailure) {
      _ = try (client ?? self.client).get(request)
      return "none"
    } catch {
      return "\(error.kind)"
    }
  }

  @Test("compressed bodies are decoded, and their decoded size is limited")
  func compressed() throws {
    try server.expect(["fault": "body", "body": "0123456789", "repeat": 20_000, "times": 3])
    let response = try client.get(request("/content"))
    #expect(response.headers["content-encoding"] == "gzip")
    #expect((response.body.count, response.size) == (200_000, 200_000))
    #expect(kind(try request("/content", limit: 100_000)) == "tooLarge")
    #expect(kind(try request("/content", limit: response.size)) == "none")
  }

  @Test("a body is passed on in blocks, in a range where asked, and what refuses it ends the request")
  func blocks() throws {
    try server.change(["size": 300_000])
    var (received, blocks): ([UInt8], Int) = ([], 0)
    var request = try request("/asset/film", limit: 300_000)
    request.receive = {
      received += $0
      blocks += 1
    }
    let all = try client.get(request)
    #expect((all.status, all.body.isEmpty, all.size) == (200, true, 300_000))
    #expect(blocks > 1)
    let whole = received
    received = []
    request.range = 1000...1999
    #expect(try client.get(request).status == 206)
    #expect(received == Array(whole[1000..<2000]))
    request.range = nil
    request.limit = 299_999
    #expect(kind(request) == "tooLarge")
    request.limit = 300_000
    request.receive = { _ in throw SatchelError(.full, "no") }
    #expect(kind(request).hasPrefix("refused"))
    // The connection serves the next request.
    #expect(try client.get(self.request("/asset/film")).body == whole)
  }

  @Test("a redirect within the site is followed, five times")
  func redirects() throws {
    for code: Int64 in [301, 302, 303, 307, 308] {
      try server.expect(["fault": "redirect", "code": .int(code), "to": "asset/after?x=%20"])
      let response = try client.get(request("/content"))
      #expect(response.status == 200)
      #expect(response.url.text == server.url + "/asset/after?x=%20")
    }
    try server.expect(["fault": "redirect", "to": "content", "times": 5])
    #expect(try client.get(request("/content")).status == 200)
    try server.expect(["fault": "redirect", "to": "{url}/content", "times": 100])
    #expect(kind(try request("/content")) == "foreign")
    #expect(try server.counts().requests == 6)
    try server.expect(["fault": "redirect", "to": "{other}/content?key=SECRET"])
    do {
      _ = try client.get(request("/content?key=SECRET"))
      Issue.record("was followed")
    } catch let error as WebFailure {
      #expect(error.message.contains(server.url + "/content"))
      #expect(error.message.contains(server.other + "/content"))
      #expect(!error.message.contains("SECRET"))
    }
    #expect(try server.counts().requests == 1)
  }

  @Test("a server that is not public is refused when its name was resolved, and nothing is sent")
  func privateServers() throws {
    let strict = WebClient()
    let port = server.url.split(separator: ":")[2]
    for host in [
      "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0", "[::1]", "[::ffff:127.0.0.1]",
    ] {
      let url = try WebURL("http://\(host):\(port)")
      #expect(kind(WebRequest(url, limit: 1), strict) == "forbidden", "\(host)")
    }
    #expect(try server.counts().requests == 0)
    // The proxy resolves names; an address in a URL is refused all the same.
    let proxied = WebClient(proxy: server.closed)
    #expect(kind(WebRequest(try WebURL("http://127.0.0.1:\(port)"), limit: 1), proxied) == "forbidden")
    #expect(kind(WebRequest(try WebURL("http://localhost:\(port)"), limit: 1), proxied) == "unavailable")
  }

  @Test(
    "a request without a complete answer has failed, and the next one succeeds",
    arguments: [
      ["fault": "cut", "bytes": 40], ["fault": "cut", "bytes": 40, "reset": true],
      ["fault": "cut", "bytes": 0],
      ["fault": "stall", "bytes": 40], ["fault": "hold"],
    ] as [JSONObject])
  func incomplete(fault: JSONObject) throws {
    try server.expect(fault)
    #expect(kind(try request("/asset/x"), hasty) == "unavailable")
    #expect(kind(try request("/asset/x")) == "none")
  }

  @Test("a server that cannot be reached")
  func unreachable() throws {
    #expect(kind(WebRequest(try WebURL(server.closed), limit: 1)) == "unavailable")
    try server.change(["offline": true])
    #expect(kind(try request("/content")) == "unavailable")
    try server.change(["offline": false])
    #expect(kind(try request("/content")) == "none")
  }

  @Test("an error's body is read up to a limit, and its status counts")
  func errors() throws {
    try server.change(["faults": [["fault": "status", "code": 503, "body": "0123456789", "repeat": 300_000]]])
    let response = try client.get(request("/content"))
    #expect(response.status == 503)
    #expect(response.body.count <= 64 << 10)
  }

  @Test("a request can be cancelled while the server is silent")
  func cancelled() throws {
    try server.expect(["fault": "hold"])
    let server = server
    // Once it has arrived.
    let cancellation = Cancellation { (try? server.counts().open) == 1 }
    do {
      _ = try WebClient(allowsPrivateAddresses: true).get(request("/content"), cancellation: cancellation)
      Issue.record("was not cancelled")
    } catch let error as WebFailure {
      #expect("\(error.kind)" == "cancelled")
    }
    try server.change([:])
  }
}
