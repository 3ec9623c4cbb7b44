import Satchel
import SatchelRemoteTesting
import Testing

@testable import SatchelCatalogue

@Suite("The request of a source that is a server") struct HTTPSourceRequestTests {
  private static let full = try? Location(
    latitude: 31.2305, longitude: -0.1, sublocality: "Yu Garden", locality: "São Paulo", adminArea: "a&b=c",
    countryCode: "CN", countryName: "中国")

  @Test("has the location, the section, and the query of the base URL")
  func query() throws {
    let location = try #require(Self.full)
    let all =
      "latitude=31.2305&longitude=-0.1&sublocality=Yu%20Garden&locality=S%C3%A3o%20Paulo&admin_area=a%26b%3Dc"
      + "&country_code=CN&country_name=%E4%B8%AD%E5%9B%BD"
    for (base, section, entities, expected) in [
      ("https://a", nil, [], "https://a/?" + all), ("https://a/v1?", nil, [], "https://a/v1?" + all),
      ("https://a/v1?key=1", "food & drink", [], "https://a/v1?key=1&\(all)&section=food%20%26%20drink"),
      ("https://a/v1", "x", ["x:ü", "x:2"], "https://a/v1?\(all)&section=x&entity=x%3A%C3%BC&entity=x%3A2"),
    ] as [(String, String?, [String], String)] {
      let request = ContentRequest(location: location, section: section, entities: entities)
      #expect(try HTTPSource(baseURL: base).url(for: request).text == expected)
    }
    let country = ContentRequest(location: try Location(countryCode: "SG"))
    #expect(try HTTPSource(baseURL: "http://a/x").url(for: country).text == "http://a/x?country_code=SG")
  }

