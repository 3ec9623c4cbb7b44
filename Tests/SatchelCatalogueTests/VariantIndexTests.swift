import Foundation
import Satchel
import Testing

@testable import SatchelCatalogue

@Suite("The deferred index")
struct VariantIndexTests {
  private let here: Location

  init() throws { here = try place("fr", "ara", "Lyon") }

  private func content(_ ids: some Sequence<Int>, version: Int = 0) -> String {
    "[" + ids.map { #"{"v":\#(version),\#(tag("s:\($0)", "country"))}"# }.joined(separator: ",") + "]"
  }

  private func expectOneCopyEach(_ shelf: Shelf, count: Int, _ place: SourceLocation = #_sourceLocation)
    throws
  {
    let variants = try shelf.variants()
    #expect(variants.count == count, sourceLocation: place)
    #expect(Set(variants).count == variants.count, sourceLocation: place)
    try shelf.expectSound(place)
  }

  private func indexed(_ shelf: Shelf) throws -> Int64 {
    try shelf.catalogue.database.read {
      try $0.number("SELECT ifnull(sum(length(entries)), 0) / 16 FROM entity_index")
    }
  }

  @Test("after the end of the process, with part of the entities merged, nothing is stored twice")
  func crash() throws {
    let shelf = try Shelf(onDisk: true)
    for part in 0..<6 { try shelf.persist("s\(part)", content(part * 2000..<(part + 1) * 2000), at: here) }
    #expect(try indexed(shelf) > 0 && indexed(shelf) < 12_000)
    let copy = try shelf.crashedCopy()
    for part in 0..<6 {
      let receipt = try copy.persist("s\(part)", content(part * 2000..<(part + 1) * 2000), at: here)
      #expect(receipt.saved == 0 && receipt.reused == 2000)
    }
    try expectOneCopyEach(copy, count: 12_000)
    try copy.reopen()
    #expect(try indexed(copy) == 12_000)
    #expect(try copy.persist("s", content(0..<12_000, version: 1), at: here).updated == 12_000)
    try expectOneCopyEach(copy, count: 12_000)
  }

  @Test("two handles that persist the same entities in turn keep one copy of each")
  func twoHandles() throws {
    let shelf = try Shelf(onDisk: true)
    let other = try shelf.another()
    for round in 0..<12 {
      let section = Shelf.section("s\(round)", content(round * 500..<round * 500 + 1500, version: round))
      let (first, second) = round % 2 == 0 ? (shelf.satchel, other) : (other, shelf.satchel)
      try Array(section.utf8).withUnsafeBytes { _ = try first.catalogue.persist($0, at: here) }
      let receipt = try Array(section.utf8).withUnsafeBytes { try second.catalogue.persist($0, at: here) }
      #expect(receipt.reused == 1500 && receipt.saved == 0)
      if round % 5 == 4 { try second.catalogue.prune() }
    }
    try expectOneCopyEach(shelf, count: 11 * 500 + 1500)
    try other.close()
    try expectOneCopyEach(shelf, count: 11 * 500 + 1500)
  }

  @Test("what a failed transaction made is forgotten, and its rows are found again when they are really made")
  func rollback() throws {
    let shelf = try Shelf(onDisk: true)
    let other = try shelf.another()
    try shelf.persist("s", content(0..<10), at: here)
    let bad = Shelf.section("bad", "1", config: #"{"operation":"fly"}"#, action: "edit")
    for round in 1...5 {
      let good = Shelf.section("s\(round)", content(0..<round * 10))
      let text = #"{"location":{"country_code":"fr"},"sections":[\#(good),\#(bad)]}"#
      #expect(throws: SatchelError.self) {
        try Array(text.utf8).withUnsafeBytes { try shelf.catalogue.deliver($0) }
      }
      // The rows are taken by other entities now.
      let section = Shelf.section("o\(round)", content(1000 * round..<1000 * round + 15))
      try Array(section.utf8).withUnsafeBytes { _ = try other.catalogue.persist($0, at: here) }
      #expect(try shelf.persist("s", content(0..<round * 10), at: here).saved == (round == 1 ? 0 : 10))
      try expectOneCopyEach(shelf, count: round * 10 + round * 15)
    }
  }

  @Test("a large transaction that fails after it merged leaves the index as it was")
  func rollbackOfMerge() throws {
    let shelf = try Shelf(onDisk: true)
    try shelf.persist("s", content(0..<50), at: here)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try shelf.catalogue.database.write { _ in
        try shelf.persist("big", content(0..<9000), at: here)
        throw Stop()
      }
    }
    #expect(try indexed(shelf) == 0)
    #expect(try shelf.persist("s", content(0..<50), at: here).reused == 50)
    #expect(try shelf.persist("big", content(0..<9000), at: here).saved == 8950)
    try expectOneCopyEach(shelf, count: 9000)
  }

  @Test("rows of pruned entities are not taken again, so that another handle's memory stays true")
  func newestPruned() throws {
    let shelf = try Shelf(onDisk: true)
    let other = try shelf.another()
    try shelf.persist("s", content(0..<100), at: here)
    let seen = Shelf.section("seen", content(0..<100))
    try Array(seen.utf8).withUnsafeBytes { _ = try other.catalogue.persist($0, at: here) }
    var options = PruneOptions()
    options.expired = false
    options.unreferenced = true
    try shelf.persist("s", "[]", at: here)
    try shelf.persist("seen", "[]", at: here)
    #expect(try shelf.catalogue.prune(options).entities == 100)
    for (round, catalogue) in [other.catalogue, shelf.catalogue, other.catalogue].enumerated() {
      let section = Shelf.section("n", content(round * 40..<round * 40 + 60, version: round))
      let receipt = try Array(section.utf8).withUnsafeBytes { try catalogue.persist($0, at: here) }
      #expect(receipt.saved == (round == 0 ? 60 : 40) && receipt.updated == (round == 0 ? 0 : 20))
    }
    try expectOneCopyEach(shelf, count: 140)
  }

  @Test("a reader that began before another handle merged still finds every variant")
  func olderReader() throws {
    let shelf = try Shelf(onDisk: true)
    let other = try shelf.another()
    try shelf.persist("s", content(0..<5), at: here)
    let section = Shelf.section("o", content(5..<10))
    try Array(section.utf8).withUnsafeBytes { _ = try other.catalogue.persist($0, at: here) }
    try shelf.catalogue.database.read { old in
      let chain = try PlaceChain(here, in: old)
      // The first read of a transaction fixes what it sees; then the other handle merges, and a younger reader
      // of this handle learns of it.
      try other.catalogue.prune()
      try shelf.catalogue.database.read { _ = try shelf.catalogue.index.view(of: $0) }
      let view = try shelf.catalogue.index.view(of: old)
      for id in 0..<10 {
        let variant = VariantIndex.Variant(entityID: "s:\(id)", scope: .country, place: chain[.country])
        #expect(try view.find(variant) != nil, "s:\(id)")
      }
    }
  }

  @Test("a view that was made before this handle merged still finds every variant")
  func olderView() throws {
    let shelf = try Shelf(onDisk: true)
    try shelf.persist("s", content(0..<5), at: here)
    try shelf.catalogue.database.read { old in
      let chain = try PlaceChain(here, in: old)
      let view = try shelf.catalogue.index.view(of: old)
      let catalogue = shelf.catalogue
      let pruning = Thread { _ = try? catalogue.prune() }
      pruning.start()
      while !pruning.isFinished { usleep(1000) }
      for id in 0..<5 {
        let variant = VariantIndex.Variant(entityID: "s:\(id)", scope: .country, place: chain[.country])
        #expect(try view.find(variant) != nil, "s:\(id)")
      }
    }
  }
}
