import SatchelCore
/// The packs that a commit rewrites from the local entries, so that neither the number of packs nor their
/// dead entries grow. A value, computed from values.
struct SyncCompaction: Sendable, Equatable {
  /// Ranges of adjacent packs, each to be replaced by one pack; ascending and disjoint.
  private(set) var rewrites: [Range<Int>] = []

  /// - Parameters:
  ///   - live: the live entries in the interval of each pack
  ///   - bytes: of all live entries
  ///   - required: the indices of packs that are rewritten in any case, as many as one commit may
  ///   - horizon: of the next head
  static func plan(
    _ packs: [SyncPack], live: [SyncLiveEntries], bytes: Int64, required: [Int] = [], horizon: Int64 = 0,
    _ sizes: SyncSizes
  ) -> SyncCompaction {
    guard live.count == packs.count else { return SyncCompaction() }
    let full = sizes.fullPack(bytes)
    var (chosen, order) = ([Range<Int>](), Order(packs, live, horizon: horizon))
    let live = live.map(\.bytes)
    func choose(_ range: Range<Int>?) {
      guard let range, order.used.isDisjoint(with: range) else { return }
      chosen.append(range)
      order.used.formUnion(range)
    }
    for index in required.prefix(sizes.rewrittenPacks) where packs.indices.contains(index) {
      choose(order.allows(index..<index + 1) ? index..<index + 1 : order.first.map { $0..<$0 + 1 })
    }
    if sizes.hasManySmall(packs, full: full) {
      choose(smallest(packs, live: live, full: full, order: order, sizes))
    }
    if sizes.hasMuchDead(packs, bytes: bytes) {
      choose(deadest(packs, live: live, full: full, order: order, sizes))
    }
    return SyncCompaction(rewrites: chosen.ordered { $0.lowerBound < $1.lowerBound })
  }

  /// The adjacent small packs with the fewest live bytes.
  private static func smallest(
    _ packs: [SyncPack], live: [Int64], full: Int64, order: Order, _ sizes: SyncSizes
  ) -> Range<Int>? {
    let width = max(sizes.mergedPacks, 2)
    var best: (range: Range<Int>, live: Int64)?
    for start in 0..<max(packs.count - width + 1, 0) {
      let range = start..<start + width
      guard range.allSatisfy({ sizes.isSmall(packs[$0], full: full) && !order.used.contains($0) }),
        order.allows(range)
      else {
        continue
      }
      let sum = range.reduce(0) { $0 + live[$1] }
      if sum <= full, best.map({ sum < $0.live }) ?? true { best = (range, sum) }
    }
    return best?.range
  }

  /// The pack with the greatest share of dead bytes, and those after it while they fit into one full pack.
  private static func deadest(
    _ packs: [SyncPack], live: [Int64], full: Int64, order: Order, _ sizes: SyncSizes
  ) -> Range<Int>? {
    func share(_ index: Int) -> Double { Double(live[index]) / Double(max(packs[index].bytes, 1)) }
    let candidates = packs.indices.filter {
      !order.used.contains($0) && live[$0] < packs[$0].bytes && order.allows($0..<$0 + 1)
    }
    func dead(_ indices: [Int]) -> Int64 { indices.reduce(0) { $0 + packs[$1].bytes - live[$1] } }
    guard var first = candidates.min(by: { share($0) < share($1) }) else { return nil }
    // Where more of the dead bytes are bound to an order, it begins with the first pack.
    if let bound = order.first, dead(order.bound) > dead([first]) { first = bound }
    var (end, sum) = (first + 1, live[first])
    while end < packs.count, end - first < sizes.rewrittenPacks, !order.used.contains(end), share(end) < 0.8,
      sum + live[end] <= full
    {
      sum += live[end]
      end += 1
    }
    return first..<end
  }
}

extension SyncCompaction {
  /// The order in which packs are rewritten. A pack may have tombstones up to the horizon, which its readers need while
  /// an earlier pack has the entry that was deleted: such a pack is rewritten after, or together with, all earlier ones
  /// that have dead entries.
  struct Order {
    /// The packs with dead entries, ascending;
    private let dirty: [Int]
    /// those of them that may have dropped tombstones.
    let bound: [Int]
    /// Packs that are rewritten.
    var used: Set<Int> = []

    init(_ packs: [SyncPack], _ live: [SyncLiveEntries], horizon: Int64) {
      dirty = packs.indices.filter { live[$0].count < packs[$0].entries }
      bound = dirty.filter { packs[$0].from <= horizon }
    }

    /// The first pack with dead entries that is not rewritten yet.
    var first: Int? { dirty.first { !used.contains($0) } }

    func allows(_ range: Range<Int>) -> Bool {
      guard bound.contains(where: range.contains) else { return true }
      return first.map { $0 >= range.lowerBound } ?? true
    }

    /// The packs with dead entries that can be rewritten one after the other.
    ///
    /// - Parameter isSmall: whether the live entries of a pack fit into a new one
    func rewritable(_ isSmall: (Int) -> Bool) -> [Int] {
      var (rest, found) = (self, [Int]())
      for index in dirty where isSmall(index) && rest.allows(index..<index + 1) {
        rest.used.insert(index)
        found.append(index)
      }
      return found
    }
  }
}
