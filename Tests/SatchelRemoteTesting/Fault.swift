import SatchelTesting

/// A fault of one request.
package enum Fault: Sendable, Equatable, CaseIterable {
  case none
  /// 409: a conflict with another request, without the effect.
  case conflict
  /// 412 although the condition is met: the client's own first attempt, which was repeated unnoticed,
  /// succeeded.
  case preconditionAfter
  /// 404 for an object that exists: a stale read.
  case missing
  /// 500 or 503, with and without the effect.
  case errorBefore, errorAfter
  /// A timeout, with and without the effect.
  case timeoutBefore, timeoutAfter
  /// The connection was refused, so nothing was sent.
  case refused
  /// The body ends early.
  case truncated
  /// One byte of the body is changed.
  case corrupted
  /// The previous version is returned.
  case stale
}

extension Fault {
  /// Returns a random plan, in which about one request in `rarity` has a fault.
  package static func plan(seed: UInt64, count: Int, rarity: Int = 3, of kinds: [Fault] = allCases) -> [Fault]
  {
    var random = SeededRandom(seed: seed)
    return (0..<count).map { _ in
      Int.random(in: 0..<rarity, using: &random) == 0 ? kinds.randomElement(using: &random) ?? .none : .none
    }
  }
}
