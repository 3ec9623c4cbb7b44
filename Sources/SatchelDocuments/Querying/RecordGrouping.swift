import SatchelCore
import SatchelJSON
import SatchelStorage

/// Aggregates of records by groups, as an app asks for them.
struct RecordGrouping: Sendable {
  /// None to count only.
  var aggregates: [RecordAggregate] = []
  var filter: RecordFilter?
  /// The paths of the values that the records of a group have in common.
  var paths: [String] = []

  init(_ aggregates: [RecordAggregate], _ filter: RecordFilter?, _ paths: [String]) {
    (self.aggregates, self.filter, self.paths) = (aggregates, filter, paths)
  }

  /// Reads `{"where", "group_by", "aggregates"}`, all members optional: `group_by` is a path or an array of them,
  /// `aggregates` an array of `{"sum": path}`, `{"min": path}`, `{"max": path}` and `{"average": path}`.
  ///
  /// - Throws: `SatchelError` `.invalid` with the JSON Pointer
  init(json: JSONValue) throws {
    try naming("query") {
      guard case .object(let members) = json else { throw JSONError("must be an object", pointer: "") }
      for (key, value) in members where !value.isNull {
        switch (key, value) {
        case ("where", _): filter = try RecordFilter(value, at: "/where")
        case ("group_by", .string(let path)): paths = [path]
        case ("group_by", .array): paths = try value.paths(at: "/group_by")
        case ("group_by", _): throw JSONError("must be a path, or an array of them", pointer: "/group_by")
        case ("aggregates", .array(let elements)):
          aggregates = try elements.enumerated().map { try Self.aggregate($1, at: "/aggregates/\($0)") }
        case ("aggregates", _): throw JSONError("must be an array", pointer: "/aggregates")
        default:
          throw JSONError(
            "unknown member; the members are where, group_by and aggregates",
            pointer: "/" + JSONPointer.escaped(key))
        }
      }
    }
  }

  private static func aggregate(_ json: JSONValue, at pointer: String) throws -> RecordAggregate {
    guard case .object(let members) = json, members.count == 1, let only = members.first,
      let function = RecordAggregate.Function(rawValue: only.key), case .string(let path) = only.value
    else {
      throw JSONError(
        "must be an object with a function (sum, min, max or average) and its path", pointer: pointer)
    }
    return RecordAggregate(function, path)
  }
}

extension RecordCollection {
  /// Computes aggregates of the records that match a filter, by groups.
  ///
  /// - Parameters:
  ///   - aggregates: none to count only
  ///   - filter: nil for all records
  ///   - paths: of the values that the records of a group have in common; without paths, all records are one group
  /// - Returns: the groups in the order of their keys
  /// - Throws: `SatchelError` `.invalid` for an invalid path, and where a value of a group is an array or an object
  public func aggregate(
    _ aggregates: [RecordAggregate] = [], where filter: RecordFilter? = nil, groupBy paths: [String] = []
  ) throws -> [RecordGroup] {
    try groups(RecordGrouping(aggregates, filter, paths))
  }

  /// Computes aggregates of the JSON form of the public interfaces; see `RecordGrouping`.
  package func aggregate(json: JSONValue) throws -> [RecordGroup] { try groups(RecordGrouping(json: json)) }

  func groups(_ grouping: RecordGrouping) throws -> [RecordGroup] {
    try readInterruptibly { connection, row in
      let run = try QueryRun(self, connection, row: row)
      let query = try run.prepared(grouping)
      return try run.aggregate(query.filter, by: query.paths, query.aggregates)
    }
  }

  /// - Throws: as `groups`, without reading records
  func check(_ grouping: RecordGrouping) throws {
    try read { connection, row in
      let run = try QueryRun(self, connection, row: row)
      let query = try run.prepared(grouping)
      try run.check(query.filter, by: query.paths, query.aggregates)
    }
  }
}

extension QueryRun {
  fileprivate typealias Grouping = (
    filter: CompiledFilter, paths: [FieldPath],
    aggregates: [(function: RecordAggregate.Function, path: FieldPath)]
  )

  /// Returns a grouping as the collection has it: with the types of its paths, of records that have not expired.
  fileprivate func prepared(_ grouping: RecordGrouping) throws -> Grouping {
    func path(_ text: String, _ use: String) throws -> FieldPath {
      let path = rules.types.typed(try FieldPath(text))
      try path.checkSingle(use)
      return path
    }
    return (
      try CompiledFilter(unexpired(grouping.filter) ?? .all([]), rules.types),
      try grouping.paths.map { try path($0, "a group") },
      try grouping.aggregates.map { ($0.function, try path($0.path, "an aggregate")) }
    )
  }
}
