import SatchelCore

/// When the next sync of a store that is kept in sync is due. A value that reads no clock: times are those of the
/// monotonic clock, in milliseconds.
struct SyncSchedule {
  /// The time without a commit after which changes are sent, and the longest time that commits can delay it.
  static let quiet: Int64 = 1_000
  static let longestDelay: Int64 = 5_000
  /// The time between two looks at a network that was not there.
  static let networkInterval: Int64 = 5_000

  /// The time from the end of a sync to the next one; nil to synchronize only for changes and requests.
  let interval: Int64?
  /// The attempts that have failed since the last success.
  private(set) var failures = 0
  private var isRequested = true
  private var firstChange: Int64?
  private var lastChange: Int64 = 0
  /// When the next attempt after the last one is due without changes and requests.
  private var next: Int64?
  private var heldUntil: Int64?

  init(interval: Int64?) { self.interval = interval }

  mutating func request() { (isRequested, heldUntil) = (true, nil) }

  mutating func noteChange(at now: Int64) {
    if firstChange == nil { firstChange = now }
    lastChange = now
  }

  /// When to look again; nil for a request or a change to come.
  var due: Int64? {
    if let heldUntil { return heldUntil }
    return isRequested ? 0 : failures > 0 ? next : [next, changesDue].compactMap { $0 }.min()
  }

  /// Whether a sync is due for the changes alone, which may be those that a sync has applied.
  func isForChanges(at now: Int64) -> Bool {
    !isRequested && failures == 0 && next.map { $0 > now } ?? true
  }

  private var changesDue: Int64? {
    firstChange.map { min($0 + Self.longestDelay, lastChange + Self.quiet) }
  }

  /// There is no network: what is due stays due.
  mutating func hold(at now: Int64) { heldUntil = now + Self.networkInterval }

  /// The changes so far need no sync, or one begins.
  mutating func forgetChanges() { (firstChange, heldUntil) = (nil, nil) }

  mutating func begin() {
    forgetChanges()
    isRequested = false
  }

  /// - Parameter jitter: 0 to 1; up to a tenth of the interval is added, so that devices that began together spread out
  mutating func succeed(at now: Int64, jitter: Double) {
    failures = 0
    next = interval.map { now + $0 + Int64(Double($0 / 10) * jitter) }
  }

  /// - Parameter isFinal: whether trying again soon is useless
  mutating func fail(at now: Int64, isFinal: Bool, jitter: Double) {
    failures += 1
    next = now + Backoff.wait(afterAttempts: failures, isFinal: isFinal, jitter: jitter)
  }
}
