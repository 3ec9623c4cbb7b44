/// The directed graph of a story: segments as nodes, choices as edges.
///
/// All traversals use lists instead of recursion, so that a chain of a million segments does not overflow the
/// stack. Time and memory are proportional to segments plus choices.
struct StoryGraph {
  /// For each choice, the segment that it leads to; -1 when there is no such segment.
  let targets: ContiguousArray<Int32>
  /// The segments by id; of equal ids, the first one.
  let ids: StoryIDTable
  /// The segments whose id an earlier segment has, each with that segment.
  private(set) var duplicates: [(segment: Int, earlier: Int)] = []

  init(_ table: inout StoryTable) {
    let text = table.text
    var ids = StoryIDTable(capacity: table.segments.count)
    for index in table.segments.indices where table.segments[index].flags.contains(.hasID) {
      let segment = table.segments[index]
      guard let earlier = ids.insert(index, text.bytes(segment.id), hash: segment.idHash) else { continue }
      table.segments[index].flags.insert(.isDuplicate)
      duplicates.append((index, earlier))
    }
    self.ids = ids
    var targets = ContiguousArray<Int32>(repeating: -1, count: table.choices.count)
    table.choices.withUnsafeBufferPointer { choices in
      targets.withUnsafeMutableBufferPointer { targets in
        ids.find(targetsOf: choices, in: text) { targets[$0] = Int32(truncatingIfNeeded: $1) }
      }
    }
    self.targets = targets
  }

  /// Returns the segments that can be reached from the first one, in breadth-first order.
  ///
  /// - Parameter isOpen: whether a segment may be entered
  func reach(_ table: StoryTable, isOpen: (Int) -> Bool = { _ in true }) -> Reach {
    var reach = Reach(count: table.segments.count)
    guard !table.segments.isEmpty, isOpen(0) else { return reach }
    reach.enter(0, from: -1)
    var next = 0
    while next < reach.order.count {
      let segment = Int(reach.order[next])
      next += 1
      for choice in table.choiceRange(segment) {
        let target = Int(targets[choice])
        if target >= 0, !reach.contains(target), isOpen(target) { reach.enter(target, from: segment) }
      }
    }
    if !table.includes.isEmpty { enterParts(&reach, table) }
    return reach
  }

  /// Enters what reached segments display as their parts. The choices of parts are among their own.
  private func enterParts(_ reach: inout Reach, _ table: StoryTable) {
    reach.partsStart = reach.order.count
    var parts: [Int32: [Int32]] = [:]
    for include in table.includes { parts[include.from, default: []].append(include.to) }
    var next = 0
    while next < reach.order.count {
      let segment = reach.order[next]
      next += 1
      for part in parts[segment] ?? [] where !reach.contains(Int(part)) {
        reach.enter(Int(part), from: Int(segment))
      }
    }
  }

  /// The result of a breadth-first search.
  struct Reach {
    /// The reached segments, in order of distance.
    private(set) var order: ContiguousArray<Int32> = []
    /// For each segment, the one that it was reached from; -1 for the start, -2 when it was not reached.
    private(set) var from: ContiguousArray<Int32>
    /// Where in `order` the segments begin that are only displayed as parts of reached ones.
    fileprivate(set) var partsStart = Int.max

    init(count: Int) {
      from = ContiguousArray(repeating: -2, count: count)
    }

    @inline(__always)
    func contains(_ segment: Int) -> Bool { from[segment] != -2 }

    /// The segments that a choice leads to, and the first one.
    var entered: ContiguousArray<Int32>.SubSequence { order.prefix(partsStart) }

    /// Returns the nearest ending.
    func ending(_ table: StoryTable) -> Int? {
      entered.first { table.isEnding(Int($0)) }.map { Int($0) }
    }

    /// Returns the segments on a shortest path from the start to a reached segment, both included.
    func path(to segment: Int) -> [Int] {
      var path: [Int] = []
      var current = segment
      while current >= 0 {
        path.append(current)
        current = Int(from[current])
      }
      return path.reversed()
    }

    @inline(__always)
    mutating func enter(_ segment: Int, from other: Int) {
      from[segment] = Int32(truncatingIfNeeded: other)
      order.append(Int32(truncatingIfNeeded: segment))
    }
  }

  /// Returns, for each segment, whether it can be reached when code leads to every segment that it names.
  func mayReach(_ table: StoryTable, _ reach: Reach) -> ContiguousArray<Bool> {
    var result = ContiguousArray(repeating: false, count: table.segments.count)
    var open: ContiguousArray<Int32> = []
    func enter(_ segment: Int32) {
      guard segment >= 0, !result[Int(segment)] else { return }
      result[Int(segment)] = true
      open.append(segment)
    }
    var parts: [Int32: [Int32]] = [:]
    for include in table.includes { parts[include.from, default: []].append(include.to) }
    reach.order.forEach(enter)
    for mention in table.mentions { enter(mention.to) }
    while let segment = open.popLast() {
      for choice in table.choiceRange(Int(segment)) { enter(targets[choice]) }
      parts[segment]?.forEach(enter)
    }
    return result
  }

  /// Returns, for each segment, whether an ending can be reached from it, by searching backwards from all
  /// endings. Code that names a segment may lead there.
  func reachesEnding(_ table: StoryTable) -> ContiguousArray<Bool> {
    let count = table.segments.count
    let sources = Sources(table, targets)
    var result = ContiguousArray(repeating: false, count: count)
    var open: ContiguousArray<Int32> = []
    for segment in 0..<count
    where table.isEnding(segment) || table.segments[segment].flags.contains(.jumps)
      || (table.isImported && isRestart(segment, table))
    {
      result[segment] = true
      open.append(Int32(truncatingIfNeeded: segment))
    }
    var mentioning: [Int32: [Int32]] = [:]
    for mention in table.mentions where mention.from >= 0 {
      mentioning[mention.to, default: []].append(mention.from)
    }
    while let segment = open.popLast() {
      for source in sources.of(Int(segment)) where !result[Int(source)] {
        result[Int(source)] = true
        open.append(source)
      }
      if mentioning.isEmpty { continue }
      for source in mentioning[segment] ?? [] where !result[Int(source)] {
        result[Int(source)] = true
        open.append(source)
      }
    }
    return result
  }

  /// Whether all choices of a segment lead back to the first one, as "Play again" does in Twine's games, which
  /// cannot mark an ending.
  private func isRestart(_ segment: Int, _ table: StoryTable) -> Bool {
    segment > 0 && table.choiceRange(segment).allSatisfy { targets[$0] == 0 }
  }

  /// The reversed edges: for each segment, the segments that lead to it, in one array.
  struct Sources {
    private var first: ContiguousArray<Int32>
    private var sources: ContiguousArray<Int32>

    init(_ table: StoryTable, _ targets: ContiguousArray<Int32>) {
      let count = table.segments.count
      first = ContiguousArray(repeating: 0, count: count + 1)
      for target in targets where target >= 0 { first[Int(target) + 1] += 1 }
      for segment in 0..<count { first[segment + 1] += first[segment] }
      sources = ContiguousArray(repeating: 0, count: Int(first[count]))
      var next = first
      for segment in 0..<count {
        for choice in table.choiceRange(segment) where targets[choice] >= 0 {
          let target = Int(targets[choice])
          sources[Int(next[target])] = Int32(truncatingIfNeeded: segment)
          next[target] += 1
        }
      }
    }

    @inline(__always)
    func of(_ segment: Int) -> ContiguousArray<Int32>.SubSequence {
      sources[Int(first[segment])..<Int(first[segment + 1])]
    }
  }
}
