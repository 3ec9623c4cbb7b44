#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Computes the exact number of paths of a story when it exceeds a machine word.
///
/// The count of each segment is the sum of the counts of its targets. The sums are computed for a block of
/// digits at a time, lowest first, with a carry for each segment, so that the memory is bounded for any
/// number of digits: 69 MB for 100,000 segments with two choices each, where a number for each segment takes
/// 877 MB. Measured: PROFILES.md, "What own code gains".
struct LongSum {
  /// The base 10^18 keeps sums within a word, and makes the conversion to decimal trivial.
  private static let base: UInt64 = 1_000_000_000_000_000_000
  private static let digitsPerLimb = 18
  /// The maximum number of machine words of all segments in one block.
  private static let maxBufferWords = 8_000_000

  let decimal: String

  init(_ analysis: StoryAnalysis, _ order: ContiguousArray<Int32>) {
    let table = analysis.table
    let targets = analysis.graph.targets
    // Positions in the order instead of indices of segments: connected segments are close in memory.
    var position = ContiguousArray<Int32>(repeating: -1, count: table.segments.count)
    for (index, segment) in order.enumerated() { position[Int(segment)] = Int32(truncatingIfNeeded: index) }
    let limbs = Self.limbs(analysis, order)
    let width = max(1, min(limbs, Self.maxBufferWords / max(1, order.count)))
    var sums = ContiguousArray<UInt64>(repeating: 0, count: order.count * width)
    var carries = ContiguousArray<UInt64>(repeating: 0, count: order.count)
    var result: [UInt64] = []
    var done = 0
    while done < limbs {
      for index in order.indices.reversed() {
        let segment = Int(order[index])
        let row = index * width
        for limb in 1..<max(1, width) { sums[row + limb] = 0 }
        // The carry of the previous block; an ending adds one path.
        sums[row] = carries[index] + (done == 0 && analysis.graph.isEnding[segment] ? 1 : 0)
        carries[index] = 0
        // Where a path ends, its choices lead back to the start.
        for choice in table.choiceRange(segment)
        where targets[choice] >= 0 && !analysis.graph.isRestart(segment) {
          let other = Int(position[Int(targets[choice])])
          if other >= 0 { carries[index] += Self.add(other * width, to: row, width: width, in: &sums) }
        }
      }
      result.append(contentsOf: sums[0..<width])
      done += width
    }
    decimal = Self.decimal(result)
  }

  /// Adds one row to another.
  ///
  /// - Returns: the carry
  @inline(__always)
  private static func add(
    _ other: Int, to row: Int, width: Int, in sums: inout ContiguousArray<UInt64>
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

  /// Returns an upper bound of the number of limbs of the result, from its logarithm.
  private static func limbs(_ analysis: StoryAnalysis, _ order: ContiguousArray<Int32>) -> Int {
    let table = analysis.table
    var logarithms = ContiguousArray<Double>(repeating: -.infinity, count: table.segments.count)
    for segment in order.reversed() {
      var total = analysis.graph.isEnding[Int(segment)] ? 0 : -Double.infinity
      for choice in table.choiceRange(Int(segment)) where analysis.graph.targets[choice] >= 0 {
        let other = logarithms[Int(analysis.graph.targets[choice])]
        let (less, more) = (min(total, other), max(total, other))
        total = less == -.infinity ? more : more + log2(1 + exp2(less - more))
      }
      logarithms[Int(segment)] = total
    }
    let bits = order.first.map { logarithms[Int($0)] } ?? 0
    // One extra limb, because the logarithm is rounded.
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
