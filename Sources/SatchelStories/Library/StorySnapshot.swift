import SatchelCore
import SatchelStorage

/// A snapshot of a library's index, in memory.
// Unchecked: immutable except for the order by title, which a lock guards.
final class StorySnapshot: @unchecked Sendable {
  /// The token of the library's row; the snapshot is current while the token is the same.
  let token: Int64
  /// The stories, sorted by file name; `isPurchased` is the value in the file.
  let stories: [StorySummary]
  let problems: [StoryProblem]
  private let titleKeys: [String]
  private let positions: [StoryName: Int]
  private let rows: [Int64: Int]
  private let ranks = Locked<[Int]?>(nil)

  /// - Parameter rows: the rows, sorted by file name; of several with one id, the first one is the story
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

  /// Returns the position of the story of a row of story_file.
  func position(ofRow row: Int64) -> Int? { rows[row] }

  /// For each story, its rank in the order of titles; computed on first use.
  var titleRanks: [Int] {
    ranks.withLock { ranks in
      if let ranks { return ranks }
      let order = orderOfIndices(stories.count) { left, right in
        if !titleKeys[left].utf8.elementsEqual(titleKeys[right].utf8) {
          return StoryName.precedes(titleKeys[left], titleKeys[right])
        }
        let (one, other) = (stories[left].title ?? "", stories[right].title ?? "")
        if !one.utf8.elementsEqual(other.utf8) { return StoryName.precedes(one, other) }
        return StoryName.precedes(stories[left].id, stories[right].id)
      }
      var computed = [Int](repeating: 0, count: order.count)
      for (rank, position) in order.enumerated() { computed[position] = rank }
      ranks = computed
      return computed
    }
  }
}
