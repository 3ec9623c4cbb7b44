import Satchel
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelJSON

/// The warnings of documents with strings that should be assets.
@Suite("Large strings")
struct LargeStringTests {
  private let directory: TemporaryDirectory
  private let store: Store
  private let notes: RecordCollection
  private let large = JSONValue.string(String(repeating: "x", count: LargeStrings.max + 1))
  private let largest = JSONValue.string(String(repeating: "x", count: LargeStrings.max))

  init() throws {
    directory = try TemporaryDirectory()
    store = try Store(path: directory.path + "/notes.satchel")
    notes = try store.records("notes")
  }

  private static let reason = "a string of 1048577 bytes; put such content as an asset, and refer to it"

  @Test("have warnings with their pointers in the receipt, and are stored as they are")
  func receipt() throws {
    let document: JSONValue = [
      "title": largest, "pictures": [["a/b": large], "small"], "~": large, "more": [1, true, .null],
    ]
    let receipt = try notes.put("n", document)
    #expect(receipt.warnings.map(\.pointer) == ["/pictures/0/a~1b", "/~0"])
    #expect(receipt.warnings.allSatisfy { $0.reason == Self.reason })
    #expect(try notes.get("n")?.document == document)
    #expect(try notes.put("n", ["title": largest]).warnings == [])
    #expect(try notes.put("n", [:]).warnings == [])
  }

  @Test("are found where a key has escapes, and numbers of a megabyte are not")
  func escapes() throws {
    let text = String(repeating: "1", count: LargeStrings.max + 2)
    let bytes = Array(#"{"\u0061\/": "\#(text)", "n": \#(text)}"#.utf8)
    let receipt = try bytes.withUnsafeBytes { try notes.put("n", $0) }
    #expect(receipt.warnings.map(\.pointer) == ["/a~1"])
  }

  @Test("are found in a changed document, a typed one, and one of many")
  func otherWrites() throws {
    try notes.put("n", ["title": "a"])
    #expect(try notes.update("n", ["picture": large]).warnings.map(\.pointer) == ["/picture"])
    struct Note: Codable { var picture: String }
    let picture = String(repeating: "x", count: LargeStrings.max + 1)
    #expect(try notes.put("typed", Note(picture: picture)).warnings.map(\.pointer) == ["/picture"])
    let documents: [(String, JSONValue)] = [("a", ["n": 1]), ("b", ["picture": large])]
    let report = try notes.putValid(documents)
    #expect(report.written == 2 && report.warnings.map(\.pointer) == ["/1/document/picture"])
    let many = Array(#"{"a": {"n": 1}, "b": {"c": "\#(picture)"}}"#.utf8)
    let written = try many.withUnsafeBytes { try notes.putManyWarning($0) }
    #expect(written.count == 2 && written.warnings.map(\.pointer) == ["/b/c"])
  }

  @Test("have warnings when the write is spooled")
  func spooled() throws {
    var options = StoreOptions()
    options.busyTimeout = 1
    let impatient = try Store(path: directory.path + "/notes.satchel", options: options).records("notes")
    try store.batch {
      let receipt = try impatient.put("n", ["a": large])
      #expect(receipt.isSpooled && receipt.warnings.map(\.pointer) == ["/a"])
    }
  }

  @Test("of the state have warnings, and are set")
  func state() throws {
    #expect(try store.state.set("photo", large).map(\.pointer) == [""])
    #expect(try store.state.set("photo", ["of": large]).map(\.pointer) == ["/of"])
    #expect(try store.state.set("theme", "dark") == [])
    #expect(try store.state.get("photo") == ["of": large])
  }

  @Test("of a section are problems of its receipt, in entities too")
  func catalogue() throws {
    let porto = try Location(json: ["locality": "Porto", "country_code": "PT"])
    let entity: JSONValue = [
      "picture": large, "_storage": ["entity_id": "facts:a", "scope": "locality"],
    ]
    let section: JSONValue = ["section": "facts", "content": ["map": large, "a": entity]]
    let receipt = try store.catalogue.persist(section, at: porto)
    #expect(receipt.problems.map(\.pointer) == ["/content/map", "/content/a/picture"])
    #expect(receipt.problems.first?.reason == Self.reason)
    #expect(receipt.saved == 1)
  }

  @Test("beyond the limit of a document, the error names assets")
  func limits() throws {
    let synced = try store.records("synced", synced: true)
    let huge = JSONValue.string(String(repeating: "x", count: 33 << 20))
    #expect { try synced.put("n", ["a": huge]) } throws: { "\($0)".contains("put large content as assets") }
    #expect { try store.state.set("v", huge) } throws: { "\($0)".contains("put large content as assets") }
  }
}
