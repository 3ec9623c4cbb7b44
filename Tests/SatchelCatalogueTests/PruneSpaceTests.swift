import Foundation
import Satchel
import Testing

@Suite("Pruning for space")
struct PruneSpaceTests {
  private func prune(_ fixture: CatalogueFixture, _ set: (inout PruneOptions) -> Void) throws -> PruneReceipt
  {
    var options = PruneOptions()
    set(&options)
    let receipt = try fixture.catalogue.prune(options)
    try fixture.expectSound()
    return receipt
  }

  @Test("a byte budget removes expired content, then the least recently used; the active location stays")
  func budget() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let body = String(repeating: "x", count: 60_000)
    let places = try (0..<8).map { try place("fr", "area \($0)") }
    for (position, location) in places.enumerated() {
      fixture.clock.advance(hour)
      let life = position == 7 ? "1" : "1000"
      try fixture.persist(
        "s", #"{"x":{"v":"\#(body)",\#(tag("s:1", "adminarea", hours: life))}}"#, at: location)
    }
    try fixture.catalogue.setActiveLocation(places[0])
    fixture.clock.advance(hour)
    _ = try fixture.catalogue.load("s", at: places[1])
    // Reading an entity does not count as a use of a context.
    func left() throws -> [Int] {
      try places.indices.filter { try fixture.catalogue.entity("s:1", at: places[$0]) != nil }
    }
    let first = try prune(fixture) {
      $0.expired = false
      $0.maxBytes = 480_000
    }
    #expect(first.entities == 1 && first.contexts == 0)
    #expect(first.overBudget == 0 && (420_000...421_000).contains(first.liveBytes ?? 0))
    #expect(try left() == [0, 1, 2, 3, 4, 5, 6])
    let second = try prune(fixture) {
      $0.expired = false
      $0.maxBytes = 300_000
    }
    #expect(second.bytes == second.entities * (60_000 + 8))
    #expect(try left() == [0, 1, 5, 6])
    let third = try prune(fixture) {
      $0.expired = false
      $0.maxBytes = 120_000
    }
    #expect(third.contexts > 0 && third.overBudget == 0)
    #expect(try left() == [0])
    fixture.clock.advance(2000 * hour)
    let last = try prune(fixture) {
      $0.expired = false
      $0.maxBytes = 1000
    }
    #expect(last.contexts == 0 && last.entities == 0)
    #expect(last.overBudget == (last.liveBytes ?? 0) - 1000 && last.overBudget > 59_000)
    #expect(try fixture.catalogue.load("s", at: places[0], allowExpired: true)?.content["x"] != nil)
    try fixture.catalogue.setActiveLocation(nil)
    let all = try prune(fixture) {
      $0.expired = false
      $0.maxBytes = 0
    }
    #expect(all.contexts == 1 && all.liveBytes == 0 && all.overBudget == 0)
    #expect(try left() == [])
    #expect(try prune(fixture) { _ in }.liveBytes == nil)
  }

  @Test("what the other options select does not restrict a byte budget, and other subjects do not count")
  func restrictions() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let here = try place("fr", "area")
    try fixture.persist(
      "s", #"{"x":{"v":"\#(String(repeating: "x", count: 9_000))",\#(tag("s:1", "adminarea"))}}"#, at: here)
    let records = try fixture.satchel.records("docs")
    try records.put("a", ["t": .string(String(repeating: "y", count: 100_000))])
    let kept = try prune(fixture) { $0.maxBytes = 20_000 }
    #expect(kept.contexts == 0 && (9_000...9_500).contains(kept.liveBytes ?? 0))
    let gone = try prune(fixture) {
      $0.scope = .country
      $0.section = "other"
      $0.maxBytes = 5_000
    }
    #expect(gone.entities == 1 && gone.overBudget == 0)
  }

  @Test("the file on disk shrinks by the bytes in the receipt")
  func fileShrinks() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let body = String(repeating: "x", count: 3_000)
    for section in 0..<10 {
      let items = (0..<100).map { #"{"v":"\#(body)",\#(tag("s:\(section)-\($0)", "country", hours: "1"))}"# }
      try fixture.persist("s\(section)", "[\(items.joined(separator: ","))]", at: place("fr"))
    }
    try fixture.reopen()
    let before = fixture.fileSize
    fixture.clock.advance(hour)
    let receipt = try fixture.catalogue.prune()
    #expect(receipt.entities == 1000 && receipt.bytes == 1000 * 3_008)
    #expect(receipt.fileBytes > receipt.bytes * 9 / 10)
    #expect(before - fixture.fileSize == Int64(receipt.fileBytes))
    try fixture.expectSound()
  }

  @Test("pruning without expired entities reads no entity")
  func cost() throws {
    let fixture = try CatalogueFixture()
    for section in 0..<8 {
      let items = (0..<1000).map {
        #"{"v":1,\#(tag("s:\(section)-\($0)", "country", hours: section == 3 ? "1" : "9"))}"#
      }
      try fixture.persist("s\(section)", "[\(items.joined(separator: ","))]", at: place("fr"))
    }
    // The statement that reads the entities of one block of 256 rows.
    let statement = "expires_at <="
    #expect(try fixture.runs(of: statement) { _ = try fixture.catalogue.prune() } == 0)
    fixture.clock.advance(hour)
    // A thousand have expired; the first and the last block of 256 rows also have others.
    var removed = 0
    let cost = try fixture.runs(of: statement) { removed = try fixture.catalogue.prune().entities }
    #expect(removed == 1000 && cost > 0 && cost <= 5)
    #expect(try fixture.runs(of: statement) { removed = try fixture.catalogue.prune().entities } == 0)
    #expect(removed == 0)
  }
}
