import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelAssets

struct AssetReferenceTests {
  private func document(_ asset: Asset) -> JSONValue { ["title": "Pad Thai", "picture": asset.json] }

  @Test func `what records refer to stays, and goes an hour after the last of them`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let notes = try store.records("notes")
    let asset = try store.assets.put(AssetFixture.bytes(100_000))
    try notes.put("a", document(asset))
    try notes.put("b", document(asset))
    #expect(try store.assets.info(of: asset).references == 2)
    fixture.time.pass(hours: 2)
    #expect(try store.assets.prune(maxBytes: 0).onlyCopies == 100_000)
    try notes.put("a", ["title": "without"])
    try notes.delete("b")
    #expect(try store.assets.info(of: asset).references == 0)
    #expect(try store.assets.prune().recent == 100_000)
    fixture.time.pass(hours: 2)
    #expect(try store.assets.prune() == AssetPruneReport(removed: 1, removedBytes: 100_000))
    #expect(fixture.files() == [])
    #expect(try store.assets.list().assets == [])
    #expect(try store.check() == [])
  }

  @Test func `a record cannot refer to what is nowhere`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let notes = try store.records("notes")
    let absent = try Asset(sha256: String(repeating: "a", count: 64))
    func failure(_ document: JSONValue) -> SatchelError? {
      do {
        try notes.put("a", document)
        return nil
      } catch {
        return error as? SatchelError
      }
    }
    let error = try #require(failure(document(absent)))
    #expect(error.code == .constraint && error.details.pointer == "/picture/_asset/sha256")
    let asset = try store.assets.put([1, 2, 3])
    for (members, pointer) in [
      (["sha256": .string(try #require(asset.sha256).uppercased())], "/x/0/_asset/sha256"),
      (["sha256": "abc"], "/x/0/_asset/sha256"), (["url": "file:///etc/passwd"], "/x/0/_asset/url"),
      (["url": 1], "/x/0/_asset/url"), ([:], "/x/0/_asset"),
      (["sha256": .string(try #require(asset.sha256)), "size": 4], "/x/0/_asset/size"),
      (["url": "https://example.com/a", "size": -1], "/x/0/_asset/size"),
      (["url": "https://example.com/a", "type": ""], "/x/0/_asset/type"),
    ] as [(JSONValue, String)] {
      let error = try #require(failure(["x": [["_asset": members]]]))
      #expect(error.code == .constraint && error.details.pointer == pointer, "\(members): \(error)")
    }
    #expect(failure(["x": ["_asset": "text"]])?.details.pointer == "/x/_asset")
    #expect(try notes.count() == 0)
    #expect(failure(["x": ["_asset": ["url": "https://example.com/a.jpg"]]]) == nil)
    #expect(try store.assets.state(of: Asset(url: "https://example.com/a.jpg")) == .remote)
    #expect(try store.check() == [])
  }

  @Test func `a record keeps a missing asset that it had`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let notes = try store.records("notes")
    let asset = try store.assets.put(AssetFixture.bytes(100_000))
    try notes.put("a", document(asset))
    try FileManager.default.removeItem(atPath: fixture.path + ".assets/" + fixture.files()[0])
    try store.assets.verify(deep: false)
    #expect(try store.assets.state(of: asset) == .missing)
    try notes.update("a", ["title": "another"])
    #expect(code { try notes.put("b", document(asset)) } == .constraint)
    #expect(try store.assets.info(of: asset).references == 1)
  }

  @Test func `references follow dropped collections, migrations, conflicts of keys, and rollbacks`() throws {
    struct Stop: Error {}
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let notes = try store.records("notes")
    let asset = try store.assets.put(AssetFixture.bytes(100_000))
    #expect(throws: Stop.self) {
      try store.batch {
        try notes.put("a", document(asset))
        throw Stop()
      }
    }
    #expect(try store.assets.info(of: asset).references == 0)
    try notes.putMany([("a", document(asset)), ("b", document(asset))])
    #expect(try store.assets.info(of: asset).references == 2)
    try notes.clear()
    #expect(try store.assets.info(of: asset).references == 0)
    try notes.put("a", document(asset))
    try store.dropCollection("notes", discardingUnsent: true)
    #expect(try store.assets.info(of: asset).references == 0)
    #expect(try store.check() == [])
  }

  @Test func `values of state refer to assets`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let asset = try store.assets.put(AssetFixture.bytes(100_000))
    try store.state.set("avatar", document(asset))
    try store.flush()
    #expect(try store.assets.info(of: asset).references == 1)
    #expect(code { try store.state.set("avatar", ["x": ["_asset": ["sha256": "abc"]]]) } == .invalid)
    try store.state.set("avatar", "none")
    try store.flush()
    #expect(try store.assets.info(of: asset).references == 0)
  }

  @Test func `entities and sections of the catalogue refer to assets`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let asset = try store.assets.put(AssetFixture.bytes(100_000))
    let other = try Asset(url: "https://example.com/b.jpg", type: "image/jpeg")
    let location = try Location(countryCode: "IT")
    let receipt = try store.catalogue.persist(
      [
        "section": "dishes",
        "content": [
          "banner": other.json, "bad": ["_asset": ["sha256": "x"]],
          "cards": [
            [
              "_storage": ["entity_id": "pasta:carbonara", "scope": "country", "ttl_hours": 24],
              "title": "Carbonara", "picture": asset.json,
            ]
          ],
        ],
      ], at: location)
    #expect(receipt.problems.map(\.pointer) == ["/content/bad/_asset/sha256"], "\(receipt)")
    #expect(try store.assets.info(of: asset).references == 1)
    fixture.time.pass(hours: 2)
    #expect(try store.assets.prune().removed == 0)
    var options = PruneOptions()
    options.expired = true
    fixture.time.pass(hours: 48)
    let pruned = try store.catalogue.prune(options)
    #expect(pruned.entities == 1, "\(pruned)")
    let report = try store.assets.prune()
    #expect(report.removed == 1, "\(report)")
    #expect(try store.check() == [])
  }

  @Test func `assets are fetched from their URLs, and asked again with their ETag`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let asset = try Asset(url: "https://example.com/a.jpg")
    let bytes = AssetFixture.bytes(80_000)
    var requests: [String?] = []
    func fetch(_ request: AssetRequest, _ writer: AssetWriter) throws -> AssetResponse {
      requests.append(request.etag)
      if request.etag == "\"1\"" { return .notModified }
      try writer.append(bytes)
      return .fetched(etag: "\"1\"")
    }
    let report = try store.assets.fetch([asset], using: fetch)
    #expect(report.fetched == 1 && report.fetchedBytes == 80_000)
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(try store.assets.fetch([asset], using: fetch).present == 1)
    var options = AssetFetchOptions()
    options.refreshes = true
    #expect(try store.assets.fetch([asset], options: options, using: fetch).present == 1)
    #expect(requests == [nil, "\"1\""])
  }

  @Test func `threads that want the same bytes at once fetch them once`() async throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let asset = try Asset(url: "https://example.com/a.jpg")
    let (calls, begun) = (Locked(0), DispatchSemaphore(value: 0))
    let reports = try await withThrowingTaskGroup(of: AssetFetchReport.self) { group in
      for number in 0..<4 {
        group.addTask {
          if number > 0 { begun.wait() }
          return try store.assets.fetch([asset]) { _, writer in
            calls.withLock { $0 += 1 }
            for _ in 0..<3 { begun.signal() }
            usleep(50_000)
            try writer.append([UInt8](repeating: 1, count: 80_000))
            return .fetched()
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(calls.withLock { $0 } == 1)
    #expect(reports.map(\.fetched).reduce(0, +) == 1 && reports.map(\.present).reduce(0, +) == 3)
    // One that fetches the same in its own function would wait for itself.
    let other = try Asset(url: "https://example.com/b.jpg")
    var inner: SatchelError?
    try store.assets.fetch([other]) { _, _ in
      inner = #expect(throws: SatchelError.self) { try store.assets.fetch([other]) { _, _ in .fetched() } }
      throw SourceFailure("no")
    }
    #expect(inner?.code == .busy)
  }

  @Test func `what a function throws when its call was cancelled is no failure`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let asset = try Asset(url: "https://example.com/a.jpg")
    let isCancelled = Locked(false)
    var options = AssetFetchOptions()
    options.isCancelled = { isCancelled.withLock { $0 } }
    let error = #expect(throws: SatchelError.self) {
      try store.assets.fetch([asset], options: options) { request, _ in
        isCancelled.withLock { $0 = true }
        #expect(request.isCancelled())
        throw SourceFailure("ended early")
      }
    }
    #expect(error?.code == .cancelled)
    let again = try store.assets.fetch([asset]) { _, writer in
      try writer.append([1])
      return .fetched()
    }
    #expect(again.fetched == 1)
  }

  @Test func `a fetch that fails is tried later`() throws {
    struct Offline: Error {}
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let asset = try Asset(url: "https://example.com/a.jpg")
    var (attempts, waits) = (0, [Int64]())
    for _ in 0..<6 {
      let before = fixture.time.now
      let report = try store.assets.fetch([asset]) { _, _ in
        attempts += 1
        throw Offline()
      }
      let retryAt = try #require(report.failed.first?.retryAt)
      waits.append((retryAt - before) / 60_000)
      #expect(try store.assets.fetch([asset]) { _, _ in throw Offline() }.waiting == 1)
      fixture.time.pass(hours: 1)
    }
    #expect(attempts == 6 && waits == [1, 2, 4, 8, 16, 32])
    var options = AssetFetchOptions()
    (options.maxSize, options.ignoresBackoff) = (100, true)
    let large = try store.assets.fetch([asset], options: options) { _, writer in
      try writer.append([UInt8](repeating: 0, count: 101))
      return .fetched()
    }
    #expect(large.failed.count == 1)
    let wrong = try Asset(
      sha256: String(repeating: "b", count: 64), size: nil, type: nil, url: "https://example.com/w.jpg")
    #expect(
      try store.assets.fetch([wrong]) { _, writer in
        try writer.append([1])
        return .fetched()
      }.failed.count == 1)
    #expect(try store.assets.list(state: .here).assets == [])
  }

  @Test
  func `a budget removes variants first, then what the catalogue has fetched, never a document's only copy`()
    throws
  {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let picture = try store.assets.put(AssetFixture.bytes(100_000, 1))
    try store.records("notes").put("a", document(picture))
    let small = try store.assets.variant(of: picture, named: "thumb") { reader in
      (try reader.read(70_000, at: 0), "image/jpeg")
    }
    #expect(small.type == "image/jpeg" && small.size == 70_000)
    let fetched = try Asset(url: "https://example.com/a.jpg")
    try store.catalogue.persist(
      ["section": "s", "content": ["banner": fetched.json]], at: Location(countryCode: "IT"))
    try store.assets.fetch([fetched]) { _, writer in
      try writer.append(AssetFixture.bytes(90_000, 2))
      return .fetched()
    }
    #expect(try store.assets.prune(maxBytes: 0).removed == 0)
    fixture.time.pass(hours: 2)
    #expect(try store.assets.prune(maxBytes: 200_000).removedBytes == 70_000)
    #expect(try store.assets.state(of: small) == .missing)
    let report = try store.assets.prune(maxBytes: 0)
    #expect(report.removedBytes == 90_000 && report.onlyCopies == 100_000 && report.overBudget == 100_000)
    #expect(try store.assets.state(of: fetched) == .remote)
    var made = 0
    let again = try store.assets.variant(of: picture, named: "thumb") { reader in
      made += 1
      return (try reader.read(70_000, at: 0), "image/jpeg")
    }
    #expect(again.sha256 == small.sha256 && made == 1)
    _ = try store.assets.variant(of: picture, named: "thumb") { _ in
      made += 1
      return ([], nil)
    }
    #expect(made == 1)
    #expect(try store.check() == [])
  }
}

