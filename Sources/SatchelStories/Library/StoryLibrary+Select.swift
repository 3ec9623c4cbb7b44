import SatchelCore
import SatchelStorage

extension StoryLibrary {
  /// Returns the stories that match a query, in its order. Does not read the directory, except for the first
  /// refresh of this library: call `refresh()` to update the index.
  ///
  /// - Throws: `.invalid` for a negative age, limit or offset, and for a search of more than 64 words;
  ///   `.closed`, `.io`, `.damaged`
  public func select(_ query: StoryQuery = StoryQuery()) throws -> [StorySummary] {
    try query.validate()
    try refreshOnce()
    let purchases = try purchases()
    var (snapshot, found) = try database.interruptible { try candidates(query) }
    func isPurchased(_ story: StorySummary) -> Bool { purchases(story.id) ?? story.isPurchased }
    found.removeAll { candidate in
      let story = snapshot.stories[candidate.position]
      if let wanted = query.isPurchased, isPurchased(story) != wanted { return true }
      return !query.matches(story)
    }
    sort(&found, of: snapshot, by: query)
    return found.dropFirst(query.offset).prefix(query.limit ?? found.count).map { candidate in
      var story = snapshot.stories[candidate.position]
      story.isPurchased = isPurchased(story)
      return story
    }
  }

  /// Returns the summary of one story.
  ///
  /// - Throws: `.notFound`, `.invalid` for an invalid id, `.closed`
  public func summary(_ id: String) throws -> StorySummary {
    try Self.checkName(id)
    try refreshOnce()
    let snapshot = try index.snapshot()
    guard let position = snapshot.position(of: id) else {
      throw SatchelError(.notFound, "\(directory): no story “\(id)”").at(Self.details(id))
    }
    var story = snapshot.stories[position]
    story.isPurchased = try isPurchased(id) ?? story.isPurchased
    return story
  }

  /// Returns the distinct tags, sorted.
  public func tags() throws -> [String] { try distinct { $0.tags } }

  /// Returns the distinct cultures of origin, sorted.
  public func cultures() throws -> [String] { try distinct { $0.culturalOrigin.map { [$0] } ?? [] } }

  /// Returns the distinct age ranges as written, sorted by lowest age, then by highest; malformed ones last.
  public func ageRanges() throws -> [String] {
    func ages(_ text: String) -> (Int, Int) {
      AgeRange(text).map { ($0.lowest, $0.highest ?? .max) } ?? (.max, .max)
    }
    let texts = try distinct { $0.ageRange.map { [$0] } ?? [] }
    return texts.map { (text: $0, ages: ages($0)) }.ordered {
      $0.ages != $1.ages ? $0.ages < $1.ages : StoryName.precedes($0.text, $1.text)
    }.map(\.text)
  }

  func applyingPurchases(_ stories: [StorySummary]) throws -> [StorySummary] {
    let purchases = try purchases()
    return stories.map { story in
      var story = story
      story.isPurchased = purchases(story.id) ?? story.isPurchased
      return story
    }
  }

  private func distinct(_ texts: (StorySummary) -> [String]) throws -> [String] {
    try refreshOnce()
    var all: Set<StoryName> = []
    for story in try index.snapshot().stories { for text in texts(story) { all.insert(StoryName(text)) } }
    return all.map(\.text).ordered(by: StoryName.precedes)
  }

  // MARK: Order

  private typealias Candidate = (position: Int, score: Double)

  private func candidates(_ query: StoryQuery) throws -> (StorySnapshot, [Candidate]) {
    if let search = try query.search.map({ try SearchQuery($0) }), !search.terms.isEmpty {
      return try index.search(search.expression, isRanked: query.sort == nil)
    }
    let snapshot = try index.snapshot()
    return (snapshot, snapshot.stories.indices.map { ($0, 0) })
  }

  private func sort(_ found: inout [Candidate], of snapshot: StorySnapshot, by query: StoryQuery) {
    let ranks = snapshot.titleRanks
    func number(_ position: Int) -> UInt64 {
      let story = snapshot.stories[position]
      return switch query.sort {
      case nil: 0
      case .title: UInt64(ranks[position])
      case .readingTime: Self.ordered(story.header.estimatedReadingMinutes ?? .max)
      case .pathCount: UInt64(bitPattern: story.statistics.paths.saturated)
      }
    }
    let keyed = found.map { (candidate: $0, number: number($0.position), rank: ranks[$0.position]) }
    found = keyed.ordered { left, right in
      // Without a search all scores are equal, and without a sort all numbers.
      let (one, other) = query.isDescending ? (right, left) : (left, right)
      if one.candidate.score != other.candidate.score { return one.candidate.score < other.candidate.score }
      if one.number != other.number { return one.number < other.number }
      return query.sort == nil ? one.rank < other.rank : left.rank < right.rank
    }.map(\.candidate)
  }

  /// Maps signed integers to unsigned ones, in the same order.
  private static func ordered(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ 1 << 63 }
}

extension StoryQuery {
  /// Whether a story matches all conditions except the search and the purchase.
  fileprivate func matches(_ story: StorySummary) -> Bool {
    if let ageRange, story.header.ageRange != ageRange { return false }
    if let culture, story.header.culturalOrigin != culture { return false }
    guard tags.allSatisfy({ story.header.tags.contains($0) }) else { return false }
    if let age {
      guard let ages = story.header.ageRange.flatMap({ AgeRange($0) }) else { return false }
      return ages.lowest <= age && age <= ages.highest ?? .max
    }
    return true
  }
}
