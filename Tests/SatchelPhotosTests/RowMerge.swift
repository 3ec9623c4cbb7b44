@testable import SatchelPhotos

/// The merge of a shard: one pass over the remote's lines, the local rows and the base rows, each in the order of
/// their keys and with each key once. Reads no store and writes none; memory: a line of each.
struct RowMerge<Key: Comparable, Line: Equatable> {
  /// The totals of a merge.
  struct Summary: Equatable, Sendable {
    /// Photos after the merge.
    var photos: Int64 = 0
    /// Local photos that no longer exist.
    var removed: Int64 = 0
    /// Photos that differ from the remote's: the base rows after the merge.
    var changes: Int64 = 0
    /// Local changes that the remote's lines replaced.
    var conflicts: Int64 = 0
  }

  let rules: RowMergeRules
  private(set) var summary = Summary()

  init(_ rules: RowMergeRules) { self.rules = rules }

  /// Passes to `body` each photo for which there is something to write, in the order of the keys. The next elements
  /// of the sequences are read after `body` has returned, except for one of each.
  ///
  /// - Returns: the totals
  static func each(
    remote: some Sequence<(key: Key, line: Line)>, local: some Sequence<(key: Key, line: Line)>,
    base: some Sequence<(key: Key, row: BaseRow<Line>)>, rules: RowMergeRules,
    _ body: (Key, RowDecision<Line>) throws -> Void
  ) rethrows -> Summary {
    var merge = RowMerge(rules)
    var (remotes, locals, bases) = (
      remote.makeIterator(), local.makeIterator(), base.makeIterator()
    )
    var (theirs, ours, changed) = (remotes.next(), locals.next(), bases.next())
    while let key = least(theirs?.key, ours?.key, changed?.key) {
      let decision = merge.decide(
        remote: theirs?.key == key ? theirs?.line : nil, local: ours?.key == key ? ours?.line : nil,
        changed: changed?.key == key ? changed?.row : nil)
      if !decision.isNothing { try body(key, decision) }
      if theirs?.key == key { theirs = remotes.next() }
      if ours?.key == key { ours = locals.next() }
      if changed?.key == key { changed = bases.next() }
    }
    return merge.summary
  }

  /// Decides about one photo, and counts it.
  mutating func decide(remote: Line?, local: Line?, changed: BaseRow<Line>?) -> RowDecision<Line> {
    let decision = RowDecision(remote: remote, local: local, changed: changed, rules)
    let isPresent: Bool
    switch decision.row {
    case .keep: isPresent = local != nil
    case .write: isPresent = true
    case .delete: isPresent = false
    }
    let isChanged: Bool
    switch decision.base {
    case .keep: isChanged = changed != nil
    case .write: isChanged = true
    case .delete: isChanged = false
    }
    if isPresent { summary.photos += 1 } else if local != nil { summary.removed += 1 }
    if isChanged { summary.changes += 1 }
    if decision.conflict != nil { summary.conflicts += 1 }
    return decision
  }

  private static func least(_ one: Key?, _ two: Key?, _ three: Key?) -> Key? {
    var least = one
    if let two, least.map({ two < $0 }) ?? true { least = two }
    if let three, least.map({ three < $0 }) ?? true { least = three }
    return least
  }
}
