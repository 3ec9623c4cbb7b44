import SatchelRemote
import SatchelStorage

/// Which stores are known to heed conditions, for whom: asking costs some requests, and once is enough.
final class ProbedStores: Sendable {
  private struct Known {
    weak var store: AnyObject?
    var user: UserID
  }

  static let shared = ProbedStores()
  private let known = Guarded<[Known]>([])

  /// - Throws: `SatchelError` (`invalid`) when the store ignores conditions; what asking it met
  func check(_ store: any ObjectStore, as asked: any ObjectStore, _ remote: SyncRemote, _ user: UserID) throws
  {
    // Only what has an identity can be known again.
    let identity = type(of: store) is AnyClass ? store as AnyObject : nil
    let isKnown = known.withLock { known in
      known.removeAll { $0.store == nil }
      return known.contains { $0.store === identity && $0.user == user }
    }
    if isKnown, identity != nil { return }
    let verdict = try ConditionProbe().probe(
      asked, under: ObjectPrefix("catalogs/\(user)/"), retry: remote.retry, cancellation: remote.cancellation)
    if case .ignored(let what) = verdict {
      throw SatchelError(
        .invalid,
        "the object store ignores conditions, so that two devices at once could overwrite each other: \(what)"
      )
    }
    if let identity { known.withLock { $0.append(Known(store: identity, user: user)) } }
  }
}
