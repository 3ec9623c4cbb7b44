import SatchelCore
import SatchelJSON

/// How a query runs.
public struct QueryExplanation: Equatable, Sendable, JSONConvertible {
  /// How the records that may match are found: "scan", "ids", "index", "relation" or "union".
  public var access: String
  /// The indexes and relations that find them, by their paths.
  public var paths: [String]
  /// The paths that are tested of each record that is found: what the access does not prove.
  public var tests: [String]
  /// How the result gets its order: "insertion", "index" or "sorted".
  public var order: String
  /// The number of records that are found, up to 1,000.
  public var found: Int

  public var json: JSONValue {
    func list(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
    return [
      "access": .string(access), "paths": list(paths), "tests": list(tests), "order": .string(order),
      "found": .int(Int64(found)), "text": .string(text),
    ]
  }

  /// The explanation as a sentence.
  public var text: String {
    let names = paths.map { "\"\($0)\"" }.joined(separator: ", ")
    let number =
      found >= QueryRun.mostExplained ? "\(QueryRun.mostExplained) or more records" : "\(found) records"
    var text: String
    switch access {
    case "scan": text = "reads all records"
    case "ids": text = "finds \(number) by their ids"
    case "relation": text = "finds \(number) by the relation \(names)"
    case "index": text = "finds \(number) by the index of \(names)"
    default: text = "finds \(number) by \(names), one after the other"
    }
    text += tests.isEmpty ? "" : ", tests " + tests.map { "\"\($0)\"" }.joined(separator: ", ")
    switch order {
    case "index": text += "; the index has them in order"
    case "sorted": text += "; sorts them"
    default: break
    }
    return text
  }
}

extension QueryRun {
  static let mostExplained = 1000

  func explain(_ query: CompiledQuery) throws -> QueryExplanation {
    try check(query)
    let plan = try plan(query.filter, order: query.order, wanted: query.wanted)
    var paths: [String] = []
    plan.access.eachPath { if !paths.contains($0) { paths.append($0) } }
    var tests: [String] = []
    for condition in plan.rest {
      condition.eachTest { if !tests.contains($0.path.text) { tests.append($0.path.text) } }
    }
    return QueryExplanation(
      access: plan.access.name, paths: paths, tests: tests, order: plan.order.name,
      found: min(try entries(plan.access, limit: Self.mostExplained), Self.mostExplained))
  }
}

extension QueryPlan.Access {
  fileprivate var name: String {
    switch self {
    case .scan: "scan"
    case .ids: "ids"
    case .index: "index"
    case .references: "relation"
    case .union: "union"
    }
  }

  fileprivate func eachPath(_ body: (String) -> Void) {
    switch self {
    case .scan: break
    case .ids: body("@id")
    case .index(let index, _): body(index.name)
    case .references(let relation, _): body(relation.path.text)
    case .union(let parts): for part in parts { part.eachPath(body) }
    }
  }
}
