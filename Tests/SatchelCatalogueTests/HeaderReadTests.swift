import Foundation
import Satchel
import Synchronization
import Testing

@Suite("Headers read no entity")
struct HeaderReadTests {
  private func filled() throws -> (Shelf, [Location]) {
    let shelf = try Shelf(onDisk: true)
    let lines = Deliveries.lines.prefix(40)
    for line in lines { _ = try Array(line.utf8).withUnsafeBytes { try shelf.catalogue.deliver($0) } }
    var locations = try lines.prefix(5).map(Deliveries.location)
    locations.append(try place("mt", "Nowhere", "Else"))
    return (shelf, locations)
  }

  @Test("the statements that headers run name no table of entities", arguments: [false, true])
  func statements(union: Bool) throws {
    let (shelf, locations) = try filled()
    let heard = Mutex<[String]>([])
    // One thread gets the same read connection each time.
    try shelf.catalogue.database.read { $0.trace { sql in heard.withLock { $0.append(sql) } } }
    for location in locations { #expect(try !shelf.catalogue.sections(at: location, union: union).isEmpty) }
    let headers = heard.withLock { $0 }
    #expect(headers.contains { $0.contains("FROM section ") })
    for word in [" entity", "section_content", "expiry_block"] {
      #expect(headers.filter { $0.contains(word) } == [])
    }
    // The ear is not deaf: loading does read entities.
    _ = try shelf.catalogue.load("country", at: locations[0])
    #expect(heard.withLock { $0 }.contains { $0.contains("FROM entity_content") })
    try shelf.catalogue.database.read { $0.trace(nil) }
  }

  @Test("headers are the same in a copy that has no entity left")
  func withoutEntities() throws {
    let (shelf, locations) = try filled()
    let headers = try locations.map { try shelf.catalogue.sections(at: $0) }
    let copy = try shelf.crashedCopy()
    try copy.catalogue.database.maintain {
      try $0.execute(
        "DELETE FROM entity; DELETE FROM entity_content; DELETE FROM section_content; DROP TABLE entity_index"
      )
    }
    #expect(try locations.map { try copy.catalogue.sections(at: $0) } == headers)
    #expect(headers.allSatisfy { !$0.isEmpty && $0.contains { $0.entityCount > 0 } })
    #expect(try copy.catalogue.load("country", at: locations[0]) == nil)
  }
}
