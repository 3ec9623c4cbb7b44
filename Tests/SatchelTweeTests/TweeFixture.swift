import Foundation
import SatchelJSON

@testable import SatchelStories
@testable import SatchelTwee

/// Twee texts for tests, and their parsed results.
enum TweeFixture {
  static let files = ["lighthouse.twee", "well.twee", "letter.twee", "plain.tw"]

  static func bytes(_ name: String) throws -> [UInt8] {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/twee/\(name)")
    return try [UInt8](Data(contentsOf: path))
  }

  /// Returns a story whose start has this body, with some passages as targets.
  static func story(_ body: String, format: String? = nil) -> String {
    let data = format.map { ":: StoryData\n{\"ifid\": \"1\", \"format\": \"\($0)\"}\n\n" } ?? ""
    return data + ":: Start\n" + body + "\n\n:: Cave\nDark.\n\n:: Hill\nHigh.\n\n:: $5\nRich.\n"
  }

  static func story(reading text: String) throws -> Story { try Story([UInt8](text.utf8), source: .twee) }

  /// The targets of the start: "text -> name" for each choice ("name" without a text), and "?" for each jump.
  static func targets(_ body: String, _ format: String? = nil) throws -> [String] {
    let story = try story(reading: story(body, format: format))
    // The table references the story's bytes.
    return withExtendedLifetime(story) {
      let table = story.analysis.table
      let targets = table.choiceRange(0).filter { !table.choices[$0].flags.contains(.isDynamic) }.map {
        index in
        let choice = table.choices[index]
        let target = table.text.string(choice.target)
        return choice.flags.contains(.hasText) ? "\(table.text.string(choice.text)) -> \(target)" : target
      }
      let jumps = table.faults.filter { $0.code == .dynamicJump && $0.segment == 0 }
      return targets + jumps.map { _ in "?" }
    }
  }

  /// The number of visible words of the start.
  static func words(_ body: String, _ format: String? = nil) throws -> Int {
    Int(try story(reading: story(body, format: format)).analysis.table.segments[0].words)
  }

  static func codes(_ text: String) throws -> [String] {
    try story(reading: text).check().findings.map(\.code.rawValue)
  }
}

/// A body in a format, and its expected targets.
struct TweeCase: Sendable, CustomStringConvertible {
  var format: String?
  var body: String
  var targets: [String]

  init(_ format: String?, _ body: String, _ targets: [String]) {
    self.format = format
    self.body = body
    self.targets = targets
  }

  var description: String { "\(format ?? "unknown"): \(body)" }
}
