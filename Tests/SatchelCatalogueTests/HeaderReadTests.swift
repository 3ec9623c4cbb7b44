import Foundation
import Satchel
import SatchelStorageTesting
import Synchronization
import Testing

@testable import SatchelStorage

@Suite("Headers read no entity")
struct HeaderReadTests {
  private func filled() throws -> (CatalogueFixture, [Location]) {
    let fixture = try CatalogueFixture(onDisk: true)
    let lines = Deliveries.lines.prefix(40)
    for line in lines { _ = try Array(line.utf8).withUnsafeBytes { try fixture.catalogue.deliver($0) } }
    var locations = try lines.prefix(5).map(Deliveries.location)
    locations.append(try place("mt", "Nowhere", "Else"))
    return (fixture, locations)
  }

  @Test("the statements for headers read no table of entities", arguments: [false, true])
  func statements(inherit: Bool) throws {
    let (fixture, locations) = try filled()
    let statements = Mutex<[String]>([])
    // One thread uses the same read connection each time.
    try fixture.catalogue.database.read {
      traceStatements(of: $0.handle) { sql in statements.withLock { $0.append(sql) } }
    }
    for location in locations.prefix(5) {
      #expect(try !fixture.catalogue.sections(at: location, inherit: inherit).isEmpty)
    }
    let headers = statements.withLock { $0 }
    #expect(headers.contains { $0.contains("FROM section ") })
    for word in [" entity", "section_content", "expiry_block"] {
      #expect(headers.filter { $0.contains(word) } == [])
    }
    // The statement trace works: loading does read entities.
    _ = try fixture.catalogue.load("country", at: locations[0])
    #expect(statements.withLock { $0 }.contains { $0.contains("FROM entity_content") })
    try fixture.catalogue.database.read { traceStatements(of: $0.handle, nil) }
  }

  @Test("the number of statements for headers does not grow with the contexts that share a level")
  func growth() throws {
    func statements(contexts: Int) throws -> Int {
      let fixture = try CatalogueFixture()
      for number in 0..<contexts {
        for name in ["a", "b", "c"] {
          try fixture.persist(
            name, #"{"x":{"v":1,\#(tag("\(name):1", "country"))}}"#, at: place("fr", "a\(number)", "t"))
        }
      }
      let here = try place("fr", "elsewhere")
      let count = Atomic(0)
      try fixture.catalogue.database.read {
        traceStatements(of: $0.handle) { _ in count.add(1, ordering: .relaxed) }
      }
      #expect(try fixture.catalogue.sections(at: here).count == 3)
      try fixture.catalogue.database.read { traceStatements(of: $0.handle, nil) }
      return count.load(ordering: .relaxed)
    }
    #expect(try statements(contexts: 300) == statements(contexts: 3))
  }

  @Test("headers are the same in a copy without entities")
  func withoutEntities() throws {
    let (fixture, locations) = try filled()
    let headers = try locations.map { try fixture.catalogue.sections(at: $0) }
    let copy = try fixture.crashedCopy()
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
