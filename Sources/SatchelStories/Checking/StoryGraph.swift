/// The directed graph of a story: segments as nodes, choices as edges.
///
/// All traversals use lists instead of recursion, so that a chain of a million segments does not overflow the
/// stack. Time and memory are proportional to segments plus choices.
package struct StoryGraph {
  /// For each choice, the segment that it leads to; -1 when there is no such segment.
  let targets: ContiguousArray<Int32>
  /// The segments by id; of equal ids, the first one.
  let ids: StoryIDTable
  /// The segments whose id an earlier segment has, each with that segment.
  let duplicates: [(segment: Int, earlier: Int)]

  /// The choices of each segment, and whether it is an ending: what traversals read, without the rest of the
  /// segments' records, so that it fits into the processor's cache.
  private let choices: ContiguousArray<Range<Int32>>
  private let isEnding: ContiguousArray<Bool>

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
    isEnding = ContiguousArray(unsafeUninitializedCapacity: count) { isEnding, initialized in
      for index in 0..<count { isEnding.initializeElement(at: index, to: table.isEnding(index)) }
      initialized = count
    }
    var targets = ContiguousArray<Int32>(repeating: -1, count: table.choices.count)
    table.choices.withUnsafeBufferPointer { choices in
      targets.withUnsafeMutableBufferPointer { targets in
        ids.find(targetsOf: choices, in: text) { targets[$0] = Int32(truncatingIfNeeded: $1) }
      }
    }
    self.targets = targets
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
      for target in targets(of: Int(segment)) { enter(target) }
      parts[segment]?.forEach(enter)
    }
    return result
  }

  /// Returns, for each segment, whether an ending can be reached from it. Code that names a segment may lead there.
  func reachesEnding(_ table: StoryTable) -> ContiguousArray<Bool> {
    var result = isEnding
    if table.isImported {
      for segment in result.indices
      where table.segments[segment].flags.contains(.jumps) || isRestart(segment) {
        result[segment] = true
      }
    }
    if table.mentions.isEmpty, sweep(&result) { return result }
    searchBackwards(&result, table)
    return result
  }

  /// The number of sweeps after which searching backwards costs less.
  private static let maxSweeps = 4

  /// Marks the segments with a choice that leads to a marked one, from the last segment to the first, until nothing
  /// changes. Most choices lead forward, so that a sweep or two mark all; the search below needs the reversed edges,
  /// which take as long as ten sweeps.
  ///
  /// - Returns: whether nothing changed at last
  @_optimize(speed)
  private func sweep(_ result: inout ContiguousArray<Bool>) -> Bool {
    result.withUnsafeMutableBufferPointer { result in
      choices.withUnsafeBufferPointer { choices in
        targets.withUnsafeBufferPointer { targets in
          for _ in 0..<Self.maxSweeps {
            var hasChanged = false
            var isComplete = true
            for segment in result.indices.reversed() where !result[segment] {
              var reaches = false
              for choice in Int(choices[segment].lowerBound)..<Int(choices[segment].upperBound) {
                let target = targets[choice]
                if target >= 0, result[Int(target)] { reaches = true }
              }
              result[segment] = reaches
              hasChanged = hasChanged || reaches
              isComplete = isComplete && reaches
            }
            if isComplete || !hasChanged { return true }
          }
          return false
        }
      }
    }
  }

  /// Marks the segments from which a marked one can be reached, by searching backwards from these.
  private func searchBackwards(_ result: inout ContiguousArray<Bool>, _ table: StoryTable) {
    let sources = Sources(table, targets)
    var open = ContiguousArray(
      result.indices.lazy.filter { [result] in result[$0] }.map { Int32(truncatingIfNeeded: $0) })
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
  }

  /// Whether all choices of a segment lead back to the first one, as "Play again" does in Twine's games, which
  /// cannot mark an ending.
  private func isRestart(_ segment: Int) -> Bool {
    segment > 0 && targets(of: segment).allSatisfy { $0 == 0 }
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
