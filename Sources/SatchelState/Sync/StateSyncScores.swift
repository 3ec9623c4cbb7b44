import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// Scores by key: `{"scores": {key: number, …}, "minimum": …, "maximum": …}`, in byte order of the keys.
struct StateSyncScores: StateSyncContent {
  var scores: [StateName: Double] = [:]
  var bounds: StateBounds?
  var isSensitive = false
  static let kind = Change.StateKey.Kind.scores
  var content: StateContent { .scores(scores) }

  init() {}

  init?(_ content: StateContent) {
    guard case .scores(let scores) = content else { return nil }
    self.scores = scores
  }

  func hasSameElements(as other: Self) -> Bool { scores == other.scores }

  // MARK: Merging

  static func combined(
    base: Self?, _ local: Self, _ remote: Self, bounds: StateBounds?, newer: StateSyncNewer?
  ) -> Self {
    var result = StateSyncScores()
    // The beginning of a score.
    let start = bounded(0, bounds)
    for key in Set(local.scores.keys).union(remote.scores.keys) {
      let (one, two) = (local.scores[key], remote.scores[key])
      let score =
        if let base {
          merged(base: base.scores[key], one, two, start: start)
        } else {
          merged(one, two, newer: newer, start: start)
        }
      if let score { result.scores[key] = Self.bounded(score, bounds) }
    }
    return result
  }

  /// Returns the result of the changes of two devices to a score: the sum of both.
  private static func merged(
    base: Double?, _ local: Double?, _ remote: Double?, start: Double
  ) -> Double? {
    if local == base { return remote }
    if remote == base { return local }
    return sum(local ?? start, remote ?? start, since: base ?? start)
  }

  /// Returns the result of two scores without a base. Equal ones count as the same one, because a store that
  /// was detached downloads its own scores again.
  private static func merged(
    _ local: Double?, _ remote: Double?, newer: StateSyncNewer?, start: Double
  ) -> Double? {
    guard let local, let remote, local != remote else { return local ?? remote }
    switch newer {
    case .local: return local
    case .remote: return remote
    case .neither: return max(local, remote)
    case nil: return sum(local, remote, since: start)
    }
  }

  /// Returns `remote + (local - base)`, in an order of the operations that makes both devices round alike.
  private static func sum(_ local: Double, _ remote: Double, since base: Double) -> Double {
    max(local, remote) + (min(local, remote) - base)
  }

  private static func bounded(_ score: Double, _ bounds: StateBounds?) -> Double {
    guard case .scores(let range)? = bounds else {
      return min(max(score, -.greatestFiniteMagnitude), .greatestFiniteMagnitude)
    }
    return ScoreRule.bounded(score, minimum: range.lowerBound, maximum: range.upperBound)
  }
}
