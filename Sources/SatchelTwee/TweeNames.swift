import SatchelStories

/// The names of the passages, and the words of the scripts. Each table is built on first use.
final class TweeNames {
  private let passages: ContiguousArray<TweePassage>
  private let text: StoryText
  private let bytes: TweeBytes
  private lazy var all = table { _ in true }
  private lazy var special = table { $0.kind != .segment }
  private lazy var words = wordsOfScripts()
  private let hasSpecial: Bool

  init(_ passages: ContiguousArray<TweePassage>, _ text: StoryText, _ bytes: TweeBytes) {
    (self.passages, self.text, self.bytes) = (passages, text, bytes)
    hasSpecial = passages.contains { $0.kind != .segment }
  }

  private func table(_ condition: (TweePassage) -> Bool) -> StoryIDTable {
    var table = StoryIDTable(capacity: passages.count)
    for (index, passage) in passages.enumerated() where condition(passage) {
      _ = table.insert(index, text.bytes(passage.name))
    }
    return table
  }

  /// Returns the passage with this name.
  func find(_ name: UnsafeRawBufferPointer) -> Int? { all.find(name) }

  func contains(_ name: UnsafeRawBufferPointer) -> Bool { all.find(name) != nil }

  func contains(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { all.find(UnsafeRawBufferPointer($0)) != nil }
  }

  /// Returns the passage with this name when it is not a segment.
  func special(_ name: UnsafeRawBufferPointer) -> Int? {
    hasSpecial ? special.find(name) : nil
  }

  /// Whether a script or a widget of the game has this word, so that what is called by it was read.
  func isDefined(_ word: Range<Int>) -> Bool { words.find(bytes.raw(word)) != nil }

  private func wordsOfScripts() -> StoryIDTable {
    let scripts = passages.filter { $0.kind == .script || $0.kind == .shownElsewhere }
    var table = StoryIDTable(capacity: scripts.reduce(0) { $0 + $1.body.count / 2 + 1 })
    for script in scripts {
      var index = script.body.lowerBound
      while index < script.body.upperBound {
        let start = index
        while index < script.body.upperBound,
          TweeBytes.isWord(bytes[index]) || bytes[index] == UInt8(ascii: "-")
        {
          index += 1
        }
        if index > start { _ = table.insert(start, bytes.raw(start..<index)) }
        index += 1
      }
    }
    return table
  }
}
