import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelRemote

/// Where content and the bytes of assets come from: functions of the host, or a server (`HTTPSource`).
///
/// The functions are called on the thread of the call that refreshes, or on a thread of the store, several at once for
/// different places and sections, never in a transaction. They may read and write the store.
public protocol ContentSource: Sendable {
  /// Fetches the content of a place, or one section of it.
  ///
  /// - Throws: `SourceFailure`; any other error counts as a transient failure, and `SatchelError` `.cancelled` ends the
  ///   call
  func content(_ request: ContentRequest) throws -> ContentAnswer

  /// Fetches the bytes of an asset: appends them to the writer, which refuses more than are allowed.
  func asset(_ request: AssetRequest, into writer: AssetWriter) throws -> AssetResponse
}

extension ContentSource {
  public func asset(_ request: AssetRequest, into writer: AssetWriter) throws -> AssetResponse {
    throw SatchelError(.invalid, "the source fetches no assets")
  }
}

/// A request for content.
public struct ContentRequest: Sendable, JSONConvertible {
  public var location: Location
  /// The name of the section; nil for all that the place has.
  public var section: String?
  /// The entities of it that are missing or expired; none when nothing is stored yet.
  public var entities: [String]
  /// The entity tag of what is stored (RFC 9110); nil when it has no tag, or when what is stored is incomplete.
  public var etag: String?
  /// 1, and one more for each failure since the last answer.
  public var attempt: Int
  public var cancellation: Cancellation

  public init(
    location: Location, section: String? = nil, entities: [String] = [], etag: String? = nil,
    attempt: Int = 1,
    cancellation: Cancellation = .never
  ) {
    (self.location, self.section, self.entities) = (location, section, entities)
    (self.etag, self.attempt, self.cancellation) = (etag, attempt, cancellation)
  }

  /// The JSON object that the function of a host gets.
  public var json: JSONValue {
    [
      "location": location.json, "section": section.map { .string($0) } ?? .null,
      "entities": .array(entities.map { .string($0) }), "etag": etag.map { .string($0) } ?? .null,
      "attempt": .int(Int64(attempt)),
    ]
  }
}

/// The answer of a source.
public enum ContentAnswer: Sendable, Equatable {
  /// The content: UTF-8 JSON of one section, or of a delivery (an object with `sections`; its `location` is that of the
  /// request where it has none).
  ///
  /// - Parameters:
  ///   - etag: for the next request; nil for none
  ///   - maxAge: for how many seconds the content is fresh; nil to decide by the `staleAfter` of the refresh
  ///   - isComplete: whether a delivery has all sections of the place
  case content([UInt8], etag: String? = nil, maxAge: Int64? = nil, isComplete: Bool = false)
  /// The stored content is unchanged (304).
  case notModified(etag: String? = nil, maxAge: Int64? = nil)
  /// The source has no content for the place, or no such section. What is stored stays.
  case notFound(maxAge: Int64? = nil)
}

/// A source's failure.
public struct SourceFailure: Error, Sendable, Equatable {
  public var message: String
  /// Whether a later request may succeed. A final failure is tried again, too, but after half an hour at the earliest.
  public var isFinal: Bool
  /// The earliest time for the next request, in seconds from now, as the source demands it (`Retry-After`).
  public var retryAfter: Int64?

  public init(_ message: String, isFinal: Bool = false, retryAfter: Int64? = nil) {
    (self.message, self.isFinal, self.retryAfter) = (message, isFinal, retryAfter)
  }
}

/// A source that is a function of the host.
public struct FunctionSource: ContentSource {
  private let fetchContent: @Sendable (ContentRequest) throws -> ContentAnswer
  private let fetchAsset: (@Sendable (AssetRequest, AssetWriter) throws -> AssetResponse)?

  public init(
    content: @escaping @Sendable (ContentRequest) throws -> ContentAnswer,
    asset: (@Sendable (AssetRequest, AssetWriter) throws -> AssetResponse)? = nil
  ) {
    (fetchContent, fetchAsset) = (content, asset)
  }

  public func content(_ request: ContentRequest) throws -> ContentAnswer { try fetchContent(request) }

  public func asset(_ request: AssetRequest, into writer: AssetWriter) throws -> AssetResponse {
    guard let fetchAsset else { throw SatchelError(.invalid, "the source fetches no assets") }
    return try fetchAsset(request, writer)
  }
}
