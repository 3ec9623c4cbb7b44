import SatchelJSON

/// What a story's text is written in.
public enum StorySource: Int32, Sendable, CaseIterable {
  /// JSON when the text begins with a brace or bracket, or no line of it begins with the "::" of a passage; Twee
  /// otherwise.
  case automatic = 0
  /// The story format of this library.
  case json = 1
  /// Twee 3, the interchange format of Twine.
  case twee = 2

  func read(_ text: UnsafeRawBufferPointer) throws -> StoryTable {
    switch self {
    case .json: try StoryReader.read(text)
    case .twee: try TweeReader.read(text)
    case .automatic: try Self.isTwee(text) ? TweeReader.read(text) : StoryReader.read(text)
    }
  }

  private static func isTwee(_ text: UnsafeRawBufferPointer) -> Bool {
    let mark = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]
    let rest = mark.drop { $0 <= 0x20 }
    if rest.starts(with: "::".utf8) { return true }
    // Some tools write a note before the first passage. A story in JSON begins with a brace.
    guard let first = rest.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return false }
    return rest.indices.contains { index in
      rest[index] == UInt8(ascii: "\n") && rest[(index + 1)...].starts(with: "::".utf8)
    }
  }
}
