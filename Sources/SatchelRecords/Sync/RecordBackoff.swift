/// When a record that failed is worth trying again: after 1 s, 2 s, 4 s … at most an hour, less up to half by chance.
enum RecordBackoff {
  static let longest: Int64 = 3_600_000

  /// Milliseconds.
  ///
  /// - Parameter attempts: how often it has failed in a row, 1 or more
  static func delay(afterFailures attempts: Int, random: inout some RandomNumberGenerator) -> Int64 {
    let shift = max(attempts, 1) - 1
    let whole = shift < 12 ? min(1000 << Int64(shift), longest) : longest
    return whole - Int64.random(in: 0...whole / 2, using: &random)
  }

  /// Whether it still has to wait. A time further away than any wait comes from a clock that was set back since.
  static func isWaiting(_ mark: RecordFailureMark, now: Int64) -> Bool {
    mark.retryAt > now && mark.retryAt - now <= longest
  }
}