  @Test("has as many entities as fit into 2,000 bytes")
  func entities() throws {
    let entities = (1...500).map { "section:entity_\($0)" }
    let request = ContentRequest(location: try Location(countryCode: "SG"), entities: entities)
    let text = try HTTPSource(baseURL: "https://example.org/").url(for: request).text
    #expect((1950..<2000).contains(text.utf8.count))
    #expect(
      text.hasPrefix(
        "https://example.org/?country_code=SG&entity=section%3Aentity_1&entity=section%3Aentity_2&"))
    let long = try HTTPSource(baseURL: "https://example.org/?k=" + String(repeating: "x", count: 3000))
    #expect(!long.url(for: request).text.contains("entity="))
  }

  @Test(
    "private addresses are allowed if the base URL has one, or its name is of a private network",
    arguments: [
      ("http://127.0.0.1:8000", true), ("http://localhost", true), ("http://[fe80::1]/", true),
      ("http://backend/", true),
      ("https://example.org", false), ("https://8.8.8.8/", false),
    ])
  func addresses(base: String, isAllowed: Bool) throws {
    #expect(try HTTPSource(baseURL: base).allowsPrivateAddresses == isAllowed)
    var options = HTTPSourceOptions()
    options.allowsPrivateAddresses = !isAllowed
    #expect(try HTTPSource(baseURL: base, options: options).allowsPrivateAddresses == !isAllowed)
  }

  @Test(
    "invalid arguments are named, without their values",
    arguments: [
      ("ftp://a", [:], "base_url: must begin with http"),
      ("https://u:SECRET@a", [:], "base_url: must have no user"),
      ("https://a", ["headers": ["a b": "SECRET"]], "headers: the name of header 1"),
      ("https://a", ["headers": ["": "x"]], "headers: the name"),
      ("https://a", ["headers": ["x": "SECRET\r\ny: z"]], "headers: x: must have 1 to 8192"),
      ("https://a", ["headers": ["x": ""]], "headers: x: "),
      ("https://a", ["headers": ["Host": "b"]], "headers: Host: is set"),
      ("https://a", ["headers": ["x": 1]], "headers: x: must be a string"),
      ("https://a", ["headers": []], "headers: "),
      ("https://a", ["max_size": 0], "max_size: "), ("https://a", ["max_size": "1"], "max_size: "),
      ("https://a", ["timeouts": 5], "timeouts: "),
      ("https://a", ["timeouts": ["connect": -1]], "timeouts: "),
      ("https://a", ["timeouts": ["read": 1]], "timeouts: they are connect"),
      ("https://a", ["ca_file": ""], "ca_file: "),
      ("https://a", ["proxy": 1], "proxy: "), ("https://a", ["allow_private": 1], "allow_private: "),
      ("https://a", ["header": [:]], "options: \"header\" is unknown"),
      ("https://a", [1], "options: must be an object"),
    ] as [(String, JSONValue, String)])
  func invalid(base: String, options: JSONValue, message: String) {
    let error = #expect(throws: SatchelError.self) { try HTTPSource(baseURL: base, json: options) }
    #expect(error?.code == .invalid)
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("SECRET") == false)
  }

  @Test("a delivery says itself whether it is complete")
  func complete() {
    for (text, isComplete) in [
      (#"{"sections": [], "complete": true}"#, true), (#"{"sections": [], "complete": false}"#, false),
      (#"{"sections": []}"#, false), (#"{"section": "x", "complete": true, "content": {}}"#, false),
      (#"{"sections": [], "complete": 1}"#, false), (#"{"sections": [], "complete": true"#, false),
      ("", false),
    ] { #expect(HTTPSource.isComplete(Array(text.utf8)) == isComplete, "\(text)") }
  }
}

@Suite("A source that is a server", .enabled(if: ContentServer.isRunning)) struct HTTPSourceTests {
  private let server: ContentServer
  private let source: HTTPSource
  /// Gives up when the server is silent.
  private let hasty: HTTPSource
  private let location: Location
  private let fixture: CatalogueFixture

  init() throws {
    fixture = try CatalogueFixture()
    server = try ContentServer()
    location = try Location(locality: "Shanghai", countryCode: "CN")
    var options = HTTPSourceOptions()
    options.maxSize = 100_000
    let url = server.url + "/content?key=SECRET"
    let headers = [(name: "Authorization", value: "Bearer SECRET")]
    source = try HTTPSource(baseURL: url, headers: headers, options: options)
    options.timeouts.stall = 500
    hasty = try HTTPSource(baseURL: url, headers: headers, options: options)
  }

  private func fetch(_ section: String? = nil, etag: String? = nil) throws -> ContentAnswer {
    try source.content(ContentRequest(location: location, section: section, etag: etag))
  }

  private func failure(of source: HTTPSource? = nil) throws -> SourceFailure {
    let request = ContentRequest(location: location)
    let failure = try #require(throws: SourceFailure.self) { try (source ?? self.source).content(request) }
    #expect(!failure.message.contains("SECRET"))
    return failure
  }

  @Test("a section or a delivery, with its entity tag and for how long it is fresh; then not modified")
  func content() throws {
    guard case .content(let body, let etag?, 60, false) = try fetch("cuisine") else {
      Issue.record("no content")
      return
    }
    #expect(try JSONValue(parsing: body)["section"] == "cuisine")
    #expect(try fetch("cuisine", etag: etag) == .notModified(etag: etag, maxAge: 60))
    try server.change(["version": 2, "cache_control": "no-store"])
    guard case .content(_, let other?, 0, false) = try fetch("cuisine", etag: etag) else {
      Issue.record("no content")
      return
    }
    #expect(other != etag)
    try server.change(["complete": true, "cache_control": .null, "etag": false])
    guard case .content(let delivery, nil, nil, true) = try fetch() else {
      Issue.record("no delivery")
      return
    }
    #expect(try JSONValue(parsing: delivery)["sections"]?.arrayValue?.count == 2)
    let seen = try server.counts().seen
    #expect(seen.map(\.status) == [200, 304, 200, 200])
    #expect(seen.allSatisfy { $0.headers["user-agent"] == "satchel" })
    #expect(
      seen.allSatisfy {
        $0.headers["authorization"] == "Bearer SECRET" && $0.headers["accept"] == "application/json"
      })
    #expect(
      seen[0].query == [
        "key": ["SECRET"], "locality": ["Shanghai"], "country_code": ["CN"], "section": ["cuisine"],
      ])
  }

  @Test("what the server does not have")
  func notFound() throws {
    #expect(try fetch("hotels") == .notFound(maxAge: nil))
    try server.expect(["fault": "status", "code": 410, "headers": ["Cache-Control": "max-age=9"]])
    #expect(try fetch() == .notFound(maxAge: 9))
  }

  @Test(
    "failures are transient or final by their status",
    arguments: [
      (408, false), (425, false), (429, false), (500, false), (502, false), (503, false), (400, true),
      (401, true),
      (403, true), (405, true), (451, true), (204, true), (206, true), (304, true), (300, true), (302, true),
    ] as [(Int64, Bool)])
  func statuses(status: Int64, isFinal: Bool) throws {
    try server.expect(["fault": "status", "code": .int(status), "headers": ["Retry-After": "7"]])
    let failure = try failure()
    #expect(failure.isFinal == isFinal)
    #expect(failure.retryAfter == (isFinal ? nil : 7))
    #expect(failure.message.hasPrefix(server.url + "/content: the server answered \(status)"))
  }

  @Test("faults of the network, and pages of networks that want a sign-in, are transient")
  func faults() throws {
    for fault: JSONObject in [
      ["fault": "cut", "bytes": 10], ["fault": "cut", "bytes": 10, "reset": true], ["fault": "hold"],
      ["fault": "body", "body": "<html>", "type": "text/html"], ["fault": "body", "body": ""],
      ["fault": "redirect", "to": "{other}/login"], ["fault": "redirect", "to": "", "times": 9],
    ] {
      try server.expect(fault)
      #expect(try !failure(of: hasty).isFinal, "\(fault)")
    }
    try server.change(["offline": true, "faults": []])
    #expect(try !failure().isFinal)
    let closed = try HTTPSource(baseURL: server.closed)
    let request = ContentRequest(location: location)
    #expect(try #require(throws: SourceFailure.self) { try closed.content(request) }.isFinal == false)
  }

  @Test("what cannot become better is final: too much, and servers that may not be asked")
  func final() throws {
    try server.expect(["fault": "body", "body": "{12345678}", "repeat": 20_000])
    #expect(try failure().isFinal)
    var options = HTTPSourceOptions()
    options.allowsPrivateAddresses = false
    let strict = try HTTPSource(baseURL: server.url, options: options)
    let request = ContentRequest(location: location)
    let failure = try #require(throws: SourceFailure.self) { try strict.content(request) }
    #expect(failure.isFinal)
    #expect(failure.message.contains("not public"))
  }

  @Test("a redirect within the site keeps the headers")
  func redirect() throws {
    try server.expect(["fault": "redirect", "code": 307, "to": "{url}/content?section=sights"])
    guard case .content = try fetch() else {
      Issue.record("no content")
      return
    }
    #expect(
      try server.counts().seen.map { $0.headers["authorization"] } == ["Bearer SECRET", "Bearer SECRET"])
  }

  @Test("a cancelled request ends")
  func cancelled() throws {
    let request = ContentRequest(location: location, cancellation: Cancellation { true })
    #expect(try #require(throws: SatchelError.self) { try source.content(request) }.code == .cancelled)
  }

  @Test("answers arrive in any order, each at its request")
  func outOfOrder() throws {
    try server.expect(["fault": "after", "after": "sights", "count": 1, "section": "cuisine"])
    let (source, location) = (source, location)
    let answered = Locked<[String]>([])
    let threads = ["cuisine", "sights"].compactMap { section in
      SystemThread {
        let request = ContentRequest(location: location, section: section)
        guard case .content(let body, _, _, _) = try? source.content(request) else { return }
        let name = (try? JSONValue(parsing: body))?["section"]?.stringValue
        answered.withLock { $0.append(section + " " + (name ?? "")) }
      }
    }
    for thread in threads { thread.join() }
    #expect(answered.withLock { $0 }.sorted() == ["cuisine cuisine", "sights sights"])
  }

  @Test("assets are fetched, also from another site, which does not get the headers")
  func assets() throws {
    let store = fixture.satchel.assets
    let assets =
      try ["/asset/a.png", "/asset/b.png", "/asset/absent.png"].map { try Asset(url: server.url + $0) }
      + [Asset(url: server.other + "/asset/a.png")]
    var options = AssetFetchOptions()
    var report = try store.fetch(assets, options: options, using: source.asset)
    #expect((report.fetched, report.fetchedBytes, report.failed.count) == (3, 6000, 1))
    #expect(report.failed.first?.message.contains("/asset/absent.png: the server answered 404") == true)
    (options.refreshes, options.ignoresBackoff) = (true, true)
    report = try store.fetch(assets, options: options, using: source.asset)
    #expect((report.fetched, report.present, report.failed.count) == (0, 3, 1))
    let seen = try server.counts().seen
    #expect(seen.map { $0.status ?? 0 } == [200, 200, 404, 200, 304, 304, 404, 304])
    #expect(
      Set(seen.filter { $0.site == seen[0].site }.map { $0.headers["authorization"] }) == ["Bearer SECRET"])
    #expect(seen.filter { $0.site != seen[0].site }.allSatisfy { $0.headers["authorization"] == nil })
    try server.change(["size": 5000])
    options.maxSize = 4999
    let large = try Asset(url: server.url + "/asset/large.png")
    report = try store.fetch([large], options: options, using: source.asset)
    #expect(report.failed.first?.message.contains("4999 bytes") == true)
  }

  @Test("a cancelled transfer of an asset ends the call")
  func cancelledAsset() throws {
    try server.expect(["fault": "hold"])
    let server = server
    var (options, source) = (AssetFetchOptions(), HTTPSourceOptions())
    source.timeouts = HTTPTimeouts(connect: 0, stall: 0, total: 0)
    let patient = try HTTPSource(baseURL: server.url, options: source)
    options.isCancelled = { (try? server.counts().open) == 1 }
    let asset = try Asset(url: server.url + "/asset/x")
    let error = #expect(throws: SatchelError.self) {
      try fixture.satchel.assets.fetch([asset], options: options, using: patient.asset)
    }
    #expect(error?.code == .cancelled)
    try server.change([:])
  }

  @Test("the failure of an asset has a code, and the source's failure")
  func assetFailures() throws {
    for (status, code): (Int64, SatchelError.Code) in [
      (404, .notFound), (401, .unauthorized), (503, .unavailable), (418, .unavailable),
    ] {
      try server.expect(["fault": "status", "code": .int(status), "headers": ["Retry-After": "7"]])
      var found: SatchelError?
      let url = server.url + "/asset/x"
      var options = AssetFetchOptions()
      options.ignoresBackoff = true
      try fixture.satchel.assets.fetch([Asset(url: url)], options: options) { request, writer in
        #expect((request.sha256, request.maxSize) == (nil, options.maxSize))
        do { return try source.asset(request, into: writer) } catch {
          found = error as? SatchelError
          throw error
        }
      }
      #expect(found?.code == code)
      #expect((found?.underlying as? SourceFailure)?.retryAfter == (status == 503 ? 7 : nil))
    }
  }
}
