import SatchelCore
import SatchelStorage

/// A live query; it ends on `cancel()`, when the last reference to it is released, or with the store.
public final class LiveQuery: Sendable {
  private let queries: LiveQueries
  private let number: Int

  init(_ queries: LiveQueries, _ number: Int) {
    self.queries = queries
    self.number = number
  }

  public func cancel() { queries.remove(number) }
  deinit { cancel() }
}

extension RecordCollection {
  /// Calls `handler` with the result of a query: soon, and again after commits, of this process or another,
  /// that change it.
  ///
  /// A result is the state after the last commit: a commit that another one follows within 100 ms may be left
  /// out. The query runs again after each commit to the collection, at most once in 100 ms, and costs what
  /// `list` costs; the last result is kept for comparison. The live query keeps the store open unless that is
  /// closed.
  ///
  /// - Parameter handler: receives the records, or the error of a query that cannot be run any more; called
  ///   on a thread of the library that all live queries of the store share, without a batch. It may use the
  ///   store, but not close it.
  /// - Throws: `SatchelError` `.invalid` for an invalid query, `.noMemory`, `.closed`
  public func watch(
    _ query: RecordQuery = RecordQuery(),
    _ handler: @escaping @Sendable (Result<[Record], SatchelError>) -> Void
  ) throws -> LiveQuery {
    try watch(query, reading: { try $0.list(query) }, handler)
  }

  /// As `watch`, with the result as the JSON array of the public interfaces.
  package func watchJSON(
    _ query: RecordQuery, _ handler: @escaping @Sendable (Result<[UInt8], SatchelError>) -> Void
  ) throws -> LiveQuery {
    let list: @Sendable (RecordCollection) throws -> [UInt8] = { collection in
      var bytes: [UInt8] = []
      try collection.writeList(query, into: &bytes)
      return bytes
    }
    return try watch(query, reading: list, handler)
  }

  private func watch<Content: Equatable & Sendable>(
    _ query: RecordQuery, reading: @escaping @Sendable (RecordCollection) throws -> Content,
    _ handler: @escaping @Sendable (Result<Content, SatchelError>) -> Void
  ) throws -> LiveQuery {
    let compiled = try CompiledQuery(query)
    try read { connection, row in try QueryRun(self, connection, row).check(compiled) }
    let last = Locked<Result<Content, SatchelError>?>(nil)
    let subject = HostWork.Subject(ObjectIdentifier(database))
    let number = try store.liveQueries.add(name, in: database) { [self] in
      let result = Self.result { try reading(self) }
      if case .failure(let error) = result {
        if error.code == .closed { return .isCurrent }
        if error.code == .busy { return .isUnknown(retryAfter: 100) }
      }
      let isNew = last.withLock { last in
        if let last, Self.isSame(last, result) { return false }
        last = result
        return true
      }
      if isNew { HostWork.calling("a live query", for: subject) { handler(result) } }
      if case .failure(let error) = result, error.isAboutStore { return .isUnknown(retryAfter: 1000) }
      return .isCurrent
    }
    return LiveQuery(store.liveQueries, number)
  }

  private static func result<Content>(_ body: () throws -> Content) -> Result<Content, SatchelError> {
    do {
      return .success(try body())
    } catch {
      return .failure(error as? SatchelError ?? SatchelError(.internal, "\(error)", underlying: error))
    }
  }

  private static func isSame<Content: Equatable>(
    _ last: Result<Content, SatchelError>, _ next: Result<Content, SatchelError>
  ) -> Bool {
    switch (last, next) {
    case (.success(let last), .success(let next)): last == next
    case (.failure(let last), .failure(let next)): last.code == next.code && last.message == next.message
    default: false
    }
  }
}
