import SatchelCore
import SatchelJSON
import SatchelStorage

/// The question of a live query: for records, groups of them, or hits of a search.
enum LiveRequest: Sendable {
  case list(RecordQuery, CompiledQuery)
  case groups(RecordGrouping)
  case search(RecordSearch)
  case near(NearSearch)

  init(_ query: RecordQuery, of collection: RecordCollection) throws {
    guard query.include?.isEmpty ?? true else {
      throw SatchelError(
        .invalid,
        "\(collection.name): query: /include: a live query follows one collection: it has no related records")
    }
    self = .list(query, try CompiledQuery(query))
  }

  /// Reads `{"groups": …}`, `{"search": …}`, `{"near": …}` or a query for records.
  ///
  /// - Throws: `SatchelError` `.invalid` with the JSON Pointer
  init(json: JSONValue, of collection: RecordCollection) throws {
    let only = json.objectValue.flatMap { $0.count == 1 ? $0.first : nil }
    switch (only?.key, only?.value) {
    case ("groups", let value?): self = .groups(try RecordGrouping(json: value))
    case ("search", let value?): self = .search(try RecordSearch(json: value))
    case ("near", let value?): self = .near(try NearSearch(json: value))
    default: try self.init(RecordQuery(json: json), of: collection)
    }
  }

  /// The name of the result in the JSON form.
  var name: String {
    switch self {
    case .list: "records"
    case .groups: "groups"
    case .search, .near: "hits"
    }
  }

  /// Bytes that are equal for equal requests.
  var signature: [UInt8] {
    let parts: [JSONValue]
    switch self {
    case .list(let query, _): parts = query.signature
    case .groups(let grouping):
      let functions = grouping.aggregates.map {
        JSONValue.array([.string($0.function.rawValue), .string($0.path)])
      }
      parts = [
        "groups", grouping.filter?.json ?? .null, .array(grouping.paths.map { .string($0) }),
        .array(functions),
      ]
    case .search(let search):
      parts = [
        "search", .string(search.text), search.paths.map { .array($0.map { .string($0) }) } ?? .null,
        search.filter?.json ?? .null, .int(Int64(search.limit)), .int(Int64(search.offset)),
      ]
    case .near(let search):
      parts = [
        "near", .double(search.latitude), .double(search.longitude), .double(search.distance),
        search.path.map { .string($0) } ?? .null, search.filter?.json ?? .null,
        search.limit.map { .int(Int64($0)) } ?? .null,
      ]
    }
    // A condition that is nested too deeply for JSON is equal to no other.
    return (try? JSONValue.array(parts).serialized())
      ?? withUnsafeBytes(of: UInt64.random(in: 0 ... .max)) { Array($0) }
  }
}

extension RecordCollection {
  /// - Throws: `.invalid` for a request that cannot be run
  func check(_ request: LiveRequest) throws {
    switch request {
    case .list(_, let query):
      try read { connection, row in try QueryRun(self, connection, row: row).check(query) }
    case .groups(let grouping): try check(grouping)
    case .search(var search):
      search.limit = 0
      try each(search) { _, _ in }
    case .near(var search):
      search.limit = 0
      try each(search) { _, _ in }
    }
  }

  /// Adds the result of a request to a state.
  func evaluate(_ request: LiveRequest, _ state: inout LiveState.Builder) throws {
    switch request {
    case .list(_, let query): try each(query) { try state.add($0, for: $1) }
    case .groups(let grouping): for group in try groups(grouping) { try state.add(group) }
    case .search(let search): try each(search) { try state.add($0, $1) }
    case .near(let search): try each(search) { try state.add($0, distance: $1) }
    }
  }

  /// Appends the result of a request as a JSON array, and adds it to a state.
  func write(_ request: LiveRequest, into bytes: inout [UInt8], _ state: inout LiveState.Builder) throws {
    switch request {
    case .list(_, let query): try writeList(query, into: &bytes) { try state.add($0, for: query) }
    case .groups(let grouping):
      let groups = try groups(grouping)
      for group in groups { try state.add(group) }
      bytes.append(contentsOf: try JSONValue.array(groups.map(\.json)).serialized())
    case .search(let search): try write(search, into: &bytes) { try state.add($0, $1) }
    case .near(let search): try write(search, into: &bytes) { try state.add($0, distance: $1) }
    }
  }
}

extension LiveState.Builder {
  mutating func add(_ group: RecordGroup) throws {
    add(try JSONValue.array(group.key).serialized(), try group.json.serialized())
  }

  mutating func add(_ hit: borrowing Candidate, _ match: RecordTextIndex.Match) throws {
    // Without the score, which each other record changes.
    var match = match
    match.score = 0
    var bytes: [UInt8] = []
    try match.write(into: &bytes)
    try add(hit, bytes)
  }

  mutating func add(_ hit: borrowing Candidate, distance: Double) throws {
    try add(hit, withUnsafeBytes(of: distance) { Array($0) })
  }
}
