import Foundation
import Satchel
import SatchelTesting
import Testing

/// Pages of zeros are what a disk gives for bad sectors: rows are gone, and so are the ends of long values.
@Suite("Offline regions after a recovery")
struct RegionRecoveryTests {
  /// A section of entities of all sizes, one nested in each other and some shared by all places; with a long title, config
  /// and template.
  private static func section(_ name: String, at place: Int, _ random: inout SeededRandom) -> JSONValue {
    func text(_ random: inout SeededRandom) -> JSONValue {
      // Where a value ends within its last page differs, so that some pages have only the end of it.
      let size = random.once(in: 3) ? random.below(9000) : random.below(60)
      return .string(String(repeating: "text of \(name) ", count: size / 13 + 1))
    }
    func entity(_ id: String, _ scope: String, _ members: JSONObject) -> JSONValue {
      var members = members
      members["_storage"] = ["entity_id": .string("\(name):\(id)"), "scope": .string(scope)]
      return .object(members)
    }
    var items: [JSONValue] = []
    for number in 0..<(random.once(in: 4) ? 150 : 5) {
      let inner = entity("inner_\(place)_\(number)", "sublocality", ["text": text(&random)])
      let members: JSONObject =
        random.once(in: 5) ? ["text": text(&random), "inner": inner] : ["number": .int(Int64(number))]
      items.append(entity("\(place)_\(number)", "sublocality", members))
    }
    // The same from every place.
    items.append(
      entity(
        "shared", "country",
        ["name": .string(name), "inner": entity("deep", "country", ["name": .string("in \(name)")])]))
    return [
      "section": .string(name), "display_title": text(&random), "config": ["text": text(&random)],
      "more": text(&random), "content": ["items": .array(items), "about": text(&random)],
    ]
  }

  private static func source(_ random: inout SeededRandom) throws -> RegionSource {
    let source = RegionSource()
    for place in 0..<3 {
      let sections = ["food", "sights", "trips"].map { section($0, at: place, &random) }
      source.set(try City.location(place), try JSONValue.array(sections).text, etag: "e\(place)")
    }
    return source
  }

  /// All that is shown of the region's places, or why it is not.
  private static func shown(_ store: Store) throws -> [String] {
    try (0..<3).flatMap { number in
      let place = try City.location(number)
      return try store.catalogue.sections(at: place, inherit: false).map { header in
        let content = try store.catalogue.load(header.section, at: place, inherit: false)?.content.text
        let title = header.displayTitle ?? "-"
        let rest = try JSONValue.array([header.config, .object(header.extra)]).text
        return "\(number) \(header.section) \(title) \(rest) \(content ?? "-")"
      }.sorted()
    }
  }

  @Test(
    "What pages of zeros have cost is missing after a recovery, and a download gets all of it again",
    arguments: Portion.seeds(0..<300, parts: 30))
  func zeroedPages(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let source = try Self.source(&random)
    let store = try CatalogueFixture(onDisk: true)
    let definition = try City.region(0..<3)
    try store.catalogue.regions.create("trip", definition).download(from: source)
    let before = try Self.shown(store.satchel)
    try store.satchel.close()

    var bytes = try Data(contentsOf: URL(filePath: store.path))
    let pages = (0..<1 + random.below(4)).map { _ in 1 + random.below(bytes.count / 4096 - 1) }
    for page in pages {
      bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
    }
    try bytes.write(to: URL(filePath: store.path))
    let directory = try TemporaryDirectory()
    _ = try Store.recover(store.path, into: directory.path + "/recovered")
    let recovered = try Store(path: directory.path + "/recovered")
    defer { try? recovered.close() }
    #expect(try recovered.check().map(\.message) == [], "pages \(pages)")
    let region =
      try recovered.catalogue.regions["trip"] ?? recovered.catalogue.regions.create("trip", definition)
    #expect(try region.download(from: source).state == .complete, "pages \(pages)")
    let after = try Self.shown(recovered)
    for (one, other) in zip(before, after) where one != other {
      Issue.record("pages \(pages): \(one.prefix(60)) … is now \(other.prefix(60)) …")
    }
    #expect(after.count == before.count, "pages \(pages)")
    #expect(try recovered.check().map(\.message) == [], "pages \(pages)")
  }
}
