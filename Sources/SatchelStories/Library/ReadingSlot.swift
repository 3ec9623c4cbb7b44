import SatchelCore
import SatchelJSON
import SatchelStorage

/// A slot in which the progress of a reader is kept: siblings with a device of their own each have one, and so has a
/// game that is saved under several names.
public struct ReadingSlot: Equatable, Sendable {
  /// The name of the reader; empty for a device with one reader.
  public var reader: String
  /// The name of the slot; empty for a reader with one slot in each story.
  public var slot: String

  public init(reader: String = "", slot: String = "") { (self.reader, self.slot) = (reader, slot) }

  /// The maximum size of each name in bytes.
  private static let maxBytes = 64

  /// Returns the slot with its names in NFC.
  ///
  /// - Throws: `.invalid` for a name with more than 64 bytes, and one with control characters
  func checked() throws -> ReadingSlot {
    func name(_ text: String, _ role: String) throws -> String {
      let name = NormalForm.composed(text)
      let isName = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
      if isName, name.utf8.count <= Self.maxBytes { return name }
      throw SatchelError(
        .invalid,
        """
        \(role): “\(name.prefix(60))” has \(name.utf8.count) bytes; it must have up to \(Self.maxBytes), without \
        control characters
        """
      ).at(subject: Change.Subject.stories.rawValue, limit: Self.maxBytes)
    }
    return ReadingSlot(reader: try name(reader, "reader"), slot: try name(slot, "slot"))
  }

  /// Returns the name of a part of `ReservedState` for this slot: with a digest, since names of state are short.
  func part(_ kind: String) -> String {
    if reader.isEmpty, slot.isEmpty { return kind }
    return "\(kind):\(Array(SHA256.digest(Array("\(reader)\n\(slot)".utf8)).prefix(10)).hexadecimal)"
  }

  /// Returns the key of a story's progress in this slot; neither name has a control character.
  func key(_ story: String) -> StoryName { StoryName("\(story)\n\(reader)\n\(slot)") }
}

/// The options of the calls about a reader's progress.
package struct ReadingOptions {
  package var slot = ReadingSlot()
  /// Whether a reader was named.
  package var hasReader = false
  package var language: String?
  package var data: JSONValue?

  /// Reads the options from an object with the keys reader, slot, language and data; null has the defaults.
  ///
  /// - Throws: `SatchelError` `.invalid`, with the key, for an unknown key or a wrong value
  package init(json: JSONValue) throws {
    if json.isNull { return }
    guard let members = json.objectValue else {
      throw SatchelError(.invalid, "options: must be an object, not \(json.kind)")
    }
    for (key, value) in members {
      if key == "data" {
        data = value
        continue
      }
      guard ["reader", "slot", "language"].contains(key) else {
        throw SatchelError(.invalid, "options: \"\(key)\" is not a known key")
      }
      if value.isNull { continue }
      guard let text = value.stringValue else {
        throw SatchelError(.invalid, "options: \"\(key)\" must be a string, not \(value.kind)")
      }
      switch key {
      case "reader": (slot.reader, hasReader) = (text, true)
      case "slot": slot.slot = text
      default: language = text
      }
    }
  }
}
