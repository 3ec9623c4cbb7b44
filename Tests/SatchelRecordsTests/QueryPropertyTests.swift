import Foundation
import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelDocuments

/// Random queries of collections with and without indexes, by two handles between random writes, against a plain model
/// that reads every document.
@Suite("Queries against a model")
struct QueryPropertyTests {
  private typealias Model = QueryModel
  /// Of each test: 480 queries; SATCHEL_QUERY_SEEDS sets another number.
  private static let seeds =
    ProcessInfo.processInfo.environment["SATCHEL_QUERY_SEEDS"].flatMap { Int($0) } ?? 4

  @Test("every query gives what a model that reads every document gives", arguments: 1...seeds)
  func random(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let shelf = try RecordShelf(onDisk: true)
    let other = try shelf.another()
    let indexes =
      [RecordIndex("a"), RecordIndex("b"), RecordIndex("n.x"), RecordIndex("code", unique: true)]
      + (seed % 2 == 0 ? Self.other : [])
    let handles = [
      try shelf.collection("indexed", indexes: indexes), try other.collection("indexed"),
      try shelf.collection("plain"),
    ]
    try compare(handles, Model(), shelf, &random) {
      QueryMaker.query(&$0)
    } document: {
      QueryMaker.document(&$0)
    }
  }

  /// Indexes of several paths, of some records, of elements and of computed values.
  private static let other = [
    RecordIndex(paths: ["a", "-b"]), RecordIndex(paths: ["-n.x", "a", "code"]),
    RecordIndex(paths: ["b", "tags"]), RecordIndex("b", where: .field("a", .equals(.int(2)))),
    RecordIndex("a", where: .field("code", .exists(true))), RecordIndex("tags[*]"),
    RecordIndex("lines[*].n"), RecordIndex("length(tags)"), RecordIndex("first(tags)"),
    RecordIndex(paths: ["lower(b)", "n.x"]),
  ]

  @Test("every query of typed paths gives what a model of their meanings gives", arguments: 1...seeds)
  func typed(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let shelf = try RecordShelf(onDisk: true)
    let other = try shelf.another()
    let types: [String: RecordType] = [
      "time": .time, "price": .decimal, "title": .text(fold: [.case, .accent]),
      "name": .text(order: .unicode), "times[*]": .time,
    ]
    let indexes =
      seed % 2 == 0
      ? types.keys.map { RecordIndex($0) }
      : [
        RecordIndex(paths: ["title", "-time"]), RecordIndex(paths: ["-price", "name"]),
        RecordIndex(paths: ["name", "title"]), RecordIndex("times[*]"),
      ]
    let handles = [
      try shelf.collection("indexed", indexes: indexes, types: types), try other.collection("indexed"),
      try shelf.collection("plain", types: types),
    ]
    try compare(handles, Model(TypedMaker.meanings), shelf, &random) {
      TypedMaker.query(&$0)
    } document: {
      TypedMaker.document(&$0)
    }
  }

  private func compare(
    _ handles: [RecordCollection], _ nothing: Model, _ shelf: RecordShelf, _ random: inout SeededRandom,
    query make: (inout SeededRandom) -> RecordQuery, document: (inout SeededRandom) -> JSONObject
  ) throws {
    var model = nothing
    for _ in 0..<12 {
      try shelf.database.write { _ in
        for _ in 0..<40 { try write(&model, handles, document(&random), &random) }
      }
      for _ in 0..<40 {
        let query = make(&random)
        let expected = model.ids(query)
        for handle in handles {
          let found = try handle.ids(query)
          #expect(found == expected, "\(handle.name): \(query)")
          guard found == expected else { return }
          #expect(try handle.explain(query).text.isEmpty == false)
        }
        if query.limit != nil { try pages(query, model, handles) }
        let paths = query.order.map(\.path).filter { $0 != "@id" } + ["a"]
        try groups(query.filter, model, handles, by: paths[0])
      }
    }
    try shelf.expectSound()
  }

  private func write(
    _ model: inout Model, _ handles: [RecordCollection], _ made: JSONObject, _ random: inout SeededRandom
  ) throws {
    let id = "r\(Int.random(in: 0..<300, using: &random))"
    if Int.random(in: 0..<6, using: &random) == 0 {
      for handle in [handles[0], handles[2]] { try handle.delete(id) }
      return model.delete(id)
    }
    var document = made
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
    _ filter: RecordFilter?, _ model: Model, _ handles: [RecordCollection], by path: String
  ) throws {
    let expected = model.counts(filter, by: path)
    for handle in handles {
      let found = try handle.aggregate(where: filter, groupBy: [path])
      #expect(
        Dictionary(uniqueKeysWithValues: found.map { (model.name($0.key[0], path), $0.count) }) == expected,
        "\(handle.name): \(path), \(String(describing: filter))")
      let sum = try handle.aggregate([RecordAggregate(.sum, "a")], where: filter)
      #expect(sum.first?.values.first == model.sum(filter, of: "a"), "\(String(describing: filter))")
    }
  }
}

