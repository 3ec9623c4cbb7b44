import Foundation
import Satchel
import Testing

@Suite("Pruning for space")
struct PruneSpaceTests {
  private func prune(_ shelf: Shelf, _ set: (inout PruneOptions) -> Void) throws -> PruneReceipt {
    var options = PruneOptions()
    set(&options)
    let receipt = try shelf.catalogue.prune(options)
    try shelf.expectSound()
    return receipt
  }

  @Test("a byte budget takes what expired, then the least recently used, the active location last")
  func budget() throws {
    let shelf = try Shelf(onDisk: true)
    let body = String(repeating: "x", count: 60_000)
    let places = try (0..<8).map { try place("fr", "area \($0)") }
    _ = try prune(shelf) { $0.expired = true }
    // A budget counts the whole file: tables that hold nothing, and what the sections take beside their bodies.
    let empty = shelf.fileSize
    for (position, location) in places.enumerated() {
      shelf.clock.advance(hour)
      let life = position == 7 ? "1" : "1000"
      try shelf.persist(
        "s", #"{"x":{"v":"\#(body)",\#(tag("s:1", "adminarea", hours: life))}}"#, at: location)
    }
    try shelf.catalogue.setActiveLocation(places[0])
    shelf.clock.advance(hour)
    _ = try shelf.catalogue.load("s", at: places[1])
    // Asking for an entity is no use of a context.
    func left() throws -> [Int] {
      try places.indices.filter { try shelf.catalogue.entity("s:1", at: places[$0]) != nil }
    }
    let first = try prune(shelf) {
      $0.expired = false
      $0.maxBytes = empty + 480_000
    }
    #expect(first.entities == 1 && first.contexts == 0)
    #expect(try left() == [0, 1, 2, 3, 4, 5, 6])
    let second = try prune(shelf) {
      $0.expired = false
      $0.maxBytes = empty + 300_000
    }
    #expect(second.bytes == second.entities * (60_000 + 8))
    #expect(shelf.fileSize <= empty + 300_000)
    #expect(try [[0, 1, 6], [0, 1, 5, 6], [0, 1, 4, 5, 6]].contains(left()))
    let third = try prune(shelf) {
      $0.expired = false
      $0.maxBytes = empty + 120_000
    }
    #expect(third.contexts > 0 && shelf.fileSize <= empty + 120_000)
    #expect(try left() == [0])
    #expect(
      try prune(shelf) {
        $0.expired = false
        $0.maxBytes = 0
      }.contexts == 1)
    #expect(try left() == [])
  }

  @Test("the file on disk shrinks by what the receipt says")
  func fileShrinks() throws {
    let shelf = try Shelf(onDisk: true)
    let body = String(repeating: "x", count: 3_000)
    for section in 0..<10 {
      let items = (0..<100).map { #"{"v":"\#(body)",\#(tag("s:\(section)-\($0)", "country", hours: "1"))}"# }
      try shelf.persist("s\(section)", "[\(items.joined(separator: ","))]", at: place("fr"))
    }
    try shelf.reopen()
    let before = shelf.fileSize
    shelf.clock.advance(hour)
    let receipt = try shelf.catalogue.prune()
    #expect(receipt.entities == 1000 && receipt.bytes == 1000 * 3_008)
    #expect(receipt.fileBytes > receipt.bytes * 9 / 10)
    #expect(before - shelf.fileSize == Int64(receipt.fileBytes))
    try shelf.expectSound()
  }

  @Test("pruning where nothing has expired looks at no entity, however many there are")
  func cost() throws {
    let shelf = try Shelf()
    for section in 0..<8 {
      let items = (0..<1000).map {
        #"{"v":1,\#(tag("s:\(section)-\($0)", "country", hours: section == 3 ? "1" : "9"))}"#
      }
      try shelf.persist("s\(section)", "[\(items.joined(separator: ","))]", at: place("fr"))
    }
    // What looks at the entities of one block of 256 rows.
    let look = "expires_at <="
    #expect(try shelf.runs(of: look) { _ = try shelf.catalogue.prune() } == 0)
    shelf.clock.advance(hour)
    // A thousand have expired; blocks of 256 rows at either end hold others beside them.
    var gone = 0
    let cost = try shelf.runs(of: look) { gone = try shelf.catalogue.prune().entities }
    #expect(gone == 1000 && cost > 0 && cost <= 5)
    #expect(try shelf.runs(of: look) { gone = try shelf.catalogue.prune().entities } == 0)
    #expect(gone == 0)
  }
}
