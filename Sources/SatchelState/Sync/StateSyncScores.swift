import SatchelCore
import SatchelJSON
import SatchelStorage

/// Scores by key: `{"scores": {key: number, …}, "minimum": …, "maximum": …}`, in byte order of the keys.
struct StateSyncScores: StateSyncContent {
  var scores: [StateName: Double] = [:]
  var bounds: StateBounds?
  var isSensitive = false
  var isEmpty: Bool { scores.isEmpty }

  init() {}

  init?(document: JSONValue) {
    guard let members = document["scores"]?.objectValue, let bounds = StateBounds(document, of: .scores)
    else {
      return nil
    }
    for (key, value) in members {
      guard let name = try? StateName(key, as: "key"), let score = value.doubleValue, score.isFinite else {
        return nil
      }
      scores[name] = score
    }
    self.bounds = bounds
  }

  init(_ name: StateName, bounds: StateBounds?, in tables: StateTables) throws {
    self.bounds = bounds
    scores = try tables.scores(name)
  }

  func document(at location: String) throws -> JSONValue {
    let sorted = scores.sorted { $0.key < $1.key }
    // The sum makes 0.0 of -0.0.
    var object: JSONObject = [
      "scores": .object(JSONObject(sorted.map { ($0.key.text, .double($0.value + 0)) }))
    ]
    bounds?.write(into: &object)
    return .object(object)
  }

  func replace(_ old: Self, _ name: StateName, time: Int64, in tables: StateTables) throws {
    let sealing = try tables.sealingForWriting(StateID(.scores, name))
    for key in old.scores.keys where scores[key] == nil { try tables.delete(.score(name, key)) }
    for (key, score) in scores where old.scores[key] != score {
      try tables.put(.score(name, key), score, sealing, time: time)
    }
  }

  func hasSameElements(as other: Self) -> Bool { scores == other.scores }

  static func newestTime(_ name: StateName, in tables: StateTables) throws -> Int64 {
    try tables.newestTime(in: StateSpace.scores(of: name))
  }

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
