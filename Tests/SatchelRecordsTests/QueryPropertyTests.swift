import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelDocuments

/// Random queries of collections with and without indexes, by two handles between random writes, against a plain model
/// that reads every document.
@Suite("Queries against a model")
struct QueryPropertyTests {
  private typealias Model = QueryModel

  @Test("every query gives what a model that reads every document gives", arguments: 1...4)
  func random(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let shelf = try RecordShelf(onDisk: true)
    let other = try shelf.another()
    let indexes = [RecordIndex("a"), RecordIndex("b"), RecordIndex("n.x"), RecordIndex("code", unique: true)]
    let handles = [
      try shelf.collection("indexed", indexes: indexes), try other.collection("indexed"),
      try shelf.collection("plain"),
    ]
    var model = Model()
    for _ in 0..<12 {
      try shelf.database.write { _ in
        for _ in 0..<40 { try write(&model, handles, &random) }
      }
      for _ in 0..<40 {
        let query = QueryMaker.query(&random)
        let expected = model.ids(query)
        for handle in handles {
          let found = try handle.ids(query)
          #expect(found == expected, "\(handle.name): \(query)")
          guard found == expected else { return }
          #expect(try handle.explain(query).text.isEmpty == false)
        }
        if query.limit != nil { try pages(query, model, handles) }
        try groups(query.filter, model, handles, &random)
      }
    }
    try shelf.expectSound()
  }

  private func write(
    _ model: inout Model, _ handles: [RecordCollection], _ random: inout SeededRandom
  ) throws {
    let id = "r\(Int.random(in: 0..<300, using: &random))"
    if Int.random(in: 0..<6, using: &random) == 0 {
      for handle in [handles[0], handles[2]] { try handle.delete(id) }
      return model.delete(id)
    }
    var document = QueryMaker.document(&random)
    if Bool.random(using: &random) { document["code"] = .string("\(id)") }
    for handle in [handles[0], handles[2]] { try handle.put(id, .object(document)) }
    model.put(id, document)
  }

  /// Pages of a query are the whole result, each record once.
  private func pages(_ query: RecordQuery, _ model: Model, _ handles: [RecordCollection]) throws {
    var whole = query
    (whole.limit, whole.offset) = (nil, 0)
    let expected = model.ids(whole)
    for handle in handles {
      var (found, page, count): ([String], RecordQuery, Int) = ([], query, 0)
      (page.limit, page.offset) = (max(1, query.limit ?? 1), 0)
      repeat {
        let part = try handle.page(page)
        found += part.records.map(\.id)
        page.after = part.cursor
        count += 1
      } while page.after != nil && count < 1000
      #expect(found == expected, "\(handle.name), pages: \(query)")
    }
  }

  private func groups(
    _ filter: RecordFilter?, _ model: Model, _ handles: [RecordCollection], _ random: inout SeededRandom
  ) throws {
    let path = ["a", "b", "n.x"].randomElement(using: &random) ?? "a"
    let expected = model.counts(filter, by: path)
    for handle in handles {
      let found = try handle.aggregate(where: filter, groupBy: [path])
      #expect(
        Dictionary(uniqueKeysWithValues: found.map { (Model.name($0.key[0]), $0.count) }) == expected,
        "\(handle.name): \(path), \(String(describing: filter))")
      let sum = try handle.aggregate([RecordAggregate(.sum, "a")], where: filter)
      #expect(sum.first?.values.first == model.sum(filter, of: "a"), "\(String(describing: filter))")
    }
  }
}

/// Random documents and queries.
enum QueryMaker {
  static let paths = ["a", "b", "n.x", "code", "@id"]

  static func value(_ random: inout SeededRandom) -> JSONValue {
    switch Int.random(in: 0..<9, using: &random) {
    case 0: .null
    case 1: .bool(Bool.random(using: &random))
    case 2...4: .int(Int64.random(in: -3...6, using: &random))
    case 5: .double(Double(Int.random(in: -4...8, using: &random)) / 2)
    case 6: .string(["", "a", "ab", "b", "z\u{0}", "\u{E9}"].randomElement(using: &random) ?? "")
    default: .string("t\(Int.random(in: 0..<6, using: &random))")
    }
  }

  static func document(_ random: inout SeededRandom) -> JSONObject {
    var document: JSONObject = [:]
    for name in ["a", "b"] where Int.random(in: 0..<6, using: &random) > 0 {
      document[name] = value(&random)
    }
    if Bool.random(using: &random) { document["n"] = .object(["x": value(&random)]) }
    return document
  }

  static func filter(_ random: inout SeededRandom, depth: Int = 0) -> RecordFilter {
    func parts() -> [RecordFilter] {
      var parts: [RecordFilter] = []
      for _ in 0..<Int.random(in: 0..<4, using: &random) { parts.append(filter(&random, depth: depth + 1)) }
      return parts
    }
    switch Int.random(in: 0..<(depth < 3 ? 10 : 6), using: &random) {
    case 6, 7: return .any(parts())
    case 8: return .all(parts())
    case 9: return .not(filter(&random, depth: depth + 1))
    default:
      let path = paths.randomElement(using: &random) ?? "a"
      return .field(path, path == "@id" ? ofID(&random) : test(&random))
    }
  }

  private static func ofID(_ random: inout SeededRandom) -> RecordTest {
    let id = JSONValue.string("r\(Int.random(in: 0..<300, using: &random))")
    return [.equals(id), .less(id), .greaterOrEqual(id), .oneOf([id, .string("r7"), .int(3)])]
      .randomElement(using: &random) ?? .exists(true)
  }

  private static func test(_ random: inout SeededRandom) -> RecordTest {
    let value = value(&random)
    let bound = Bool.random(using: &random) ? JSONValue.int(2) : .string("t2")
    switch Int.random(in: 0..<10, using: &random) {
    case 0...1: return .equals(value)
    case 2: return .notEquals(value)
    case 3: return .less(bound)
    case 4: return .lessOrEqual(bound)
    case 5: return .greater(bound)
    case 6: return .greaterOrEqual(bound)
    case 7: return .oneOf([value, self.value(&random), self.value(&random)])
    case 8: return .prefix(["", "t", "t2", "a"].randomElement(using: &random) ?? "")
    default: return .exists(Bool.random(using: &random))
    }
  }

  static func query(_ random: inout SeededRandom) -> RecordQuery {
    var query = RecordQuery(Int.random(in: 0..<6, using: &random) == 0 ? nil : filter(&random))
    for path in ["a", "n.x", "@id", "b"].shuffled(using: &random).prefix(
      Int.random(in: 0..<3, using: &random))
    {
      query.order.append(.init(path, descending: Bool.random(using: &random)))
    }
    query.nulls = [nil, .first, .last].randomElement(using: &random) ?? nil
    if Bool.random(using: &random) { query.limit = Int.random(in: 0..<30, using: &random) }
    if Int.random(in: 0..<4, using: &random) == 0 { query.offset = Int.random(in: 0..<10, using: &random) }
    return query
  }
}
