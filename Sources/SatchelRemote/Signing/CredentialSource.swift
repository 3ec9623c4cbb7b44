import SatchelCore

/// The credentials of a store, and where new ones come from: values that do not change, or a function that is asked
/// first, again a minute before they expire, and again when the store does not accept them any more.
public final class CredentialSource: Sendable {
  /// The time before the expiry at which new credentials are asked for, in milliseconds.
  private static let margin: Int64 = 60_000

  private let provider: (@Sendable () throws -> Credentials)?
  private let state: Locked<Credentials?>
  /// Held while the function is asked, so that several threads do not ask at once.
  private let turn = Locked(())

  public init(_ credentials: Credentials) {
    provider = nil
    state = Locked(credentials)
  }

  /// - Parameter provider: called from any thread, one call at a time; it must not use the store
  public init(_ provider: @escaping @Sendable () throws -> Credentials) {
    self.provider = provider
    state = Locked(nil)
  }

  /// The credentials that are known now; nil before the first request.
  var known: Credentials? { state.withLock { $0 } }

  /// Returns credentials that have not expired, as far as known.
  ///
  /// - Parameter now: Unix milliseconds
  /// - Throws: `.denied` with the message of the function's error; an `ObjectStoreError` of the function as it is
  func current(at now: Int64) throws(ObjectStoreError) -> Credentials {
    if let known, isFresh(known, at: now) { return known }
    return try asked(unless: { isFresh($0, at: now) })
  }

  /// Credentials without a function that could give others are used in any case.
  private func isFresh(_ known: Credentials, at now: Int64) -> Bool {
    guard provider != nil, let expires = known.expires else { return true }
    return expires > now + Self.margin
  }

  /// Asks for credentials other than those that the store has refused.
  ///
  /// - Returns: whether there are others
  func renew(_ refused: Credentials) throws(ObjectStoreError) -> Bool {
    if provider == nil { return false }
    return try !asked(unless: { !$0.areSame(as: refused) }).areSame(as: refused)
  }

  /// Whether an error code of S3 means that other credentials may be accepted.
  static func isRenewing(_ code: String) -> Bool {
    switch code {
    case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken",
      "InvalidAccessKeyId",
      "InvalidClientTokenId":
      true
    default: false
    }
  }

  /// Asks the function, unless another thread has done so meanwhile.
  private func asked(unless isGood: (Credentials) -> Bool) throws(ObjectStoreError) -> Credentials {
    do {
      return try turn.withLock { _ in
        if let known, isGood(known) { return known }
        guard let provider else {
          throw ObjectStoreError(.denied, "the store has no credentials")
        }
        let credentials = try provider()
        state.withLock { $0 = credentials }
        return credentials
      }
    } catch let error as ObjectStoreError {
      throw error
    } catch {
      throw ObjectStoreError(.denied, "the credentials: \(SatchelError(converting: error).message)")
    }
  }
}
