import SatchelCore
import SatchelJSON

/// The content of a section, which was rendered as JSON text and is parsed when it is first needed: hosts of C and Python
/// need the text only, and texts are compared faster.
final class SectionContent: Sendable {
  /// Nil for content that was made as a value.
  let text: [UInt8]?
  private let parsed = Lazy<JSONValue>()

  init(_ value: JSONValue) {
    text = nil
    _ = parsed.value { value }
  }

  /// - Parameter text: a valid JSON text
  init(validated text: [UInt8]) { self.text = text }

  var value: JSONValue {
    // The scanner, which has validated the text, and the parser accept the same.
    parsed.value { text.flatMap { try? JSONValue(parsing: $0) } ?? .null }
  }

  /// Whether both are the same value; comparing texts alone may miss that.
  func isEqual(to other: SectionContent) -> Bool {
    if self === other { return true }
    if let text, let otherText = other.text, text == otherText { return true }
    return value == other.value
  }
}
