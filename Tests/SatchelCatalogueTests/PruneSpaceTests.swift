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

  @Test("a byte budget removes expired content, then the least recently used, the active location last")
  func budget() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    let body = String(repeating: "x", count: 60_000)
    let places = try (0..<8).map { try place("fr", "area \($0)") }
    _ = try prune(fixture) { $0.expired = true }
    // A budget counts the whole file, including empty tables and the sections' overhead.
    let empty = fixture.fileSize
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
      $0.maxBytes = empty + 480_000
    }
    #expect(first.entities == 1 && first.contexts == 0)
    #expect(try left() == [0, 1, 2, 3, 4, 5, 6])
    let second = try prune(fixture) {
      $0.expired = false
      $0.maxBytes = empty + 300_000
    }
    #expect(second.bytes == second.entities * (60_000 + 8))
    #expect(fixture.fileSize <= empty + 300_000)
    #expect(try [[0, 1, 6], [0, 1, 5, 6], [0, 1, 4, 5, 6]].contains(left()))
    let third = try prune(fixture) {
      $0.expired = false
      $0.maxBytes = empty + 120_000
    }
    #expect(third.contexts > 0 && fixture.fileSize <= empty + 120_000)
    #expect(try left() == [0])
    #expect(
      try prune(fixture) {
        $0.expired = false
        $0.maxBytes = 0
      }.contexts == 1)
    #expect(try left() == [])
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
