import SatchelJSON

/// What a story's text is written in.
public enum StorySource: Int32, Sendable, CaseIterable {
  /// Twee when the text's first mark is the "::" of a passage, JSON otherwise.
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
    let mark = text.drop { $0 <= 0x20 }.prefix(2)
    return mark.elementsEqual("::".utf8)
  }
}
