import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

@Suite("Content that is delivered again")
struct SameContentTests {
  /// Returns a section of many entities, some nested, in the order of a seed.
  private func section(seed: UInt64, rating: Int = 1, spelling: Bool = false) -> String {
    var random = SeededRandom(seed: seed)
    func object(_ members: [String]) -> String {
      let members = seed == 0 ? members : members.shuffled(using: &random)
      return spelling
        ? "{ " + members.joined(separator: " ,\n\t") + " }" : "{\(members.joined(separator: ","))}"
    }
    let entities = (0..<200).map { number -> String in
      var members = [
        #""name":"Entity \#(number)""#, #""rating":\#(spelling ? "\(rating).50e0" : "\(rating).5")"#,
        spelling ? #""te\u0078t":"\u0041 é""# : #""text":"A é""#,
        #""cards":\#(object([#""a":[1,2,{"x":null,"y":true}]"#, #""b":-0.25"#]))"#,
        tag("s:\(number)", number % 2 == 0 ? "country" : "locality", hours: "5"),
      ]
      if number % 10 == 0 {
        members.append(#""inner":\#(object([#""deep":1"#, tag("s:in\(number)", "global")]))"#)
        members.append(#""other":\#(object([#""deep":2"#, tag("s:other\(number)", "global")]))"#)
      }
      // More than a few members, which are found by a table.
      if number == 7 { members += (0..<40).map { #""k\#($0)":\#($0)"# } }
      return #""Title \#(number)":\#(object(members))"#
    }
    let content = object(entities + [#""note":"inline""#])
    let config = object([#""icon":"bowl""#, #""columns":2"#])
    return object([
      #""section":"s""#, #""display_title":"Title""#, #""config":\#(config)"#, #""content":\#(content)"#,
    ])
  }

  private func persist(_ fixture: CatalogueFixture, _ text: String) throws -> Receipt {
    try Array(text.utf8).withUnsafeBytes {
      try fixture.catalogue.persist($0, at: place("fr", "ara", "Lyon"))
    }
  }

  @Test(
    "in another order and with other encodings writes nothing, and notifies no observer", arguments: 0..<4)
  func again(seed: UInt64) throws {
    let fixture = try CatalogueFixture()
    #expect(try persist(fixture, section(seed: 0)).saved == 240)
    let (before, shown) = (try fixture.dump(), try fixture.shown("s", at: place("fr", "ara", "Lyon")))
    let changes = Mutex(0)
    let observation = try fixture.satchel.observe { _ in changes.withLock { $0 += 1 } }
    let receipt = try persist(fixture, section(seed: seed, spelling: seed % 2 == 1))
    #expect((receipt.saved, receipt.updated, receipt.reused, receipt.bytes) == (0, 0, 240, 0))
    #expect(try fixture.dump() == before)
    // Later, only the expiry is renewed.
    fixture.clock.advance(hour)
    #expect(try persist(fixture, section(seed: seed + 10)).reused == 240)
    let after = try fixture.dump()
    #expect(after.count == before.count)
    for (row, old) in zip(after, before) where row != old {
      let table = String(decoding: row[0], as: UTF8.self)
      // The expiry of an entity, or when its section was fetched.
      let changed = row.indices.filter { row[$0] != old[$0] }
      #expect(
        table == "entity" ? changed == [7] : table == "section" && changed == [8], "\(table) \(changed)")
    }
    #expect(changes.withLock { $0 } == 0)
    #expect(try fixture.catalogue.sections(at: place("fr", "ara", "Lyon"))[0].updatedAt == 1_700_000_000_000)
    #expect(try fixture.shown("s", at: place("fr", "ara", "Lyon")) == shown)
    observation.cancel()
    try fixture.expectSound()
  }

  @Test("observers are notified of the changes only")
  func changed() throws {
    let fixture = try CatalogueFixture()
    _ = try persist(fixture, section(seed: 0))
    let keys = Mutex<[[String]]>([])
    let observation = try fixture.satchel.observe { change in keys.withLock { $0.append(change.keys) } }
    let text = section(seed: 3).replacing(#""name":"Entity 5""#, with: #""name":"Entity five""#)
    let receipt = try persist(fixture, text)
    #expect((receipt.saved, receipt.updated, receipt.reused) == (0, 1, 239))
    // A title alone, and a value of the template.
    _ = try persist(fixture, text.replacing(#""display_title":"Title""#, with: #""display_title":"New""#))
    _ = try persist(fixture, text.replacing(#""note":"inline""#, with: #""note":"other""#))
    #expect(keys.withLock { $0 } == [["s", "s:5"], ["s"], ["s"]])
    observation.cancel()
  }

  @Test("another type, length or place of an entity is another value")
  func different() throws {
    let values = [
      "1", "1.0", "\"1\"", "[1]", "[1,2]", "[2,1]", "{}", "{\"a\":1}", "{\"b\":1}", "null", "true",
    ]
    for value in values {
      for other in values {
        let fixture = try CatalogueFixture()
        let here = try place("fr")
        try fixture.persist("s", #"{"x":{"v":\#(value),\#(tag("s:1", "country"))}}"#, at: here)
        let receipt = try fixture.persist("s", #"{"x":{\#(tag("s:1", "country")),"v":\#(other)}}"#, at: here)
        #expect(receipt.updated == (value == other ? 0 : 1), "\(value) \(other)")
      }
    }
    let fixture = try CatalogueFixture()
    let here = try place("fr")
    func pair(_ first: String, _ second: String) -> String {
      #"{"a":{"n":\#(first),\#(tag("s:1", "country"))},"items":[\#(second)]}"#
    }
    let (one, two) = (#"{"v":0,\#(tag("s:2", "country"))}"#, #"{"v":0,\#(tag("s:3", "country"))}"#)
    try fixture.persist("s", pair(one, two), at: here)
    #expect(try fixture.persist("s", pair(two, one), at: here).updated == 1)
    #expect(try fixture.shown("s", at: here) == #"{"a":{"n":{"v":0}},"items":[{"v":0}]}"#)
    #expect(try fixture.persist("s", pair("0", two), at: here).updated == 1)
    #expect(try fixture.shown("s", at: here) == #"{"a":{"n":0},"items":[{"v":0}]}"#)
    try fixture.expectSound()
  }
}
