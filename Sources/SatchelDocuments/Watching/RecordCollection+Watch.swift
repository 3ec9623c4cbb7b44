import SatchelCore
import SatchelJSON
import SatchelStorage

/// A live query; it ends on `cancel()`, when the last reference to it is released, or with the store.
public final class LiveQuery: Sendable {
  private let results: LiveResults
  private let number: Int

  fileprivate init(_ results: LiveResults, _ number: Int) {
    self.results = results
    self.number = number
  }

  /// Appends the result as the JSON of the public interfaces: `{"records", "inserted", "removed", "moved",
  /// "changed"}`, with `hits` instead of `records` for a search, and `{"groups"}`; nothing when it is the same as the
  /// last one that was taken.
  ///
  /// - Throws: as `list`, but not again for the same reason
  package func takeJSON(into bytes: inout [UInt8]) throws {
    var found: [UInt8] = []
    let changes = try results.take { collection, state in
      try collection.write(results.request, into: &found, &state)
    }
    guard let changes else { return }
    bytes.append(contentsOf: "{\"\(results.request.name)\":".utf8)
    bytes.append(contentsOf: found)
    if case .groups = results.request { return bytes.append(UInt8(ascii: "}")) }
    let lists = [
      ("inserted", changes.inserted), ("removed", changes.removed), ("moved", changes.moved),
      ("changed", changes.changed),
    ]
    for (name, ids) in lists {
      bytes.append(contentsOf: ",\"\(name)\":".utf8)
      bytes.append(contentsOf: try JSONValue.array(ids.map { .string($0) }).serialized())
    }
    bytes.append(UInt8(ascii: "}"))
  }

  public func cancel() { results.queries.remove(number, results.key) }
  deinit { cancel() }
}

/// The results of one live query, as its host takes them.
private final class LiveResults: Sendable {
  let collection: RecordCollection
  let request: LiveRequest
  let key: LiveQueries.Key
  /// The last result that the host took, and the error that it was notified of since.
  private let taken = Locked<(state: LiveState?, error: SatchelError?)>((nil, nil))
  var queries: LiveQueries { collection.store.liveQueries }

  init(_ collection: RecordCollection, _ request: LiveRequest) {
    (self.collection, self.request) = (collection, request)
    key = LiveQueries.Key(
      collection: collection.name, version: collection.version, query: request.signature)
  }

  /// Notes an error of which the host will be notified.
  ///
  /// - Returns: false when it knows the error already
  func note(_ error: SatchelError) -> Bool {
    taken.withLock { taken in
      if let known = taken.error, known.isSame(as: error) { return false }
      taken.error = error
      return true
    }
  }

  /// Runs the query.
  ///
  /// - Parameter read: runs the query, and adds the result to the state
  /// - Returns: what changed since the result that was taken before; nil when nothing did
  /// - Throws: as `list`, but not again for the same reason
  func take(
    _ read: (RecordCollection, inout LiveState.Builder) throws -> Void
  ) throws -> RecordChanges? {
    guard !collection.database.isInTransaction else {
      throw SatchelError(
        .invalid,
        "\(collection.name): the result of a live query is that of a commit: take it outside of a batch")
    }
    var builder = LiveState.Builder()
    do {
      try read(try collection.current(), &builder)
    } catch let error as SatchelError {
      // Another attempt may succeed where the call was stopped, or the store was busy.
      if !error.isTransient, !note(error) { return nil }
      throw error
    }
    let state = queries.shared(builder.state, key)
    let last = taken.withLock { taken in
      defer { taken = (state, nil) }
      return taken
    }
    if last.error == nil, let old = last.state, old.isSame(as: state) { return nil }
    return state.changes(since: last.state)
  }
}

extension RecordCollection {
  /// Calls `handler` with the result of a query: soon, and again after commits, of this process or another,
  /// that change it.
  ///
  /// A result is the state after the last commit: a commit that another one follows within 100 ms may be left
  /// out. The query runs again after each commit to the collection, at most once in 100 ms, once for all equal
  /// live queries, and costs what `list` costs; ids and digests of the last result are kept for comparison.
  /// The live query keeps the store open unless that is closed. It goes on with a collection that is dropped
  /// and declared again; one that is migrated to another version than that of this handle is an error.
  ///
  /// - Parameter handler: receives the records and what changed, or the error of a query that cannot be run
  ///   any more; called on a thread of the library that all live queries of the store share, without a batch.
  ///   It may use the store, but not close it.
  /// - Throws: `SatchelError` `.invalid` for an invalid query, `.noMemory`, `.closed`
  public func watch(
    _ query: RecordQuery = RecordQuery(),
    _ handler: @escaping @Sendable (Result<LiveResult, SatchelError>) -> Void
  ) throws -> LiveQuery {
    let request = try LiveRequest(query, of: self)
    return try follow(
      request,
      { (result: Result<([Record], RecordChanges), SatchelError>) in
        handler(result.map { LiveResult(records: $0.0, changes: $0.1) })
      }
    ) { collection, state in
      guard case .list(_, let query) = request else { return [] }
      var records: [Record] = []
      try collection.each(query) { candidate, query in
        try state.add(candidate, for: query)
        records.append(try candidate.record(for: query))
      }
      return records
    }
  }

