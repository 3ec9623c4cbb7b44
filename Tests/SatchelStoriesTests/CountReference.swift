import SatchelTesting

/// A small story with a reference implementation that enumerates all paths.
struct CountReference {
  struct Segment {
    var id: String?
    var isAuthentic = false
    var isMarked = false
    var targets: [String] = []
  }

  var segments: [Segment]

  static func random(_ random: inout SeededRandom) -> CountReference {
    let count = 1 + random.below(7)
    let names = ["a", "b", "c", "d", "e", "f", "g"]
    let segments = (0..<count).map { index in
      var segment = Segment(id: names[index])
      if random.once(in: 12) { segment.id = random.pick(names) }
      if random.once(in: 25) { segment.id = nil }
      segment.isAuthentic = random.below(3) > 0
      segment.isMarked = random.once(in: 5)
      // Sparse graphs have traps, dense graphs have cycles; graphs with only forward edges have neither.
      let style = random.below(3)
      for _ in 0..<random.below(style == 0 ? 2 : 4) {
        let target = style == 2 ? min(index + 1 + random.below(3), count - 1) : random.below(count)
        segment.targets.append(random.once(in: 15) ? "nowhere" : names[target])
      }
      return segment
    }
    return CountReference(segments: segments)
  }

  var json: [UInt8] {
    var number = 0
    let list = segments.map { segment in
      let choices = segment.targets.map { target in
        number += 1
        return "{\"id\":\"c\(number)\",\"text\":\"t\(number)\",\"nextSegmentId\":\"\(target)\"}"
      }
      let id = segment.id.map { "\"id\":\"\($0)\"," } ?? ""
      return
        "{\(id)\"text\":\"x\",\"isAuthenticPath\":\(segment.isAuthentic),\"isEnding\":\(segment.isMarked),"
        + "\"choices\":[\(choices.joined(separator: ","))]}"
    }
    return Array(
      """
      {"id":"t","title":"T","author":"A","synopsis":"S","coverImageName":"c","estimatedReadingMinutes":1,\
      "ageRange":"5-8","tags":[],"isPurchased":false,"segments":[\(list.joined(separator: ","))]}
      """.utf8)
  }

  // MARK: - Reference results

  /// For each segment, the targets of its choices.
  private var next: [[Int]] {
    segments.map { segment in segment.targets.compactMap { target in segments.firstIndex { $0.id == target } }
    }
  }

  func isEnding(_ segment: Int) -> Bool { segments[segment].targets.isEmpty || segments[segment].isMarked }

  /// Whether one segment leads to another in one or more steps, through segments that may be entered.
  func leads(along next: [[Int]]? = nil, isOpen: (Int) -> Bool = { _ in true }) -> [[Bool]] {
    let next = next ?? self.next
    let all = segments.indices
    var leads = all.map { one in all.map { isOpen(one) && isOpen($0) && next[one].contains($0) } }
    for middle in all {
      for one in all where leads[one][middle] {
        for other in all where leads[middle][other] { leads[one][other] = true }
      }
    }
    return leads
  }

  var unreachable: [Int] {
    let leads = leads()
    return segments.indices.filter { index in
      guard index > 0, !leads[0][index], let id = segments[index].id else { return false }
      return segments.firstIndex { $0.id == id } == index
    }
  }

  private func canEnd(_ leads: [[Bool]], isEnd: (Int) -> Bool) -> [Bool] {
    segments.indices.map { one in
      isEnd(one) || segments.indices.contains { leads[one][$0] && isEnd($0) }
    }
  }

  private func isBroken(_ segment: Int) -> Bool {
    segments[segment].targets.contains { target in !segments.contains { $0.id == target } }
  }

  /// Of segments with a fault, those that no other one leads to: the first one of those that lead to each other, and
  /// both of two that only lead to each other.
  func causes(of members: [Int]) -> [Int] {
    let leads = leads()
    var causes: [Int] = []
    for one in members {
      let others = members.filter { $0 != one }
      guard others.allSatisfy({ !leads[$0][one] || leads[one][$0] }) else { continue }
      let mutual = others.filter { leads[$0][one] }
      let region = others.filter { leads[one][$0] }
      if mutual.allSatisfy({ $0 > one }) || region.count == 1 { causes.append(one) }
    }
    return causes
  }

  /// The segments from which no ending can be reached, though no choice is broken on the way.
  var traps: [Int] {
    let leads = leads()
    let canEnd = canEnd(leads) { isEnding($0) || isBroken($0) }
    return segments.indices.filter { ($0 == 0 || leads[0][$0]) && !canEnd[$0] }
  }

  var hasAuthenticWay: Bool {
    guard segments[0].isAuthentic else { return false }
    let leads = leads { segments[$0].isAuthentic }
    // Where no ending can be reached at all, one finding says it.
    if traps.contains(0) { return true }
    return segments.indices.contains { (isEnding($0) || isBroken($0)) && ($0 == 0 || leads[0][$0]) }
  }

  /// The first segments of every path.
  private var opening: [Int] {
    var opening = [0]
    while let last = opening.last, opening.count < 8, Set(next[last]).count == 1, !isBroken(last),
      !opening.contains(next[last][0])
    {
      opening.append(next[last][0])
    }
    return opening
  }

  /// The lengths of all paths from the start to an ending; nil when they are unbounded.
  var pathLengths: [Int]? {
    let leads = leads()
    let canEnd = canEnd(leads, isEnd: isEnding)
    // A path ends at an ending that leads only back to the start.
    let opening = opening
    let next = next.enumerated().map { index, targets in
      let earlier = opening.prefix { $0 != index }
      let isRestart = index > 0 && targets.contains(0) && targets.allSatisfy(earlier.contains)
      return isRestart && isEnding(index) ? [] : targets
    }
    let onward = self.leads(along: next)
    let isEndless = segments.indices.contains { ($0 == 0 || onward[0][$0]) && canEnd[$0] && onward[$0][$0] }
    if isEndless { return nil }
    var lengths: [Int] = []
    func walk(_ segment: Int, _ length: Int) {
      if isEnding(segment) { lengths.append(length) }
      for target in next[segment] where canEnd[target] { walk(target, length + 1) }
    }
    if canEnd[0] { walk(0, 1) }
    return lengths
  }

  /// The minimum number of segments on a path, by breadth-first search.
  var shortest: Int? {
    var here: Set = [0]
    for length in 1...segments.count {
      if here.contains(where: isEnding) { return length }
      here = Set(here.flatMap { next[$0] })
    }
    return nil
  }

  var brokenChoices: [String] {
    segments.indices.flatMap { index in
      segments[index].targets.enumerated().compactMap { number, target in
        segments.contains { $0.id == target }
          ? nil : "/segments/\(index)/choices/\(number)/nextSegmentId"
      }
    }
  }

  var twins: [String] {
    segments.indices.filter { index in
      guard let id = segments[index].id else { return false }
      return segments.firstIndex { $0.id == id } != index
    }.map { "/segments/\($0)/id" }
  }
}
