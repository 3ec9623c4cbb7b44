/// How scores add up.
enum ScoreRule {
  static func sum(_ score: Double, _ delta: Double, minimum: Double, maximum: Double) -> Double {
    bounded(score + delta, minimum: minimum, maximum: maximum)
  }

  static func bounded(_ score: Double, minimum: Double, maximum: Double) -> Double {
    // A sum beyond the largest double is at its bound, as any other that is too large.
    min(max(score, minimum), maximum)
  }
}
