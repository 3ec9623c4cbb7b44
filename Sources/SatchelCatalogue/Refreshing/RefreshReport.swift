import SatchelCore
import SatchelJSON

/// Options of `Catalogue.refresh`.
public struct RefreshOptions: Sendable {
  /// Asks also for what is fresh, and for what failed before its time; not before the time that the source demands.
  public var force = false
  /// The age in seconds from which stored content is asked for again, where its source did not say how long it is fresh.
  public var staleAfter: Int64 = 24 * 60 * 60
  /// Asked before each request; nil for `.free`.
  public var network: (@Sendable () -> Network)?
  /// The policy for entities that are already stored.
  public var reuse = Catalogue.Reuse.unlessChanged

  public init() {}
}

/// The counts and failures of `Catalogue.refresh`.
public struct RefreshReport: Sendable, Equatable, JSONConvertible {
  /// A request that failed.
  public struct Failure: Sendable, Equatable, JSONConvertible {
    /// The section; nil for a request for all of the place.
    public var section: String?
    public var message: String
    /// Where an answer that cannot be stored is wrong; nil for other failures.
    public var pointer: String?
    /// When the next attempt is made, in Unix milliseconds.
    public var retryAt: Int64

    public var json: JSONValue {
      [
        "section": section.map { .string($0) } ?? .null, "message": .string(message),
        "pointer": pointer.map { .string($0) } ?? .null, "retry_at": .int(retryAt),
      ]
    }
  }

  /// A request that was not sent.
  public struct Skipped: Sendable, Equatable, JSONConvertible {
    public enum Reason: String, Sendable {
      case fresh
      /// It failed before, and its time has not come.
      case waiting
      case network
      /// Another call was asking for it, and did not get it.
      case busy
    }

    /// The section; nil for all of the place.
    public var section: String?
    public var reason: Reason

    public var json: JSONValue {
      ["section": section.map { .string($0) } ?? .null, "reason": .string(reason.rawValue)]
    }
  }

  /// The sections that were stored.
  public var refreshed: [String] = []
  /// The sections that have not changed, those of other calls that were waited for included.
  public var unchanged: [String] = []
  /// The sections that the source does not have; nil for the place.
  public var notFound: [String?] = []
  public var failed: [Failure] = []
  public var skipped: [Skipped] = []
  /// The number of requests to the source.
  public var requests = 0
  /// The bytes of their answers.
  public var bytes: Int64 = 0

  public init() {}

  public var json: JSONValue {
    [
      "refreshed": .array(refreshed.map { .string($0) }), "unchanged": .array(unchanged.map { .string($0) }),
      "not_found": .array(notFound.map { $0.map { .string($0) } ?? .null }),
      "failed": .array(failed.map(\.json)), "skipped": .array(skipped.map(\.json)),
      "requests": .int(Int64(requests)), "bytes": .int(bytes),
    ]
  }
}
