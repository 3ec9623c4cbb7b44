import Satchel
import SatchelStorage
import Testing

@testable import SatchelCatalogue

@Suite("The search index of a recovered store")
struct SearchIndexTests {
  @Test("the state of an index whose tables were lost makes no tables that the store does not list")
  func lostTables() throws {
    let fixture = try CatalogueFixture(onDisk: true)
    try fixture.persist("s", #"{"a":{"name":"lighthouse"}}"#, at: place("PT", "Porto"))
    try fixture.catalogue.database.write {
      try $0.connection.run("INSERT OR REPLACE INTO setting(key, value) VALUES('searched_through', 1)")
    }
    try fixture.catalogue.repair()
    try fixture.reopen()
    try fixture.expectSound()
    _ = try fixture.catalogue.search("lighthouse")
    try fixture.expectSound()
  }
}