/// Random documents and queries.
enum QueryMaker {
  static let paths = [
    "a", "b", "n.x", "code", "@id", "a", "b", "tags[*]", "lines[*].n", "length(tags)", "first(tags)",
    "lower(b)",
  ]

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
    if Bool.random(using: &random) {
      document["tags"] = .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(&random) })
      document["lines"] = .array(
        (0..<Int.random(in: 0..<3, using: &random)).map { _ in .object(["n": value(&random)]) })
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

  static func test(_ random: inout SeededRandom) -> RecordTest {
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
    for path in ["a", "n.x", "@id", "b", "a", "b", "length(tags)", "lower(b)"].shuffled(using: &random)
      .prefix(
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

/// Random documents and queries with values whose spellings differ.
enum TypedMaker {
  /// The values of each path, in order; of each value its spellings.
  private static let values: [String: [[String]]] = [
    "time": [
      ["1969-12-31T23:59:59.5Z", "1969-12-31 23:59:59,50+00:00"],
      ["2027-01-01", "20270101T00Z", "2026-W53-5"],
      [
        "2027-03-05T09:30:00Z", "2027-03-05T10:30+01:00", "20270305T093000Z", "2027-064T0930",
        "2027-W09-5T09:30:00.000",
      ],
      ["2027-03-05T09:30:00.000001Z"], ["2027-03-05T24:00", "2027-03-06"],
    ],
    "price": [
      ["-1e2", "-100.00"], ["-0.10", "-0.1"], ["0", "-0", "0.000"], ["0.1", "+.1"], ["2.50", "2.5", "25E-1"],
      ["10.00", "1e1"],
    ],
    "title": [
      ["Äpfel", "apfel", "APFEL"], ["Crème brûlée", "creme brulee"], ["straße", "STRASSE", "strasse"],
      ["ZEBRA", "zébra"],
    ],
    "name": [["Apfel"], ["Äpfel", "A\u{308}pfel"], ["Birne"], ["coté"], ["côte"], ["Zebra"]],
  ]

  static let meanings: [String: [String: (kind: Int, place: Double)]] = {
    var result: [String: [String: (kind: Int, place: Double)]] = [:]
    for (path, values) in values {
      for (place, spellings) in values.enumerated() {
        for text in spellings {
          let number = path == "price" ? Double(text.hasPrefix("+") ? String(text.dropFirst()) : text) : nil
          result[path, default: [:]][text] = (
            path == "time" ? 5 : path == "price" ? 4 : 6, number.map { $0 + 0 } ?? Double(place)
          )
        }
      }
    }
    result["times[*]"] = result["time"]
    return result
  }()

  private static func spelling(_ path: String, _ random: inout SeededRandom) -> JSONValue {
    let known = values[path == "times[*]" ? "time" : path] ?? []
    return .string(known.randomElement(using: &random)?.randomElement(using: &random) ?? "")
  }

  static func document(_ random: inout SeededRandom) -> JSONObject {
    var document: JSONObject = [:]
    for path in values.keys.sorted() {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: break
      case 1: document[path] = .null
      case 2: document[path] = .int(Int64.random(in: -2...3, using: &random))
      case 3: document[path] = .bool(true)
      default: document[path] = spelling(path, &random)
      }
    }
    if path(&random) == "time" { document["price"] = .double(2.5) }
    document["times"] = .array(
      (0..<Int.random(in: 0..<4, using: &random)).map { _ in spelling("time", &random) })
    return document
  }

  private static func path(_ random: inout SeededRandom) -> String {
    ["time", "price", "title", "name", "times[*]"].randomElement(using: &random) ?? "time"
  }

  private static func filter(_ random: inout SeededRandom, depth: Int = 0) -> RecordFilter {
    switch Int.random(in: 0..<(depth < 2 ? 9 : 6), using: &random) {
    case 6: return .any([filter(&random, depth: depth + 1), filter(&random, depth: depth + 1)])
    case 7: return .all([filter(&random, depth: depth + 1), filter(&random, depth: depth + 1)])
    case 8: return .not(filter(&random, depth: depth + 1))
    default:
      let path = path(&random)
      let value = spelling(path, &random)
      let tests: [RecordTest] = [
        .equals(value), .notEquals(value), .less(value), .lessOrEqual(value), .greater(value),
        .greaterOrEqual(value), .oneOf([value, spelling(path, &random), .null]), .exists(true),
        .exists(false),
        .equals(.null),
      ]
      return .field(path, tests.randomElement(using: &random) ?? .exists(true))
    }
  }

  static func query(_ random: inout SeededRandom) -> RecordQuery {
    var query = RecordQuery(Int.random(in: 0..<6, using: &random) == 0 ? nil : filter(&random))
    for path in ["time", "price", "title", "name", "@id"].shuffled(using: &random).prefix(
      Int.random(in: 0..<3, using: &random))
    {
      query.order.append(.init(path, descending: Bool.random(using: &random)))
    }
    query.nulls = [nil, .first, .last].randomElement(using: &random) ?? nil
    if Bool.random(using: &random) { query.limit = Int.random(in: 0..<30, using: &random) }
    return query
  }
}
