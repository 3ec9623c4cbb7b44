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
