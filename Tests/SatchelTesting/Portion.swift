import Foundation

/// The part that a run tries of all that a suite could try: `make test` a fifth or what `parts` says, another one with each
/// commit, and `make check` everything.
package enum Portion {
  /// SATCHEL_CHANCE=all asks for everything.
  package static let isWhole = ProcessInfo.processInfo.environment["SATCHEL_CHANCE"] == "all"
  /// The number of the portion: SATCHEL_SEED, which is the commit's.
  private static let number = Int(ProcessInfo.processInfo.environment["SATCHEL_SEED"] ?? "") ?? 0

  /// Every fifth of some cases, or all of them.
  package static func of<Case>(_ cases: some Sequence<Case>, parts: Int = 5) -> [Case] {
    if isWhole { return Array(cases) }
    return cases.enumerated().filter { includes($0.offset, parts: parts) }.map(\.element)
  }

  /// Whether a case is tried in this run, by its position among all cases.
  package static func includes(_ position: Int, parts: Int = 5) -> Bool {
    isWhole || position % parts == Int(number.magnitude % UInt(parts))
  }

  /// A fifth of the rounds of a race, or of the size of something large, or all of it.
  package static func count(_ all: Int, parts: Int = 5) -> Int { isWhole ? all : max(all / parts, 1) }

  /// A fifth of a range of seeds, which lie side by side, or all of it.
  package static func seeds(_ all: Range<UInt64>, parts: UInt64 = 5) -> Range<UInt64> {
    if isWhole { return all }
    let (size, part) = (UInt64(all.count) / parts, UInt64(number.magnitude) % parts)
    return all.lowerBound + part * size..<all.lowerBound + (part + 1) * size
  }
}
