import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

/// Random writes by two handles, whose searches are compared with all documents.
@Suite("Searches of records against a model")
struct RecordSearchModelTests {
  private static let words = [
    "apple", "Äpfel", "applet", "pear", "Pére", "plum", "日本語の本", "本", "straße", "pie",
  ]

  /// The expected documents: ids in insertion order.
  private struct Model {
    var documents: [String: JSONObject] = [:]
    var order: [String] = []

    mutating func put(_ id: String, _ document: JSONObject) {
      if documents.updateValue(document, forKey: id) == nil { order.append(id) }
    }

    mutating func delete(_ id: String) {
      documents[id] = nil
      order.removeAll { $0 == id }
    }

    /// The ids of the documents that have all words of a search at the paths.
    func search(_ text: String, _ paths: [String], kind: Int64? = nil) throws -> Set<String> {
      let query = try SearchQuery(text)
      return Set(
        order.filter { id in
          guard !query.terms.isEmpty, kind.map({ documents[id]?["kind"] == .int($0) }) ?? true else {
            return false
          }
          let texts = paths.flatMap { Self.texts(documents[id]?[$0]) }
          return query.terms.allSatisfy { term in
            texts.contains { text in
              var isFound = false
              SearchTokenizer.visit(text) { isFound = isFound || query.offset(of: term, in: $0) != nil }
              return isFound
            }
          }
        })
    }

    private static func texts(_ value: JSONValue?) -> [String] {
      switch value {
      case .string(let text)?: [text]
      case .array(let elements)?: elements.flatMap { texts($0) }
      case .object(let members)?: members.flatMap { texts($0.value) }
      default: []
      }
    }

