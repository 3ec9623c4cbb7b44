import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("The indexes of texts and positions of records") struct RecordSearchTests {
  /// A collection, and the calls that its writes make.
  private struct Fixture {
    let shelf: RecordShelf
    let collection: RecordCollection
    let texts: RecordTextIndex
    let points: RecordPositionIndex

    init() throws {
      shelf = try RecordShelf()
      _ = try shelf.collection("others").put(
        "o", ["title": "Zabaione from elsewhere", "at": ["lat": 0, "lon": 0]])
      collection = try shelf.collection("recipes")
      texts = try RecordTextIndex(collection: collection.id, paths: ["title", "steps", "/notes/0"])
      points = try RecordPositionIndex(collection: collection.id, paths: ["at", "home"])
    }

    func row(_ id: String) throws -> Int64 {
      try shelf.database.read {
        try $0.number("SELECT id FROM record WHERE key = ? AND id > 2 << 40", .text(id))
      }
    }

    func put(_ id: String, _ document: JSONValue) throws {
      try shelf.database.write { transaction in
        try collection.put(id, document)
        let row = try transaction.connection.number(
          "SELECT max(id) FROM record WHERE key = ?", .text(id))
        let body = try RecordTable(connection: transaction.connection).body(row) ?? []
        try body.withUnsafeBytes {
          try texts.changed(row, $0, transaction.connection)
          try points.changed(row, $0, transaction.connection)
        }
      }
    }

    func delete(_ id: String) throws {
      try shelf.database.write { transaction in
        let row = try transaction.connection.number(
          "SELECT max(id) FROM record WHERE key = ?", .text(id))
        _ = try collection.delete(id)
        try texts.removed(row, transaction.connection)
        try points.removed(row, transaction.connection)
      }
    }

    func key(_ row: Int64) throws -> String {
      try shelf.database.read {
        String(decoding: try RecordTable(connection: $0).key(row) ?? [], as: UTF8.self)
      }
    }

    func search(_ text: String, _ paths: [String]? = nil, limit: Int = 20) throws -> [String] {
      try texts.update(shelf.database)
      return try shelf.database.read { try texts.search(text, paths: paths, limit: limit, $0) }
        .map { try key($0.row) }
    }

    func near(_ path: String, _ latitude: Double, _ longitude: Double, _ metres: Double) throws -> [String] {
      try points.update(shelf.database)
      return try shelf.database.read { try points.near(path, latitude, longitude, within: metres, $0) }
        .map { try key($0.row) }
    }

    func expectSound() throws {
      #expect(try shelf.database.read { try texts.fault($0) } == nil)
      #expect(try shelf.database.read { try points.fault($0) } == nil)
    }
  }

  @Test("records are found by words of the declared paths, with excerpts and highlights") func search() throws
  {
    let fixture = try Fixture()
    try fixture.put("a", ["title": "Crème brûlée", "steps": ["Whip the cream", ["text": "Burn sugar"]]])
    try fixture.put(
      "b", ["title": "Zabaione", "steps": "Whip \"eggs\"", "notes": ["日本語の本"], "hidden": "cream"])
    #expect(try fixture.search("creme") == ["a"])
    #expect(try fixture.search("crea") == ["a"])
    #expect(try fixture.search("zabaione") == ["b"])
    #expect(try fixture.search("whip", ["title"]) == [])
    #expect(try Set(fixture.search("whip", ["steps"])) == ["a", "b"])
    #expect(try fixture.search("whip", limit: 1).count == 1)
    #expect(try fixture.search("本語") == ["b"])
    #expect(try fixture.search("日本") == ["b"])
    let found = try fixture.shelf.database.read { try fixture.texts.search("brul su", limit: 5, $0) }
    #expect(found.map(\.path) == ["title"])
    #expect(found.map(\.excerpt) == ["Crème brûlée"])
    #expect(found.map(\.highlights) == [[7..<15]])
    #expect(message(.invalid) { _ = try fixture.search("x", ["hidden"]) }.contains("hidden"))
    try fixture.expectSound()
  }

  @Test("changes and deletions after the first search are found by the next one") func changes() throws {
    let fixture = try Fixture()
    try fixture.put("a", ["title": "apple", "at": ["latitude": 47.37, "longitude": 8.54]])
    #expect(try fixture.shelf.database.read { try $0.has(table: "record_text") } == false)
    #expect(try fixture.search("apple") == ["a"])
    #expect(try fixture.near("at", 47.37, 8.54, 10) == ["a"])
    try fixture.put("b", ["title": "apple pie", "at": ["lat": 47.371, "lng": 8.54]])
    try fixture.put("a", ["title": "pear", "at": ["type": "Point", "coordinates": [8.6, 47.4]]])
    #expect(try fixture.search("apple") == ["b"])
    #expect(try fixture.search("pear") == ["a"])
    #expect(try fixture.near("at", 47.37, 8.54, 10_000) == ["b", "a"])
    #expect(try fixture.near("home", 47.37, 8.54, 10_000) == [])
    try fixture.expectSound()
    try fixture.delete("b")
    #expect(try fixture.search("apple") == [])
    #expect(try fixture.near("at", 47.37, 8.54, 1_000) == [])
    try fixture.expectSound()
    try fixture.shelf.database.write { try fixture.texts.clear($0.connection) }
    #expect(try fixture.search("pear") == ["a"])
    try fixture.expectSound()
  }

  @Test("a part of the index that does not fit the documents is a fault, and is made again") func faults()
    throws
  {
    let fixture = try Fixture()
    try fixture.put("a", ["title": "apple", "at": ["lat": 1, "lon": 1]])
    _ = try (fixture.search("apple"), fixture.near("at", 1, 1, 1))
    try fixture.shelf.database.write {
      try $0.connection.execute("DELETE FROM record_text; DELETE FROM record_position")
    }
    #expect(
      try fixture.shelf.database.read { try fixture.texts.fault($0) }?.contains("does not match") == true)
    #expect(try fixture.shelf.database.read { try fixture.points.fault($0) }?.contains("1 positions") == true)
    try fixture.shelf.database.write {
      try RecordTextIndex.remake($0.connection)
      try RecordPositionIndex.remake($0.connection)
    }
    #expect(try fixture.search("apple") == ["a"])
    #expect(try fixture.near("at", 1, 1, 1) == ["a"])
    try fixture.expectSound()
  }

  @Test("positions are compared by their exact distance, also across the antimeridian", arguments: 0..<5)
  func distances(_ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let fixture = try Fixture()
    var positions: [(id: String, latitude: Double, longitude: Double)] = []
    for number in 0..<60 {
      let (latitude, longitude) = (
        Double(random.below(1800)) / 10 - 90, Double(random.below(100)) / 10 + (number % 2 == 0 ? 170 : -180)
      )
      positions.append(("p\(number)", latitude, longitude))
      // Half of them before the first search.
      if number == 30 { _ = try fixture.near("at", 0, 0, 1) }
      try fixture.put("p\(number)", ["at": ["lat": .double(latitude), "lon": .double(longitude)]])
    }
    for _ in 0..<20 {
      let (latitude, longitude) = (Double(random.below(180)) - 90, Double(random.below(360)) - 180)
      let metres = Double(random.below(3_000_000))
      let expected = positions.map {
        ($0.id, GreatCircle.distance(from: (latitude, longitude), to: ($0.latitude, $0.longitude)))
      }.filter { $0.1 <= metres }
      #expect(try Set(fixture.near("at", latitude, longitude, metres)) == Set(expected.map(\.0)))
    }
    #expect(message(.invalid) { _ = try fixture.near("at", 91, 0, 1) }.contains("91"))
  }

  @Test("paths that cannot be declared are refused") func refused() {
    #expect(message(.invalid) { _ = try RecordTextIndex(collection: 1, paths: []) }.contains("1 to 8"))
    #expect(message(.invalid) { _ = try RecordTextIndex(collection: 1, paths: ["@id"]) }.contains("@id"))
    #expect(
      message(.invalid) { _ = try RecordPositionIndex(collection: 1, paths: Array(repeating: "a", count: 5)) }
        .contains("1 to 4"))
  }
}
