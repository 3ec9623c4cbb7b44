import SatchelStorage

/// All that a library's index says at one moment, in memory.
// Unchecked: all but the order by title, which is behind a lock, never changes.
final class StorySnapshot: @unchecked Sendable {
  /// Of the library's row, by which to tell whether this is still what the index says.
  let token: Int64
  /// By file name; `isPurchased` is what the file says.
  let stories: [StorySummary]
  let problems: [StoryProblem]
  private let titleKeys: [String]
  private let positions: [StoryName: Int]
  private let rows: [Int64: Int]
  private let ranks = Guarded<[Int]?>(nil)

  /// - Parameter rows: by file name; of several with one id the first is the story
  init(token: Int64, rows: [StoryFileTable.Row]) {
    var stories: [StorySummary] = []
    var problems: [StoryProblem] = []
    var titleKeys: [String] = []
    var positions: [StoryName: Int] = [:]
    var byRow: [Int64: Int] = [:]
    positions.reserveCapacity(rows.count)
    byRow.reserveCapacity(rows.count)
    for row in rows {
      switch row.record.content {
      case .problem(let failure): problems.append(StoryProblem(file: row.record.name, failure))
      case .story(let summary, let titleKey):
        let name = StoryName(summary.id)
        if let first = positions[name] {
          let failure = StoryFailure(
            code: .duplicateStory, message: "the story “\(summary.id)” is already in \(stories[first].file)")
          problems.append(StoryProblem(file: row.record.name, failure, story: summary.id))
          continue
        }
        positions[name] = stories.count
        byRow[row.id] = stories.count
        stories.append(summary)
        titleKeys.append(titleKey)
      }
    }
    self.token = token
    self.stories = stories
    self.problems = problems
    self.titleKeys = titleKeys
    self.positions = positions
    self.rows = byRow
  }

  func position(of story: String) -> Int? { positions[StoryName(story)] }

  /// The story that a row of story_file holds.
  func position(ofRow row: Int64) -> Int? { rows[row] }

  /// Of each story its place in the order of titles; made when first asked for.
  var titleRanks: [Int] {
    ranks.withLock { ranks in
      if let ranks { return ranks }
      let order = stories.indices.sorted { left, right in
        if !titleKeys[left].utf8.elementsEqual(titleKeys[right].utf8) {
          return StoryName.precedes(titleKeys[left], titleKeys[right])
        }
        let (one, other) = (stories[left].title ?? "", stories[right].title ?? "")
        if !one.utf8.elementsEqual(other.utf8) { return StoryName.precedes(one, other) }
        return StoryName.precedes(stories[left].id, stories[right].id)
      }
      var made = [Int](repeating: 0, count: order.count)
      for (rank, position) in order.enumerated() { made[position] = rank }
      ranks = made
      return made
    }
  }
}
