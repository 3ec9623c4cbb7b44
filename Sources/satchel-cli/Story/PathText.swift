import Satchel

/// How many ways lead through a story, for people and for JSON.
struct PathText {
  let count: PathCount
  /// All digits; nil for unbounded, and where they would take too long to work out.
  let digits: String?

  /// Of a story with more segments the digits are not worked out once they do not fit 64 bits: that takes time
  /// with segments times digits.
  private static let mostSegments = 100_000
  private static let mostDigits = 20

  init(_ story: Story, _ statistics: StoryStatistics) {
    count = statistics.paths
    switch count {
    case .unbounded: digits = nil
    case .finite(let number, isExact: true): digits = String(number)
    case .finite: digits = story.segmentCount <= Self.mostSegments ? story.exactPathCount : nil
    }
  }

  /// "12", "≈ 1.6 × 10^60 (61 digits)", "unbounded".
  var text: String {
    guard case .finite = count else { return "unbounded" }
    guard let digits else { return "more than 1.8 × 10^19" }
    guard digits.utf8.count > Self.mostDigits, let start = Int(digits.prefix(3)) else { return digits }
    // 996… is 10.0 times a power, not 9.10.
    let rounded = (start + 5) / 10
    let (lead, exponent) = rounded == 100 ? (10, digits.utf8.count) : (rounded, digits.utf8.count - 1)
    return "≈ \(lead / 10).\(lead % 10) × 10^\(exponent) (\(digits.utf8.count) digits)"
  }

  /// A number of minutes with one decimal.
  static func minutes(_ value: Double) -> String {
    guard value.isFinite, value >= 0, value < 1e12 else { return "–" }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
