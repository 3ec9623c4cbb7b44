/// How long a story may take to read, by its words.
struct ReadingTime {
  /// Words of a reading with the fewest segments, and of all segments that can be reached.
  let fewestWords: Int
  let mostWords: Int

  /// Words a minute of a hasty reader, and of a slow one.
  private static let hasty = 300.0
  private static let slow = 100.0

  /// Nil where no ending can be reached, since no reading ends then.
  init?(_ table: StoryTable, _ reach: StoryGraph.Reach, to ending: Int?) {
    guard let ending else { return nil }
    fewestWords = reach.way(to: ending).reduce(0) { $0 + Int(table.segments[$1].words) }
    mostWords = reach.order.reduce(0) { $0 + Int(table.segments[Int($1)].words) }
  }

  var shortestMinutes: Double { Double(fewestWords) / Self.hasty }
  var longestMinutes: Double { Double(mostWords) / Self.slow }

  /// Whether an estimate is within what a reader would forgive: a factor of two, and two minutes.
  func isNear(_ minutes: Int64) -> Bool {
    let minutes = Double(minutes)
    return minutes >= 0 && minutes >= shortestMinutes / 2 - 2 && minutes <= longestMinutes * 2 + 2
  }
}
