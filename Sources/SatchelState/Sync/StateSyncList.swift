import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// The items of a list: `{"items": [{"value": …, "time": …}, …], "limit": …, "max_age": …, "unique": …}`, the
/// newest first.
struct StateSyncList: StateSyncContent {
  typealias Item = StateListContent.Item

  var items: [Item] = []
  var bounds: StateBounds?
  var isSensitive = false
  static let kind = Change.StateKey.Kind.list
  var content: StateContent { .list(StateListContent(items: items)) }

  init() {}

  init(items: [Item], bounds: StateBounds?) {
    self.items = items
    self.bounds = bounds
  }

  init?(_ content: StateContent) {
    guard case .list(let list) = content else { return nil }
    items = list.items
  }

  mutating func setReceived(_ received: Int64) {
    // As stored times are stamped: they stay in order.
    let time = max(received, items.first { !StoreClock.isAhead($0.time, of: received) }?.time ?? 0)
    for index in items.indices {
      guard StoreClock.isAhead(items[index].time, of: received) else { return }
      items[index].time = time
    }
  }

  func hasSameElements(as other: Self) -> Bool { items == other.items }

  // MARK: Merging

  /// A push: two devices make the same one only by synchronizing it.
  private struct Push: Hashable {
    var identity: ValueIdentity
    var time: Int64
  }

  private struct Occurrences {
    var count = 0
    /// The first encoding: objects with another order of keys are equal.
    var value: [UInt8] = []
    /// The position of the last one among the items of its time.
    var rank = 0

    mutating func add(_ value: [UInt8], rank: Int) {
      if count == 0 || value.lexicographicallyPrecedes(self.value) { self.value = value }
      self.rank = rank
      count += 1
    }
  }

  private var pushes: [Push: Occurrences] {
    var (pushes, ranks): ([Push: Occurrences], [Int64: Int]) = ([:], [:])
    for item in items {
      let rank = ranks[item.time, default: 0]
      ranks[item.time] = rank + 1
      let push = Push(identity: item.identity, time: item.time)
      pushes[push, default: Occurrences()].add(item.value, rank: rank)
    }
    return pushes
  }

  static func combined(
    base: Self?, _ local: Self, _ remote: Self, bounds: StateBounds?, newer: StateSyncNewer?
  ) -> Self {
    let (base, local, remote) = (base?.pushes ?? [:], local.pushes, remote.pushes)
    // Items of one time keep their order. Of those that one side has added to, the others come later.
    var ranked: [(item: Item, rank: Int)] = []
    for push in Set(local.keys).union(remote.keys) {
      let found = [local[push], remote[push]].compactMap { $0 }
      let value = found.map(\.value).min { $0.lexicographicallyPrecedes($1) } ?? []
      let count = count(
        base: base[push]?.count ?? 0, local[push]?.count ?? 0, remote[push]?.count ?? 0)
      let item = Item(value: value, identity: push.identity, time: push.time)
      ranked += Array(repeating: (item, found.map(\.rank).max() ?? 0), count: count)
    }
    ranked.sort { one, two in
      if one.item.time != two.item.time { return one.item.time > two.item.time }
      return one.rank != two.rank
        ? one.rank < two.rank : one.item.value.lexicographicallyPrecedes(two.item.value)
    }
    var items = ranked.map(\.item)
    guard case .list(let limits)? = bounds else { return StateSyncList(items: items, bounds: bounds) }
    if limits.isUnique {
      var known: Set<ValueIdentity> = []
      items.removeAll { !known.insert($0.identity).inserted }
    }
    let kept = StateListContent(items: items).within(limits, at: items.first?.time ?? 0)
    return StateSyncList(items: kept, bounds: bounds)
  }

  /// Returns the number of copies of an item that remain: an addition or removal by both counts once.
  private static func count(base: Int, _ local: Int, _ remote: Int) -> Int {
    if local >= base, remote >= base { return max(local, remote) }
    if local <= base, remote <= base { return min(local, remote) }
    return local + remote - base
  }
}
