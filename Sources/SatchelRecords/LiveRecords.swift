// The C library is built without Swift concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  import Observation
  import SatchelCore
  import SatchelDocuments

  extension RecordCollection {
    /// Returns a stream of the result of a query: as it is now, and after each commit that changes it; see
    /// `watch(_:_:)`. Only the newest result is kept for a slow reader. The live query ends with the iteration.
    ///
    /// - Throws: `SatchelError` `.invalid` for an invalid query. The iteration throws when the query cannot be
    ///   run any more, and ends when the store is closed.
    public func watch(_ query: RecordQuery = RecordQuery()) throws -> AsyncThrowingStream<[Record], any Error>
    {
      try results { yield in try watch(query) { result in yield { try result.get().records } } }
    }

    /// Returns a stream of the result of a query, with documents decoded as values; see `watch(_:)`.
    public func watch<Document: Decodable & Sendable>(
      _ query: RecordQuery = RecordQuery(), as type: Document.Type
    ) throws -> AsyncThrowingStream<[TypedRecord<Document>], any Error> {
      var query = query
      query.wantsDocuments = true
      return try results { yield in
        try watch(query) { [self] result in
          yield { try result.get().records.map { try typed($0, as: type) } }
        }
      }
    }

    /// Returns a stream of the groups that `aggregate` computes; see `watch(_:)`.
    public func watch(
      groups aggregates: [RecordAggregate] = [], where filter: RecordFilter? = nil,
      groupBy paths: [String] = []
    ) throws -> AsyncThrowingStream<[RecordGroup], any Error> {
      try results { yield in
        try watch(groups: aggregates, where: filter, groupBy: paths) { result in yield { try result.get() } }
      }
    }

    /// Returns a stream of the hits of `search`; see `watch(_:)`.
    public func watch(
      search text: String, in paths: [String]? = nil, where filter: RecordFilter? = nil,
      limit: Int = RecordCollection.defaultSearchLimit
    ) throws -> AsyncThrowingStream<[RecordSearchHit], any Error> {
      try results { yield in
        try watch(search: text, in: paths, where: filter, limit: limit) { result in yield { try result.get() }
        }
      }
    }

    /// Returns a stream of the records that `near` finds; see `watch(_:)`.
    public func watch(
      latitude: Double, longitude: Double, within: Double, path: String? = nil,
      where filter: RecordFilter? = nil, limit: Int? = nil
    ) throws -> AsyncThrowingStream<[NearbyRecord], any Error> {
      try results { yield in
        try watch(
          latitude: latitude, longitude: longitude, within: within, path: path, where: filter, limit: limit
        ) { result in yield { try result.get() } }
      }
    }

    private typealias Yield<Element> = @Sendable (() throws -> Element) -> Void

    /// - Parameter start: starts a live query whose handler yields the results
    private func results<Element: Sendable>(
      _ start: (@escaping Yield<Element>) throws -> LiveQuery
    ) throws -> AsyncThrowingStream<Element, any Error> {
      let (stream, continuation) = AsyncThrowingStream.makeStream(
        of: Element.self, bufferingPolicy: .bufferingNewest(1))
      // Finishes the stream when the store drops the handler: it is closed.
      let end = StreamEnd { continuation.finish() }
      let live = try start { element in
        withExtendedLifetime(end) {
          do {
            continuation.yield(try element())
          } catch {
            continuation.finish(throwing: error)
          }
        }
      }
      continuation.onTermination = { _ in live.cancel() }
      return stream
    }
  }

  /// Runs its body when it is released.
  private final class StreamEnd: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
  }

  /// The result of a query as a model for a user interface, which follows the store while it exists.
  ///
  /// It conforms to `Observable`: a view that reads `records` is updated with them.
  @MainActor
  public final class LiveRecords<Document: Decodable & Sendable>: Observable {
    private let registrar = ObservationRegistrar()
    private var currentRecords: [TypedRecord<Document>]
    private var currentError: SatchelError?
    private var following: Task<Void, Never>?

    /// The records that match, as the last commit has left them.
    public var records: [TypedRecord<Document>] {
      registrar.access(self, keyPath: \.records)
      return currentRecords
    }

    /// The reason why the query cannot be run any more; `records` then keep the last result.
    public var error: SatchelError? {
      registrar.access(self, keyPath: \.error)
      return currentError
    }

    /// Runs the query, and follows the store from then on.
    ///
    /// - Throws: `SatchelError` `.invalid` for an invalid query and for a document that cannot be decoded, and
    ///   as `list`
    public init(
      _ collection: RecordCollection, _ query: RecordQuery = RecordQuery(),
      as type: Document.Type = Document.self
    ) throws {
      let stream = try collection.watch(query, as: type)
      currentRecords = try collection.list(query, as: type)
      following = Task { [weak self] in
        do {
          for try await records in stream { self?.show(records) }
        } catch {
          self?.fail(error as? SatchelError ?? SatchelError(.internal, "\(error)", underlying: error))
        }
      }
    }

    deinit { following?.cancel() }

    private func show(_ records: [TypedRecord<Document>]) {
      registrar.withMutation(of: self, keyPath: \.records) { currentRecords = records }
    }

    private func fail(_ error: SatchelError) {
      registrar.withMutation(of: self, keyPath: \.error) { currentError = error }
    }
  }
#endif