  /// Calls `handler` with the groups that `aggregate` computes: soon, and again after commits that change them; see
  /// `watch(_:_:)`.
  public func watch(
    groups aggregates: [RecordAggregate] = [], where filter: RecordFilter? = nil,
    groupBy paths: [String] = [],
    _ handler: @escaping @Sendable (Result<[RecordGroup], SatchelError>) -> Void
  ) throws -> LiveQuery {
    let grouping = RecordGrouping(aggregates, filter, paths)
    return try follow(.groups(grouping), { handler($0.map(\.0)) }) { collection, state in
      let groups = try collection.groups(grouping)
      for group in groups { try state.add(group) }
      return groups
    }
  }

  /// Calls `handler` with the hits of `search`: soon, and again after commits that change them; see `watch(_:_:)`.
  public func watch(
    search text: String, in paths: [String]? = nil, where filter: RecordFilter? = nil,
    limit: Int = RecordCollection.defaultSearchLimit,
    _ handler: @escaping @Sendable (Result<[RecordSearchHit], SatchelError>) -> Void
  ) throws -> LiveQuery {
    var search = RecordSearch(text)
    (search.paths, search.filter, search.limit) = (paths, filter, limit)
    return try follow(.search(search), { handler($0.map(\.0)) }) { [search] collection, state in
      var hits: [RecordSearchHit] = []
      try collection.each(search) { candidate, match in
        try state.add(candidate, match)
        hits.append(try match.hit(candidate))
      }
      return hits
    }
  }

  /// Calls `handler` with the records that `near` finds: soon, and again after commits that change them; see
  /// `watch(_:_:)`.
  public func watch(
    latitude: Double, longitude: Double, within: Double, path: String? = nil,
    where filter: RecordFilter? = nil, limit: Int? = nil,
    _ handler: @escaping @Sendable (Result<[NearbyRecord], SatchelError>) -> Void
  ) throws -> LiveQuery {
    var search = NearSearch()
    (search.latitude, search.longitude, search.distance) = (latitude, longitude, within)
    (search.path, search.filter, search.limit) = (path, filter, limit)
    return try follow(.near(search), { handler($0.map(\.0)) }) { [search] collection, state in
      var found: [NearbyRecord] = []
      try collection.each(search) { candidate, distance in
        try state.add(candidate, distance: distance)
        found.append(NearbyRecord(record: try candidate.record(withDocument: true), distance: distance))
      }
      return found
    }
  }

  /// Calls `handler` with what `read` returns and what has changed since, or with an error.
  private func follow<Answer: Sendable>(
    _ request: LiveRequest,
    _ handler: @escaping @Sendable (Result<(Answer, RecordChanges), SatchelError>) -> Void,
    _ read: @escaping @Sendable (RecordCollection, inout LiveState.Builder) throws -> Answer
  ) throws -> LiveQuery {
    try watch(request) { results, error in
      if let error {
        handler(.failure(error))
        return true
      }
      let result = Result<(Answer, RecordChanges)?, SatchelError>.ofLibrary {
        var answer: Answer?
        let changes = try results.take { answer = try read($0, &$1) }
        if let answer, let changes { return (answer, changes) }
        return nil
      }
      switch result {
      case .success(let new?): handler(.success(new))
      case .success(nil): break
      case .failure(let error) where error.code == .busy: return false
      case .failure(let error): handler(.failure(error))
      }
      return true
    }
  }

  /// Calls `notify` when `LiveQuery.takeJSON` gives another result, or with the error of a query that cannot
  /// be run any more.
  package func watchJSON(
    _ query: JSONValue, notify: @escaping @Sendable (SatchelError?) -> Void
  ) throws -> LiveQuery {
    try watch(LiveRequest(json: query, of: self)) { _, error in
      notify(error)
      return true
    }
  }

  private func watch(
    _ request: LiveRequest, _ notify: @escaping @Sendable (LiveResults, SatchelError?) -> Bool
  ) throws -> LiveQuery {
    let results = LiveResults(self, request)
    try check(request)
    let subject = HostWork.Resource(ObjectIdentifier(database))
    let evaluate: @Sendable () throws -> LiveState = { [self] in
      var state = LiveState.Builder()
      try current().evaluate(request, &state)
      return state.state
    }
    let number = try store.liveQueries.add(results.key, in: database, evaluate) { error in
      if let error, !results.note(error) { return true }
      return HostWork.calling("a live query", for: subject) { notify(results, error) }
    }
    return LiveQuery(results, number)
  }

  /// Returns the collection that has the name now: another one, when this one was dropped and declared again.
  fileprivate func current() throws -> RecordCollection {
    try store.read { connection in
      if try store.state(of: id, connection) != nil { return self }
      guard let state = try store.state(named: name, connection) else { return self }
      return RecordCollection(
        store, id: state.id, version: version, 0, declaration: CollectionDeclaration(name),
        hasSensitive: hasSensitive)
    }
  }
}

extension SatchelError {
  /// Whether the same call may succeed later, although nothing is committed.
  fileprivate var isTransient: Bool { [.busy, .cancelled, .timedOut].contains(code) }
}

extension RecordQuery {
  /// Equal for equal queries.
  var signature: [JSONValue] {
    [
      .array(order.map { [.string($0.path), .bool($0.isDescending)] }),
      limit.map { .int(Int64($0)) } ?? .null,
      .int(Int64(offset)), .bool(wantsDocuments), filter?.json ?? .null,
      nulls.map { .string($0.rawValue) } ?? .null, after.map { .string($0) } ?? .null,
      select.map { .array($0.map { .string($0) }) } ?? .null,
    ]
  }
}
