#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The exact number of ways of a story that has more of them than a machine word can count.
///
/// Every segment holds the sum of those it leads to. The sums are made a stretch of digits at a time, lowest first, with
/// what is carried kept per segment: so the memory stays bounded, whatever the number of digits.
struct LongSum {
  /// Digits are of base 10^18, so that the sum of many still fits a word, and the decimal form costs nothing.
  private static let base: UInt64 = 1_000_000_000_000_000_000
  private static let digitsPerLimb = 18
  /// Words that all segments together may hold in one stretch.
  private static let affordableWords = 8_000_000

  let decimal: String

  init(_ analysis: StoryAnalysis, _ order: ContiguousArray<Int32>) {
    let table = analysis.table
    let targets = analysis.graph.targets
    // Places in the order instead of indices of segments: what leads to each other lies close.
    var place = ContiguousArray<Int32>(repeating: -1, count: table.segments.count)
    for (index, segment) in order.enumerated() { place[Int(segment)] = Int32(truncatingIfNeeded: index) }
    let limbs = Self.limbs(analysis, order)
    let width = max(1, min(limbs, Self.affordableWords / max(1, order.count)))
    var sums = ContiguousArray<UInt64>(repeating: 0, count: order.count * width)
    var carries = ContiguousArray<UInt64>(repeating: 0, count: order.count)
    var result: [UInt64] = []
    var done = 0
    while done < limbs {
      for index in order.indices.reversed() {
        let segment = Int(order[index])
        let row = index * width
        for limb in 1..<max(1, width) { sums[row + limb] = 0 }
        // What the stretch before could not hold; an ending is a way of its own.
        sums[row] = carries[index] + (done == 0 && table.isEnding(segment) ? 1 : 0)
        carries[index] = 0
        for choice in table.choiceRange(segment) where targets[choice] >= 0 {
          let other = Int(place[Int(targets[choice])])
          if other >= 0 { carries[index] += Self.add(&sums, other * width, to: row, width) }
        }
      }
      result.append(contentsOf: sums[0..<width])
      done += width
    }
    decimal = Self.decimal(result)
  }

  /// Adds one row to another.
  ///
  /// - Returns: what is carried out of it
  @inline(__always)
  private static func add(
    _ sums: inout ContiguousArray<UInt64>, _ other: Int, to row: Int, _ width: Int
  ) -> UInt64 {
    sums.withUnsafeMutableBufferPointer { sums in
      var carry: UInt64 = 0
      for limb in 0..<width {
        let total = sums[row + limb] + sums[other + limb] + carry
        carry = total >= base ? 1 : 0
        sums[row + limb] = total - carry * base
      }
      return carry
    }
  }

  /// How many limbs the answer has at most, by its logarithm.
  private static func limbs(_ analysis: StoryAnalysis, _ order: ContiguousArray<Int32>) -> Int {
    let table = analysis.table
    var logarithms = ContiguousArray<Double>(repeating: -.infinity, count: table.segments.count)
    for segment in order.reversed() {
      var total = table.isEnding(Int(segment)) ? 0 : -Double.infinity
      for choice in table.choiceRange(Int(segment)) where analysis.graph.targets[choice] >= 0 {
        let other = logarithms[Int(analysis.graph.targets[choice])]
        let (less, more) = (min(total, other), max(total, other))
        total = less == -.infinity ? more : more + log2(1 + exp2(less - more))
      }
      logarithms[Int(segment)] = total
    }
    let bits = order.first.map { logarithms[Int($0)] } ?? 0
    // One more than the logarithm says, since it is rounded.
    return bits.isFinite ? Int(bits / 3.32 / Double(digitsPerLimb)) + 2 : 1
  }

  private static func decimal(_ limbs: [UInt64]) -> String {
    guard let top = limbs.lastIndex(where: { $0 > 0 }) else { return "0" }
    return limbs[..<top].reversed().reduce(into: String(limbs[top])) { text, limb in
      let digits = String(limb)
      text += String(repeating: "0", count: digitsPerLimb - digits.utf8.count) + digits
    }
  }
}
