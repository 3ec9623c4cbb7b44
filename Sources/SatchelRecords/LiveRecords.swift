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
      try results(query) { $0 }
    }

    /// Returns a stream of the result of a query, with documents decoded as values; see `watch(_:)`.
    public func watch<Document: Decodable & Sendable>(
      _ query: RecordQuery = RecordQuery(), as type: Document.Type
    ) throws -> AsyncThrowingStream<[TypedRecord<Document>], any Error> {
      var query = query
      query.wantsDocuments = true
      return try results(query) { [self] records in try records.map { try typed($0, as: type) } }
    }

    private func results<Element: Sendable>(
      _ query: RecordQuery, _ convert: @escaping @Sendable ([Record]) throws -> Element
    ) throws -> AsyncThrowingStream<Element, any Error> {
      let (stream, continuation) = AsyncThrowingStream.makeStream(
        of: Element.self, bufferingPolicy: .bufferingNewest(1))
      // Finishes the stream when the store drops the handler: it is closed.
      let end = StreamEnd { continuation.finish() }
      let live = try watch(query) { result in
        withExtendedLifetime(end) {
          do {
            continuation.yield(try convert(result.get().records))
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
