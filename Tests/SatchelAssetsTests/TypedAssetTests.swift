import Satchel
import SatchelTesting
import Testing

@testable import SatchelAssets

/// Assets as properties of typed documents, and as arguments.
@Suite("Assets in typed documents")
struct TypedAssetTests {
  private struct Recipe: Codable, Equatable, Sendable {
    var title: String
    var picture: Asset?
    var steps: [Asset] = []
    var sounds: [String: Asset] = [:]
  }

  private let directory: TemporaryDirectory
  private let store: Store
  private let recipes: RecordCollection

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(path: directory.path + "/recipes.satchel")
    recipes = try store.records("recipes")
  }

  @Test("a property may be an asset, and its references are counted")
  func property() throws {
    let one = try store.assets.put(Array("one".utf8), type: "image/png")
    let other = try store.assets.put([UInt8](repeating: 7, count: 100_000))
    let recipe = Recipe(title: "Soup", picture: one, steps: [one, other], sounds: ["pan": other])
    try recipes.put("soup", recipe)
    #expect(try recipes.get("soup", as: Recipe.self)?.document == recipe)
    #expect(try [one, other].map { try store.assets.info(of: $0).references } == [1, 1])
    try recipes.put("rice", Recipe(title: "Rice", picture: other))
    #expect(try store.assets.info(of: other).references == 2)
    try recipes.put("soup", Recipe(title: "Soup"))
    #expect(try [one, other].map { try store.assets.info(of: $0).references } == [0, 1])
    #expect(try store.check() == [])
  }

  @Test("another asset replaces all members of the one before")
  func replaced() throws {
    let stored =
      #"{"title": "", "picture": {"_asset": {"url": "https://example.org/a"}, "alt": "A dish"}, "#
      + #""steps": [], "sounds": {}}"#
    try recipes.put("a", JSONValue(parsing: Array(stored.utf8)))
    let asset = try store.assets.put([1])
    try recipes.put("a", Recipe(title: "", picture: asset))
    let picture = try recipes.get("a")?.document["picture"]
    #expect(picture?["_asset"] == asset.members)
  }

  @Test("the encoding is the object that other languages have")
  func encoding() throws {
    let asset = try Asset(
      sha256: String(repeating: "0a", count: 32), size: 5, type: "image/png", url: "https://example.org/a")
    let document = try JSONValue(encoding: Recipe(title: "", picture: asset))
    #expect(document["picture"] == asset.json)
    #expect(try Asset(json: asset.json) == asset)
  }

  @Test(
    "a property that is no reference is refused with its place",
    arguments: [
      #"{"title": "", "picture": "a text", "steps": [], "sounds": {}}"#,
      #"{"title": "", "picture": {"sha256": "abc"}, "steps": [], "sounds": {}}"#,
    ])
  func invalidProperty(document: String) throws {
    try recipes.put("a", JSONValue(parsing: Array(document.utf8)))
    let error = #expect(throws: (any Error).self) { try recipes.get("a", as: Recipe.self) }
    #expect("\(try #require(error))".contains("picture"))
  }

  @Test("an asset that is nowhere is refused, and the error has its pointer")
  func missing() throws {
    let nowhere = try Asset(sha256: String(repeating: "0", count: 64))
    let error = #expect(throws: SatchelError.self) {
      try recipes.put("a", Recipe(title: "", steps: [nowhere]))
    }
    #expect(error?.code == .constraint)
    #expect(error?.details.pointer == "/steps/0/_asset/sha256")
  }

  // It looked for its former references in tables that the store does not have.
  @Test("a record of a store without assets is refused a missing asset, too")
  func missingInStoreWithoutAssets() throws {
    let nowhere = try Asset(sha256: String(repeating: "0", count: 64))
    try recipes.put("a", Recipe(title: "Soup"))
    let error = #expect(throws: SatchelError.self) {
      try recipes.put("a", Recipe(title: "", picture: nowhere))
    }
    #expect(error?.code == .constraint)
    try recipes.put("a", Recipe(title: "", picture: Asset(url: "https://example.org/a")))
    #expect(try store.check() == [])
  }

  @Test("a reference is read from its object, from the object's value, from a SHA-256 and from a URL")
  func forms() throws {
    let digest = String(repeating: "0a", count: 32)
    let asset = try Asset(sha256: digest)
    for form: JSONValue in [asset.json, ["sha256": .string(digest)], .string(digest)] {
      #expect(try Asset(json: form) == asset)
    }
    #expect(try Asset(json: "https://example.org/a") == Asset(url: "https://example.org/a"))
  }

  @Test(
    "what is no reference is refused with the pointer of the member",
    arguments: [
      (JSONValue.null, ""), (7, ""), ("../../etc/passwd", ""), ([:], ""), (["_asset": []], "/_asset"),
      (["_asset": ["sha256": "abc"]], "/_asset/sha256"), (["url": "ftp://a/b"], "/url"),
      (["_asset": ["url": "http://a/b", "size": -1]], "/_asset/size"),
      (["_asset": ["url": "http://a/b", "type": "a\nb"]], "/_asset/type"),
    ] as [(JSONValue, String)])
  func invalid(value: JSONValue, pointer: String) {
    let error = #expect(throws: JSONError.self) { try Asset(json: value) }
    #expect(error?.pointer == pointer)
  }

  @Test("a writer that has refused bytes refuses what follows, and nothing is put")
  func stickyFailure() throws {
    let error = #expect(throws: SatchelError.self) {
      try store.assets.put(maxSize: 10) { writer in
        try? writer.append([UInt8](repeating: 1, count: 11))
        try? writer.append([2])
      }
    }
    #expect(error?.code == .full)
    #expect(try store.assets.list().assets.isEmpty)
  }

  @Test("the media type of a variant is kept with it")
  func variantType() throws {
    let picture = try store.assets.put([1, 2, 3])
    for _ in 0..<2 {
      let variant = try store.assets.variant(of: picture, named: "first") { reader in
        (bytes: try reader.read(1, at: 0), type: "image/x-first")
      }
      #expect(variant.type == "image/x-first" && variant.size == 1)
    }
  }

  @Test("the store cannot be closed by a function that it calls")
  func closing() throws {
    let error = #expect(throws: SatchelError.self) { try store.assets.put { _ in try store.close() } }
    #expect(error?.code == .busy)
    let picture = try store.assets.put([1])
    let other = #expect(throws: SatchelError.self) {
      try store.assets.variant(of: picture, named: "a") { _, _ in
        try store.close()
        return nil
      }
    }
    #expect(other?.code == .busy)
  }

  @Test("the bytes are a stream of parts, and a stream of parts is put")
  func streams() async throws {
    for count in [0, 5, 100_000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let parts = AsyncStream<[UInt8]> { continuation in
        for start in stride(from: 0, to: count, by: 3000) {
          continuation.yield(Array(bytes[start..<min(count, start + 3000)]))
        }
        continuation.finish()
      }
      let asset = try await store.assets.put(from: parts, type: "image/png")
      #expect(asset.size == Int64(count) && asset.type == "image/png")
      var read: [UInt8] = []
      for try await part in try store.assets.open(asset).chunks(from: Int64(min(count, 2)), of: 1000) {
        #expect(part.count <= 1000)
        read += part
      }
      #expect(read == Array(bytes.dropFirst(2)))
    }
    let reader = try store.assets.open(store.assets.put([1]))
    #expect(throws: SatchelError.self) { try reader.chunks(of: 0) }
    #expect(throws: SatchelError.self) { try reader.chunks(from: -1) }
  }

  @Test("a stream of parts that fails, or is too long, puts nothing")
  func brokenStream() async throws {
    struct Lost: Error {}
    let broken = AsyncThrowingStream<[UInt8], any Error> { continuation in
      continuation.yield([UInt8](repeating: 1, count: 100_000))
      continuation.finish(throwing: Lost())
    }
    await #expect(throws: Lost.self) { try await store.assets.put(from: broken) }
    let long = AsyncStream<[UInt8]> { continuation in
      continuation.yield([1, 2, 3])
      continuation.finish()
    }
    let error = await #expect(throws: SatchelError.self) {
      try await store.assets.put(from: long, maxSize: 2)
    }
    #expect(error?.code == .full)
    #expect(try store.assets.list().assets.isEmpty)
  }
}
