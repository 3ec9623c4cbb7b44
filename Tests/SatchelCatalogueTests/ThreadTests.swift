import Foundation
import Satchel
import Synchronization
import Testing

@Suite("Threads")
struct ThreadTests {
  private static let entities = 40

  private func section(_ generation: Int) -> [UInt8] {
    let items = (0..<Self.entities).map { item in
      #"{"g":\#(generation),"in":{"g":\#(generation),\#(tag("n:\(item)", "adminarea"))},\#(tag("s:\(item)", "adminarea"))}"#
    }
    return Array(
      CatalogueFixture.section("s", #"{"g":\#(generation),"items":[\#(items.joined(separator: ","))]}"#).utf8)
  }

  /// Returns all generations in a loaded section.
  private func generations(_ value: JSONValue) -> Set<Int64> {
    switch value {
    case .object(let object):
      object.reduce(into: []) { found, member in
        if member.key == "g", let number = member.value.intValue { found.insert(number) }
        found.formUnion(generations(member.value))
      }
    case .array(let elements): elements.reduce(into: []) { $0.formUnion(generations($1)) }
    default: []
    }
  }

  /// The counts and findings of the threads of one run.
  private final class Tally: Sendable {
    let next = Atomic(1)
    let reads = Atomic(0)
    let prunes = Atomic(0)
    private let problems = Mutex<[String]>([])

    var isEnough: Bool {
      next.load(ordering: .relaxed) > 10 && reads.load(ordering: .relaxed) > 10
        && prunes.load(ordering: .relaxed) > 1
    }

    func report(_ text: String) { problems.withLock { if $0.count < 20 { $0.append(text) } } }
    var reported: [String] { problems.withLock { $0 } }
  }

  @Test("eight threads persist, read and prune one store: no error, and no reader sees two generations")
  func all() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let places = try (0..<3).map { try place("fr", "area \($0)") }
    for location in places {
      _ = try section(0).withUnsafeBytes { try fixture.catalogue.persist($0, at: location) }
    }
    let (catalogue, tally, end) = (fixture.catalogue, Tally(), Date(timeIntervalSinceNow: 2.5))
    onThreads(8) { thread in
      // A busy machine takes longer to make progress.
      while Date() < end || !tally.isEnough && Date() < end + 120 {
        do {
          switch thread {
          case 0...2:
            try self.persist(tally.next.add(1, ordering: .relaxed).newValue, places[thread], catalogue)
          case 3:
            var options = PruneOptions()
            options.unreferenced = true
            try catalogue.prune(options)
            tally.prunes.add(1, ordering: .relaxed)
          default: try self.read(places[thread % 3], catalogue, tally)
          }
        } catch { tally.report("thread \(thread): \(error)") }
      }
    }
    #expect(tally.reported == [])
    #expect(tally.isEnough)
    try fixture.expectSound()
  }

  private func persist(_ generation: Int, _ location: Location, _ catalogue: Catalogue) throws {
    _ = try section(generation).withUnsafeBytes { try catalogue.persist($0, at: location) }
    // Short-lived entities exercise the index.
    let passing = CatalogueFixture.section(
      "t", #"[{"v":1,\#(tag("t:\(generation)", "global", hours: "0"))}]"#)
    try Array(passing.utf8).withUnsafeBytes { _ = try catalogue.persist($0, at: location) }
  }

  private func read(_ location: Location, _ catalogue: Catalogue, _ tally: Tally) throws {
    guard let loaded = try catalogue.load("s", at: location) else { return tally.report("a section is gone") }
    let found = generations(loaded.content)
    if found.count != 1 { tally.report("torn: \(found)") }
    if !loaded.missing.isEmpty { tally.report("missing: \(loaded.missing)") }
    let count = loaded.content["items"]?.arrayValue?.filter { $0["in"] != nil }.count
    if count != Self.entities { tally.report("\(count ?? -1) entities") }
    let header = try catalogue.sections(at: location).first
    if header?.entityCount != Self.entities * 2 { tally.report("\(header?.entityCount ?? -1) in the header") }
    if try catalogue.entity("n:7", at: location) == nil { tally.report("n:7 is not found") }
    tally.reads.add(1, ordering: .relaxed)
  }
}
