import SatchelCore
import SatchelStorage

extension StoryLibrary {
  /// Returns the stories that match a query, in its order. Does not read the directory, except for the first
  /// refresh of this library: call `refresh()` to update the index.
  ///
  /// - Throws: `.invalid` for a negative age, limit or offset, and for a search of more than 64 words;
  ///   `.closed`, `.io`, `.damaged`
  public func select(_ query: StoryQuery = StoryQuery()) throws -> [StorySummary] {
    var stories: [StorySummary] = []
    try each(query) { stories.append($0) }
    return stories
  }

  /// Passes each of the stories that match a query to `write`, as JSON text.
  package func each(_ query: StoryQuery, write: (UnsafeRawBufferPointer) throws -> Void) throws {
    try each(query) { try $0.withText(write) }
  }

  private func each(_ query: StoryQuery, _ visit: (StorySummary) throws -> Void) throws {
    try query.validate()
    try refreshOnce()
    let purchases = try purchases()
    try database.interruptible {
      try index.each(query, isPurchased: { purchases($0) ?? $1 }) { try visit($0.purchased(purchases)) }
    }
  }

  /// Returns the summary of one story.
  ///
  /// - Parameter language: of the file; nil for the first file, by name, that has the story
  /// - Throws: `.notFound`, `.invalid` for an invalid id, `.closed`
  public func summary(_ id: String, language: String? = nil) throws -> StorySummary {
    try Self.checkName(id)
    try refreshOnce()
    guard var story = try index.story(id, language: language) else {
      throw SatchelError(.notFound, "\(directory): no story “\(id)”").at(Self.details(id))
    }
    story.isPurchased = try isPurchased(id) ?? story.isPurchased
    return story
  }

  /// Returns the distinct tags, sorted.
  public func tags() throws -> [String] { try values(.tag) }

  /// Returns the distinct cultures of origin, sorted.
  public func cultures() throws -> [String] { try values(.culture) }

  /// Returns the distinct languages of the stories that name one, sorted.
  public func languages() throws -> [String] { try values(.language) }

  /// Returns the distinct age ranges as written, sorted by lowest age, then by highest; malformed ones last.
  public func ageRanges() throws -> [String] {
    func ages(_ text: String) -> (Int, Int) {
      AgeRange(text).map { ($0.lowest, $0.highest ?? .max) } ?? (.max, .max)
    }
    return try values(.ageRange).map { (text: $0, ages: ages($0)) }.ordered {
      $0.ages != $1.ages ? $0.ages < $1.ages : StoryName.precedes($0.text, $1.text)
    }.map(\.text)
  }

  private func values(_ kind: StoryFacet) throws -> [String] {
    try refreshOnce()
    return try index.values(kind)
  }
}

extension StorySummary {
  /// Returns the story with what the state says about its purchase, if it says anything.
  func purchased(_ purchases: (_ id: String) -> Bool?) -> StorySummary {
    var story = self
    if let isPurchased = purchases(id) { story.isPurchased = isPurchased }
    return story
  }
}
