import Satchel
import SatchelTesting
import Testing

@Suite("Entities by their ids, and near a point")
struct EntityTests {
  private func town(_ name: String, _ latitude: Double, _ country: String = "it") throws -> Location {
    try Location(latitude: latitude, longitude: 12, locality: name, countryCode: country)
  }

  @Test("an id alone leads to the variant that was delivered last, and to all of them with their locations")
  func variants() throws {
    let fixture = try CatalogueFixture()
    let catalogue = fixture.catalogue
    let (venice, rome) = (try town("Venezia", 45), try town("Roma", 42))
    func content(_ value: String) -> String { #"{"x":{"v":"\#(value)",\#(tag("s:1", "locality"))}}"# }
    #expect(try catalogue.entity("s:1") == nil && catalogue.variants(of: "s:1").isEmpty)
    try fixture.persist("s", content("venice"), at: venice)
    fixture.clock.advance(1)
    try fixture.persist("s", content("rome"), at: rome)
    let last = try #require(try catalogue.entity("s:1"))
    #expect(last.content == ["v": "rome"] && last.location == rome && last.distance == nil)
    #expect(try catalogue.variants(of: "s:1").map(\.location) == [rome, venice])
    // Away from both of them, an id alone still finds it.
    #expect(try catalogue.entity("s:1", at: town("Lyon", 40, "fr")) == nil)
    let near = try #require(try catalogue.entity("s:1", at: town("Venice", 45.001)))
    #expect(near.location == venice && (111..<112).contains(near.distance ?? 0))
    fixture.clock.advance(1)
    try fixture.persist("s", content("venezia"), at: venice)
    #expect(try catalogue.entity("s:1")?.content == ["v": "venezia"])
    fixture.clock.advance(400 * hour)
    #expect(try catalogue.variants(of: "s:1").count == 2)
    #expect(try catalogue.prune().entities == 2)
    #expect(try catalogue.entity("s:1") == nil)
  }

  @Test("the entities near a point come by distance, each once")
  func near() throws {
    let fixture = try CatalogueFixture()
    for (name, latitude) in [("far", 45.03), ("middle", 45.02), ("near", 45.01), ("beyond", 46.0)] {
      let own = #""own":{"v":"\#(name)",\#(tag("s:own", "locality"))}"#
      let shared = #""shared":{"v":"all",\#(tag("s:shared", "country"))}"#
      try fixture.persist("s", "{\(own),\(shared)}", at: town(name, latitude))
      let here = tag("t:\(name)", "coordinate")
      try fixture.persist("t", #"{"x":{"v":"\#(name)",\#(here)}}"#, at: town(name, latitude))
    }
    let found = try fixture.catalogue.nearEntities(latitude: 45, longitude: 12, within: 3000)
    #expect(found.map(\.entityID) == ["s:own", "s:shared", "t:near", "s:own", "t:middle"])
    #expect(found.map(\.location?.locality) == ["near", "near", "near", "middle", "middle"])
    #expect(found.compactMap(\.distance).map { Int(($0 / 100).rounded()) } == [11, 11, 11, 22, 22])
    #expect(found[3].content == ["v": "middle"])
    let ofSection = try fixture.catalogue.nearEntities(latitude: 45, longitude: 12, section: "t")
    #expect(ofSection.map(\.entityID) == ["t:near", "t:middle", "t:far"])
    #expect(try fixture.catalogue.nearEntities(latitude: 0, longitude: 0).isEmpty)
    #expect(throws: JSONError.self) { try fixture.catalogue.nearEntities(latitude: 91, longitude: 0) }
    #expect(throws: SatchelError.self) {
      try fixture.catalogue.nearEntities(latitude: 1, longitude: 0, within: -1)
    }
  }
}