struct DeclaredAssetTests {
  private func card(_ id: String, _ image: JSONValue) -> JSONValue {
    [
      "_storage": ["entity_id": .string(id), "scope": "country", "ttl_hours": 24], "title": .string(id),
      "image": image,
    ]
  }

  @Test(arguments: [true, false])
  func `strings of declared members are URLs of assets`(isFirst: Bool) throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let place = try Location(countryCode: "IT")
    func declare() throws {
      try store.catalogue.declareAssets(of: "dishes", paths: ["/cards/*/image", "/banner"])
    }
    if isFirst { try declare() }
    let receipt = try store.catalogue.persist(
      [
        "section": "dishes",
        "content": [
          "banner": "https://example.com/banner.jpg",
          "cards": [
            card("a:1", "https://example.com/1.jpg"), card("a:2", "ftp://example.com/2.jpg"), card("a:3", 3),
            ["image": "https://example.com/4.jpg"],
          ],
        ],
      ], at: place)
    #expect(
      receipt.problems.map(\.pointer)
        == (isFirst ? ["/content/cards/1/image", "/content/cards/2/image"] : []))
    if !isFirst { try declare() }
    let assets = try ["banner", "1", "4"].map { try Asset(url: "https://example.com/\($0).jpg") }
    try store.assets.fetch(assets) { request, writer in
      try writer.append(Array(request.url.utf8))
      return .fetched()
    }
    #expect(try assets.map { try store.assets.info(of: $0).references } == [1, 1, 1])
    fixture.time.pass(hours: 2)
    #expect(try store.assets.prune().removed == 0)
    // A card changes its picture; the others stay.
    try store.catalogue.persist(
      [
        "section": "dishes",
        "content": [
          "banner": "https://example.com/banner.jpg",
          "cards": [card("a:1", "https://example.com/new.jpg")],
        ],
      ], at: place)
    fixture.time.pass(hours: 2)
    #expect(try store.assets.prune().removed == 2)
    #expect(try store.assets.state(of: assets[0]) == .here)
    try store.catalogue.declareAssets(of: "dishes", paths: [])
    fixture.time.pass(hours: 2)
    #expect(try store.assets.prune().removed == 1)
    #expect(code { try store.catalogue.declareAssets(of: "dishes", paths: ["cards"]) } == .invalid)
    #expect(try store.check() == [])
  }
}
