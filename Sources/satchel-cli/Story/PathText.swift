import Satchel

/// The number of a story's paths as text and as digits.
struct PathText {
  let count: PathCount
  /// The exact number; nil when it is unbounded or would take too long to compute.
  let digits: String?

  /// The maximum number of segments for which a number over 64 bits is computed exactly, in time proportional
  /// to segments times digits.
  private static let maxSegments = 100_000
  private static let maxDigits = 20

  init(_ story: Story, _ statistics: StoryStatistics) {
    count = statistics.paths
    switch count {
    case .unbounded: digits = nil
    case .finite(let number, isExact: true): digits = String(number)
    case .finite: digits = story.segmentCount <= Self.maxSegments ? story.exactPathCount : nil
    }
  }

  /// The number as text: "12", "≈ 1.6 × 10^60 (61 digits)", "unbounded".
  var text: String {
    guard case .finite = count else { return "unbounded" }
    guard let digits else { return "more than 1.8 × 10^19" }
    guard digits.utf8.count > Self.maxDigits, let start = Int(digits.prefix(3)) else { return digits }
    // 996… is 10.0 times a power, not 9.10.
    let rounded = (start + 5) / 10
    let (lead, exponent) = rounded == 100 ? (10, digits.utf8.count) : (rounded, digits.utf8.count - 1)
    return "≈ \(lead / 10).\(lead % 10) × 10^\(exponent) (\(digits.utf8.count) digits)"
  }

  /// Formats minutes with one decimal.
  static func minutes(_ value: Double) -> String {
    guard value.isFinite, value >= 0, value < 1e12 else { return "–" }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
