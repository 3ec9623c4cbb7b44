import SatchelCore

/// The failure of an object store call. The reason determines whether the call may be retried.
public struct ObjectStoreError: Error, Sendable, CustomStringConvertible {
  public enum Reason: Sendable, Equatable {
    /// No object exists under the key.
    case notFound
    /// The condition of the write is not met, because another writer changed the object first. Nothing was
    /// changed.
    case preconditionFailed
    /// The write may or may not have taken effect (its response was lost, or the store answered 409 or 5xx):
    /// read the object back before retrying. `retryAfter`: milliseconds, when the store requested a delay.
    case unknownOutcome(retryAfter: Int64?)
    /// The store refuses the credentials or their permissions, its certificate is not trusted, or a symbolic
    /// link would lead out of the store. Retrying does not help.
    case denied
    /// Nothing was changed; a retry may succeed. `retryAfter`: milliseconds, when the store requested a
    /// delay.
    case transient(retryAfter: Int64?)
    /// The body ended before its announced length.
    case truncated
    /// The body is larger than the caller's limit, and was not received.
    case tooLarge
    /// The caller cancelled.
    case cancelled
    /// The key or prefix is invalid, or this store cannot represent it.
    case invalidKey
    /// Any other failure; retrying does not help.
    case failed(SatchelError.Code)
  }

  /// The extent of a failure, which decides how an operation on many objects goes on.
  public enum FaultClass: String, Sendable, CaseIterable {
    /// Temporary: the request is repeated, at the latest by the next run.
    case transient
    /// The whole remote: its credentials, bucket, region, space or mount. Every other object would fail likewise, so
    /// the run ends, and says nothing about any object.
    case remote
    /// This object alone: it is noted for the object, and the run goes on with the others.
    case object
  }

  public var reason: Reason
  /// The key and the cause; contains neither credentials nor content.
  public var message: String
  /// The class, where it is not that of the reason.
  private var known: FaultClass?

  /// - Parameter faultClass: nil for that of the reason
  public init(_ reason: Reason, _ message: String, faultClass: FaultClass? = nil) {
    self.reason = reason
    self.message = message
    known = faultClass
  }

  /// The extent of the failure; nil for a cancellation.
  public var faultClass: FaultClass? {
    if let known { return known }
    return switch reason {
    case .transient, .unknownOutcome, .truncated: .transient
    case .notFound, .preconditionFailed, .tooLarge, .invalidKey, .failed(.damaged): .object
    case .denied, .failed: .remote
    case .cancelled: nil
    }
  }

  /// The same failure, of another class.
  func concerning(_ faultClass: FaultClass) -> ObjectStoreError {
    ObjectStoreError(reason, message, faultClass: faultClass)
  }

  public var description: String { message }

  /// The error for a body that is larger than the limit.
  package static func tooLarge(_ key: ObjectKey, limit: Int64) -> ObjectStoreError {
    ObjectStoreError(.tooLarge, "\(key): the object is larger than the limit of \(limit) bytes")
  }

  /// Whether the same request may be retried as it is. After `unknownOutcome` the object must be read back
  /// first.
  public var isTransient: Bool {
    switch reason {
    case .transient, .truncated: true
    default: false
    }
  }

  /// The delay before a retry that the store requested, in milliseconds.
  package var retryAfter: Int64? {
    switch reason {
    case .transient(let wait), .unknownOutcome(let wait): wait
    default: nil
    }
  }

  /// The same failure with the library's error code: `denied` becomes `unauthorized`, `transient` and
  /// `unknownOutcome` become `unavailable`.
  package var satchelError: SatchelError {
    let code: SatchelError.Code =
      switch reason {
      case .notFound: .notFound
      case .preconditionFailed: .busy
      case .unknownOutcome, .transient: .unavailable
      case .denied: .unauthorized
      case .truncated: .damaged
      case .tooLarge: .full
      case .cancelled: .cancelled
      case .invalidKey: .invalid
      case .failed(let code): code
      }
    return SatchelError(code, message, underlying: self)
  }
}

extension SatchelError {
  /// Converts an error for callers of the library.
  package init(converting error: any Error) {
    switch error {
    case let error as SatchelError: self = error
    case let error as ObjectStoreError: self = error.satchelError
    default: self.init(.internal, "\(error)", underlying: error)
    }
  }
}
