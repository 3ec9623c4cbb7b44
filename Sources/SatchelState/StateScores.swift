import SatchelCore
import SatchelStorage

/// Numbers by key that begin at 0, or at the bound next to it, are added to and stay within bounds, for example preferences or habits.
public struct StateScores: Sendable {
  let state: StateStore
  let name: StateName
  public let bounds: ClosedRange<Double>

  private func target(_ key: String) throws -> StateTarget { .score(name, try StateName(key, as: "key")) }

  /// Adds to a score.
  ///
  /// - Returns: the new score, within the bounds
  /// - Throws: `SatchelError` `.invalid` for a delta that is not finite, `.readOnly`, `.closed`
  @discardableResult
  public func add(_ key: String, _ delta: Double) throws -> Double {
    guard delta.isFinite else {
      throw SatchelError(.invalid, "state/scores/\(name.text): “\(key)” cannot be changed by \(delta)")
        .at(StateID(.scores, name).details)
    }
    let target = try target(key)
    try state.checkKey(of: target.id)
    let action = StateOperation.Action.add(delta, minimum: bounds.lowerBound, maximum: bounds.upperBound)
    let before = try state.add(target, action) { try score(target) }
    return ScoreRule.sum(before, delta, minimum: bounds.lowerBound, maximum: bounds.upperBound)
  }

  /// Returns a score; 0, or the nearest bound, when nothing was added to it yet.
  public func value(_ key: String) throws -> Double {
    try state.checkOpen()
    return bounded(try score(target(key)))
  }

  /// Returns all scores, in byte order of their keys.
  public func all() throws -> [(key: String, value: Double)] {
    try state.checkOpen()
    let changes = state.saver.operations { $0.kind == .score && $0.name == name }
    guard case .scores(let scores) = try state.content(StateID(.scores, name), with: changes).content else {
      return []
    }
    return scores.sorted { $0.key < $1.key }.map { ($0.key.text, bounded($0.value)) }
  }

  /// Removes a score.
  public func remove(_ key: String) throws {
    let target = try target(key)
    try state.checkKey(of: target.id)
    try state.add(target, .remove)
  }

  /// Removes all scores; see `StateStore.clear(_:_:)`.
  public func clear() throws { try state.clear(StateID(.scores, name)) }

  private func score(_ target: StateTarget) throws -> Double? {
    let changes = state.saver.operations(of: target)
    return try state.read(changes) { reader, unsaved in
      var score: Double?
      if let key = target.key, case .scores(let scores)? = try reader?.content(target.id) {
        score = scores[key]
      }
      for operation in unsaved { score = operation.action.score(after: score) }
      return score
    }
  }

  private func bounded(_ score: Double?) -> Double {
    ScoreRule.bounded(score ?? 0, minimum: bounds.lowerBound, maximum: bounds.upperBound)
  }
}

extension StateOperation.Action {
  /// Returns the score after the action; nil for none.
  func score(after score: Double?) -> Double? {
    switch self {
    case .add(let delta, let minimum, let maximum):
      ScoreRule.sum(score, delta, minimum: minimum, maximum: maximum)
    case .remove: nil
    default: score
    }
  }
}

/// The arithmetic of scores.
enum ScoreRule {
  /// Returns a score after an addition to it. It is added to what `value` returns within the same bounds, so
  /// that no gain is lost below the minimum.
  ///
  /// - Parameter score: nil when nothing was added yet
  static func sum(_ score: Double?, _ delta: Double, minimum: Double, maximum: Double) -> Double {
    let before = bounded(score ?? 0, minimum: minimum, maximum: maximum)
    return bounded(before + delta, minimum: minimum, maximum: maximum)
  }

  static func bounded(_ score: Double, minimum: Double, maximum: Double) -> Double {
    // An infinite sum is at its bound, like any other that is too large.
    min(max(score, minimum), maximum)
  }
}
