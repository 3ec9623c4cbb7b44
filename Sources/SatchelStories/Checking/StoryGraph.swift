/// The directed graph of a story: segments as nodes, choices as edges.
///
/// An edge leads surely or possibly: possibly where a choice is dynamic, and perhaps leads to its target.
///
/// All traversals use lists instead of recursion, so that a chain of a million segments does not overflow the
/// stack. Time and memory are proportional to segments plus choices.
package struct StoryGraph {
  /// For each choice, the segment that it surely leads to; -1 when there is no such segment.
  let targets: ContiguousArray<Int32>
  /// The segments by id; of equal ids, the first one.
  let ids: StoryIDTable
  /// The segments whose id an earlier segment has, each with that segment.
  let duplicates: [(segment: Int, earlier: Int)]

  /// The choices of each segment, and whether it is an ending: what traversals read, without the rest of the
  /// segments' records, so that it fits into the processor's cache.
  let choices: ContiguousArray<Range<Int32>>
  let isEnding: ContiguousArray<Bool>
  /// The first segments of every path.
  private let opening: [Int32]
  /// For each segment, the segments that it possibly leads to.
  let possible: [Int32: [Int32]]
  /// For each segment, those that it displays as its parts.
  let parts: [Int32: [Int32]]

  @_optimize(speed)
  init(_ table: inout StoryTable) {
    let text = table.text
    let count = table.segments.count
    var ids = StoryIDTable(capacity: count)
    var duplicates: [(segment: Int, earlier: Int)] = []
    table.segments.withUnsafeMutableBufferPointer { segments in
      for index in 0..<count where segments[index].flags.rawValue & StoryTable.Flags.hasID.rawValue != 0 {
        let id = text.bytes(segments[index].id)
        guard let earlier = ids.insert(index, id, hash: segments[index].idHash) else { continue }
        segments[index].flags.insert(.isDuplicate)
        duplicates.append((index, earlier))
      }
    }
    self.ids = ids
    self.duplicates = duplicates
    choices = ContiguousArray(unsafeUninitializedCapacity: count) { choices, initialized in
      for index in 0..<count {
        let range = table.choiceRange(index)
        let bounds = (
          Int32(truncatingIfNeeded: range.lowerBound), Int32(truncatingIfNeeded: range.upperBound)
        )
        choices.initializeElement(at: index, to: Range(uncheckedBounds: bounds))
      }
      initialized = count
    }
    var isEnding = ContiguousArray<Bool>(unsafeUninitializedCapacity: count) { isEnding, initialized in
      for index in 0..<count { isEnding.initializeElement(at: index, to: table.isEnding(index)) }
      initialized = count
    }
    var targets = ContiguousArray<Int32>(repeating: -1, count: table.choices.count)
    table.choices.withUnsafeBufferPointer { choices in
      targets.withUnsafeMutableBufferPointer { targets in
        ids.find(targetsOf: choices, in: text) { targets[$0] = Int32(truncatingIfNeeded: $1) }
      }
    }
    possible = table.hasPossibleLinks ? Self.separatePossible(&table, &targets) : [:]
    parts = Self.lists(table.includes)
    opening = Self.opening(choices, targets)
    if table.isImported {
      for segment in 1..<max(1, count)
      where Self.isRestart(segment, targets[table.choiceRange(segment)], opening)
        && table.segments[segment].flags.isDisjoint(with: [.jumps, .isPart])
      {
        isEnding[segment] = true
      }
    }
    self.isEnding = isEnding
    self.targets = targets
  }

  /// Moves the targets of dynamic choices to the links that are only possible. A segment with a dynamic choice that
  /// has no target jumps.
  private static func separatePossible(_ table: inout StoryTable, _ targets: inout ContiguousArray<Int32>)
    -> [Int32: [Int32]]
  {
    var links: [StoryTable.Link] = []
    for segment in table.segments.indices {
      for choice in table.choiceRange(segment) where table.choices[choice].flags.contains(.isDynamic) {
        if targets[choice] >= 0 {
          links.append(StoryTable.Link(from: Int32(truncatingIfNeeded: segment), to: targets[choice]))
          targets[choice] = -1
        } else {
          table.segments[segment].flags.insert(.jumps)
        }
      }
    }
    return lists(links)
  }

  private static func lists(_ links: [StoryTable.Link]) -> [Int32: [Int32]] {
    var lists: [Int32: [Int32]] = [:]
    for link in links { lists[link.from, default: []].append(link.to) }
    return lists
  }

  /// Returns the first segments of every path: the first one, and those that only one way leads to from there.
  private static func opening(
    _ choices: ContiguousArray<Range<Int32>>, _ targets: ContiguousArray<Int32>
  ) -> [Int32] {
    guard !choices.isEmpty else { return [] }
    var opening: [Int32] = [0]
    while let last = opening.last, opening.count < maxOpening {
      let targets = targets[Int(choices[Int(last)].lowerBound)..<Int(choices[Int(last)].upperBound)]
      guard let next = targets.first, next >= 0, !opening.contains(next), targets.allSatisfy({ $0 == next })
      else { break }
      opening.append(next)
    }
    return opening
  }

  private static let maxOpening = 8

  /// Whether choices lead only back to the first segment, or also to those after it, as "Play again" does in games,
  /// whose formats cannot mark an ending.
  private static func isRestart(
    _ segment: Int, _ targets: ContiguousArray<Int32>.SubSequence, _ opening: [Int32]
  ) -> Bool {
    guard segment > 0, targets.contains(0) else { return false }
    let earlier = opening.prefix { $0 != segment }
    return targets.allSatisfy { $0 <= 0 || earlier.contains($0) }
  }

  /// Whether a segment is an ending that leads only back to the opening, where a path does not go on.
  func isRestart(_ segment: Int) -> Bool {
    isEnding[segment] && Self.isRestart(segment, targets(of: segment), opening)
  }

  /// Returns the segments that the choices of a segment lead to, -1 for a choice that leads nowhere.
  @inline(__always)
  func targets(of segment: Int) -> ContiguousArray<Int32>.SubSequence {
    targets[Int(choices[segment].lowerBound)..<Int(choices[segment].upperBound)]
  }

  /// Returns the segments that can be reached from the first one, in breadth-first order.
  ///
  /// - Parameter isOpen: whether a segment may be entered
  @inline(__always)
  func reach(_ table: StoryTable, isOpen: (Int) -> Bool = { _ in true }) -> Reach {
    guard !choices.isEmpty, isOpen(0) else { return Reach(count: choices.count) }
    var from = ContiguousArray<Int32>(repeating: -2, count: choices.count)
    let order = ContiguousArray<Int32>(unsafeUninitializedCapacity: choices.count) { order, initialized in
      from.withUnsafeMutableBufferPointer { from in
        choices.withUnsafeBufferPointer { choices in
          targets.withUnsafeBufferPointer { targets in
            (from[0], order[0], initialized) = (-1, 0, 1)
            var next = 0
            while next < initialized {
              let segment = order[next]
              next &+= 1
              for choice in Int(choices[Int(segment)].lowerBound)..<Int(choices[Int(segment)].upperBound) {
                let target = targets[choice]
                guard target >= 0, from[Int(target)] == -2, isOpen(Int(target)) else { continue }
                from[Int(target)] = segment
                order[initialized] = target
                initialized &+= 1
              }
            }
          }
        }
      }
    }
    var reach = Reach(order: order, from: from)
    if !parts.isEmpty { enterParts(&reach) }
    return reach
  }

  /// Enters what reached segments display as their parts. The choices of parts are among their own.
  private func enterParts(_ reach: inout Reach) {
    reach.partsStart = reach.order.count
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
  package struct Reach {
    /// The reached segments, in order of distance.
    package private(set) var order: ContiguousArray<Int32> = []
    /// For each segment, the one that it was reached from; -1 for the start, -2 when it was not reached.
    private(set) var from: ContiguousArray<Int32>
    /// Where in `order` the segments begin that are only displayed as parts of reached ones.
    fileprivate(set) var partsStart = Int.max

    init(count: Int) {
      from = ContiguousArray(repeating: -2, count: count)
    }

    init(order: ContiguousArray<Int32>, from: ContiguousArray<Int32>) {
      (self.order, self.from) = (order, from)
    }

    @inline(__always)
    func contains(_ segment: Int) -> Bool { from[segment] != -2 }

    /// The segments that a choice leads to, and the first one.
    var entered: ContiguousArray<Int32>.SubSequence { order.prefix(partsStart) }

    /// Returns the segments on a shortest path from the start to a reached segment, both included.
    package func path(to segment: Int) -> [Int] {
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

  /// Returns the nearest ending of those that were entered.
  func ending(_ reach: Reach) -> Int? {
    reach.entered.first { isEnding[Int($0)] }.map { Int($0) }
  }

  /// Returns the number of endings that were entered.
  func endings(_ reach: Reach) -> Int {
    reach.entered.reduce(0) { $0 + (isEnding[Int($1)] ? 1 : 0) }
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