    func near(_ latitude: Double, _ longitude: Double, _ metres: Double, kind: Int64? = nil) -> [String] {
      var found: [(id: String, distance: Double)] = []
      for id in order where kind.map({ documents[id]?["kind"] == .int($0) }) ?? true {
        guard let place = documents[id]?["place"], case .double(let north)? = place["lat"],
          case .double(let east)? = place["lon"]
        else { continue }
        let distance = GreatCircle.distance(from: (latitude, longitude), to: (north, east))
        if distance <= metres { found.append((id, distance)) }
      }
      // A stable sort: the older ones first.
      return found.enumerated().sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }
        .map(\.element.id)
    }
  }

  private struct Stop: Error {}

  private static func document(_ random: inout SeededRandom) -> JSONObject {
    func text() -> JSONValue {
      .string((0..<random.below(4)).map { _ in random.pick(words) }.joined(separator: " "))
    }
    var document: JSONObject = ["kind": .int(Int64(random.below(3))), "other": text()]
    if random.chance(80) { document["title"] = text() }
    if random.chance(50) { document["steps"] = [text(), ["text": text()], 7] }
    if random.chance(70) {
      document["place"] = [
        "lat": .double(Double(random.below(1800)) / 10 - 90),
        "lon": .double(Double(random.below(3600)) / 10 - 180),
      ]
    }
    return document
  }

  @Test("the indexes have the documents of the model", arguments: Portion.of(1...8))
  func random(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let shelf = try RecordShelf(onDisk: true)
    let shelves = [shelf, try shelf.another()]
    let others = try shelf.collection("others", search: ["title"], positions: ["place"])
    try others.put("a", ["title": "apple pear plum pie 本", "place": ["lat": 1.5, "lon": 1.5]])
    let handles = try shelves.map {
      try $0.collection("notes", search: ["title", "steps"], positions: ["place"])
    }
    var model = Model()
    for _ in 0..<250 {
      let which = random.below(2)
      if random.once(in: 4) {
        let (fails, before) = (random.chance(50), model)
        do {
          try shelves[which].database.write { _ in
            for _ in 0...random.below(8) {
              try step(&model, shelves[which], handles[which], &random)
              if random.once(in: 3) { try compare(model, handles[which], &random) }
            }
            if fails { throw Stop() }
          }
        } catch is Stop {
          model = before
        }
      } else {
        try step(&model, shelves[which], handles[which], &random)
      }
      if random.once(in: 4) { try compare(model, handles[random.below(2)], &random) }
    }
    for handle in handles { try compare(model, handle, &random) }
    #expect(try others.search("pie").map(\.record.id) == ["a"])
    try shelf.expectSound()
  }

  private func step(
    _ model: inout Model, _ shelf: RecordShelf, _ notes: RecordCollection, _ random: inout SeededRandom
  ) throws {
    let id = "n\(random.below(120))"
    switch random.below(12) {
    case 0:
      #expect(try notes.delete(id) == (model.documents[id] != nil))
      model.delete(id)
    case 1 where random.once(in: 8):
      try notes.clear()
      (model.documents, model.order) = ([:], [])
    case 2:
      let many = (0..<random.below(20)).map { _ in
        ("n\(random.below(120))", Self.document(&random))
      }
      // Of several with one id the last counts.
      for (id, document) in many { model.put(id, document) }
      try notes.putMany(many.map { ($0.0, JSONValue.object($0.1)) })
    case 3:
      let kind = Int64(random.below(3))
      let patch = Self.document(&random).filter { $0.key != "kind" }
      try notes.update(
        where: .field("kind", .equals(.int(kind))), .object(JSONObject(patch.map { ($0.key, $0.value) })))
      for id in model.order where model.documents[id]?["kind"] == .int(kind) {
        for (name, value) in patch { model.documents[id]?[name] = value }
      }
    case 4 where random.once(in: 5):
      let kind = Int64(random.below(3))
      try notes.delete(where: .field("kind", .equals(.int(kind))))
      for id in model.order where model.documents[id]?["kind"] == .int(kind) { model.delete(id) }
    case 5:
      guard model.documents[id] != nil else { return }
      try notes.update(id, ["other": "apple"])
      model.documents[id]?["other"] = "apple"
    case 6:
      // A savepoint that fails, in which it may be searched.
      let document = Self.document(&random)
      var inside = model
      inside.put(id, document)
      do {
        try shelf.database.write { _ in
          try notes.put(id, .object(document))
          if random.chance(50) { try compare(inside, notes, &random) }
          throw Stop()
        }
      } catch is Stop {}
    default:
      let document = Self.document(&random)
      try notes.put(id, .object(document))
      model.put(id, document)
    }
  }

  private func compare(_ model: Model, _ notes: RecordCollection, _ random: inout SeededRandom) throws {
    let text = (0...random.below(2)).map { _ in
      String(random.pick(Self.words).prefix(1 + random.below(5)))
    }.joined(separator: " ")
    let kind: Int64? = random.once(in: 3) ? Int64(random.below(3)) : nil
    let filter = kind.map { RecordFilter.field("kind", .equals(.int($0))) }
    let paths = random.once(in: 3) ? ["title"] : nil
    let found = try notes.search(text, in: paths, where: filter, limit: 1000)
    #expect(try Set(found.map(\.record.id)) == model.search(text, paths ?? ["title", "steps"], kind: kind))
    #expect(found.map(\.score) == found.map(\.score).sorted(by: >))
    for hit in found {
      #expect(try hit.record.document == .object(model.documents[hit.record.id] ?? [:]))
      #expect(!hit.highlights.isEmpty && (paths ?? ["title", "steps"]).contains(hit.path))
    }
    let (limit, offset) = (random.below(5), random.below(3))
    let part = try notes.search(text, in: paths, where: filter, limit: limit, offset: offset)
    #expect(part.map(\.record.id) == found.dropFirst(offset).prefix(limit).map(\.record.id))

    let (latitude, longitude) = (Double(random.below(180)) - 90, Double(random.below(360)) - 180)
    let metres = Double(random.below(6_000_000))
    let expected = model.near(latitude, longitude, metres, kind: kind)
    let near = try notes.near(latitude: latitude, longitude: longitude, within: metres, where: filter)
    #expect(near.map(\.record.id) == expected)
    let first = try notes.near(
      latitude: latitude, longitude: longitude, within: metres, path: "place", where: filter, limit: limit)
    #expect(first.map(\.record.id) == Array(expected.prefix(limit)))
  }
}
