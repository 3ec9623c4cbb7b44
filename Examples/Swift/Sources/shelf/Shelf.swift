import Foundation
import Satchel

/// A shelf of stories: lists the stories of a directory, searches them, reads one as it was handed down, and
/// shows what an author hears of a slip of the pen, and of a new version. Usage: shelf directory
@main
struct Shelf {
  static let path = "shelf.satchel"
  static let tale = "urashima-taro"

  let library: StoryLibrary

  static func main() throws {
    guard CommandLine.arguments.count == 2 else {
      FileHandle.standardError.write(Data("Usage: shelf directory\n".utf8))
      exit(2)
    }
    let store = try Store(path: path)
    let shelf = Shelf(library: try store.stories(in: CommandLine.arguments[1]))
    try shelf.show()
    print()
    try shelf.search("urashima taro")
    try shelf.search("ryugu")
    try shelf.read()
    try shelf.buy()
    let story = try shelf.library.story(tale)
    try store.close()

    try checkSlip(of: story)
    try showRename(in: story)
    try countWays(rooms: 100)
    try FileManager.default.removeItem(atPath: path)
  }

  /// Lists all stories, as a screen would: from the index, once the files have been looked at.
  func show() throws {
    let listing = try library.loadAll()
    print("On the shelf: \(listing.stories.count) stories, \(listing.problems.count) files that are none.")
    for story in listing.stories {
      let ages = (story.ageRange ?? "").padding(toLength: 5, withPad: " ", startingAt: 0)
      let culture = (story.culturalOrigin ?? "").padding(toLength: 19, withPad: " ", startingAt: 0)
      let ways = story.paths == .unbounded ? "unbounded" : "\(story.paths.saturated)"
      let space = String(repeating: " ", count: max(0, 9 - ways.count))
      print("  \(ages) \(culture) \(space)\(ways) ways  \(story.title ?? story.id)")
    }
  }

  /// Words begin words of title or synopsis; case and diacritics do not count.
  func search(_ text: String) throws {
    var query = StoryQuery()
    query.search = text
    print("Searching \"\(text)\" finds \(Self.titles(try library.select(query))).")
  }

  /// Reads a story along its authentic path, from the start to an ending.
  func read() throws {
    print("\nAs it was handed down:")
    var segment = try library.start(of: Self.tale)
    print("  \(Self.firstSentence(segment.text))")
    while !segment.isEnding {
      let ahead = try segment.choices.map { ($0, try library.segment($0.nextSegmentID, of: Self.tale)) }
      guard let (choice, following) = ahead.first(where: { $0.1.isAuthenticPath }) else { break }
      print("    > \(choice.text)\n  \(Self.firstSentence(following.text))")
      segment = following
    }
  }

  /// Purchases are kept in the store; the file is not changed.
  func buy() throws {
    try library.markPurchased(Self.tale)
    var query = StoryQuery()
    query.isPurchased = true
    print("\nBought: \(Self.titles(try library.select(query))).")
  }

  /// An author misspells where a choice leads. The report has a line a finding, as compilers write.
  static func checkSlip(of story: Story) throws {
    let slip = String(decoding: story.text, as: UTF8.self)
      .replacing("Id\": \"the-crane\"", with: "Id\": \"the-crnae\"")
    let report = try Story(Array(slip.utf8)).check()
    print("\nA slip of the pen:\n\(report.text(name: "slip.json"))", terminator: "")
  }

  /// Readers are in the middle of a story when a new version comes.
  static func showRename(in story: Story) throws {
    let newer = String(decoding: story.text, as: UTF8.self)
      .replacing("\"the-return\"", with: "\"homecoming\"")
    print("\nA segment gets another name. What breaks for its readers?")
    for position in story.changes(to: try Story(Array(newer.utf8))).broken {
      let heir = position.suggestion ?? ""
      print("  \"\(position.segment)\" is \(position.reason.rawValue); go on at \"\(heir)\".")
    }
  }

  /// Ways are counted, never listed; the number is exact whatever its size.
  static func countWays(rooms: Int) throws {
    let labyrinth = (0..<rooms).map {
      ":: Room \($0)\n[[Left->Room \($0 + 1)]] [[Right->Room \($0 + 1)]]\n\n"
    }
    let story = try Story(Array("\(labyrinth.joined()):: Room \(rooms)\nDaylight.\n".utf8))
    print("\nWays through \(rooms) rooms with two doors each: \(story.exactPathCount ?? "unbounded")")
  }

  static func titles(_ stories: [StorySummary]) -> String {
    stories.map { $0.title ?? $0.id }.joined(separator: ", ")
  }

  static func firstSentence(_ text: String) -> Substring {
    text.firstRange(of: ". ").map { text[..<$0.lowerBound] + "." } ?? text[...]
  }
}
