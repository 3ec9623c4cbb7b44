import SatchelTesting

/// What can go wrong with one request.
package enum Fault: Sendable, Equatable, CaseIterable {
  case none
  /// 409: a conflict with another request; not done.
  case conflict
  /// 412 although the condition is met: the client's own first attempt, repeated behind its back, had won.
  case preconditionAfter
  /// 404 for what is there: a reader that lags behind.
  case missing
  /// 500 or 503, with and without the effect.
  case errorBefore, errorAfter
  /// No answer in time, with and without the effect.
  case timeoutBefore, timeoutAfter
  /// The connection broke before the store saw anything, and it is known.
  case refused
  /// The body ends early.
  case truncated
  /// A byte of the body is another one.
  case corrupted
  /// The version before the present one.
  case stale
}

extension Fault {
  /// So many faults by chance, about one request in `rarity`.
  package static func plan(seed: UInt64, count: Int, rarity: Int = 3, of kinds: [Fault] = allCases) -> [Fault]
  {
    var random = SeededRandom(seed: seed)
    return (0..<count).map { _ in
      Int.random(in: 0..<rarity, using: &random) == 0 ? kinds.randomElement(using: &random) ?? .none : .none
    }
  }
}
