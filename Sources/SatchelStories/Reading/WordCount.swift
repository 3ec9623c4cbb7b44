import CScan
import SatchelJSON

/// Counts words as word processors do: runs of characters between white space, and each ideograph and kana as
/// a word.
///
/// Plain ASCII is counted by vectors, other characters one at a time.
package struct WordCount {
  private let bytes: UnsafeRawBufferPointer
  private let isEscaped: Bool
  private var index = 0
  private var words = 0
  private var isInWord = false

  /// Counts the words of a text's bytes.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8; for a JSON string without its quotes
  ///   - isEscaped: whether a backslash starts a JSON escape
  package static func count(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) -> Int {
    var counter = WordCount(bytes: bytes, isEscaped: isEscaped)
    return counter.count()
  }

  private mutating func count() -> Int {
    guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return 0 }
    while true {
      index &+= satchel_plain_words(base + index, bytes.count &- index, isEscaped, &isInWord, &words)
      guard index < bytes.count else { return words }
      step()
    }
  }

  /// Skips one character.
  private mutating func step() {
    let byte = bytes[index]
    switch byte {
    case 0x00...0x20: advance(.space, 1)
    case UInt8(ascii: "\\") where isEscaped && index + 1 < bytes.count: escape(bytes[index + 1])
    case 0xC2...0xF4: multibyte(byte)
    default: advance(.letter, 1)
    }
  }

  private mutating func advance(_ kind: Kind, _ length: Int) {
    index += length
    switch kind {
    case .space: isInWord = false
    case .mark: break
    case .word:
      words += 1
      isInWord = false
    case .letter:
      if !isInWord { words += 1 }
      isInWord = true
    }
  }

  private mutating func escape(_ letter: UInt8) {
    switch letter {
    case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      advance(.space, 2)
    case UInt8(ascii: "u"):
      // Any character can be escaped, also a space or an ideograph; a surrogate pair is one character.
      let first = UnsafeRawBufferPointer(rebasing: bytes[index..<min(bytes.count, index + 6)])
      let isPair = first.count == 6 && first[2] | 0x20 == UInt8(ascii: "d") && first[3] >= UInt8(ascii: "8")
      let length = min(bytes.count - index, isPair ? 12 : 6)
      let text = JSONEscape.resolved(UnsafeRawBufferPointer(rebasing: bytes[index..<index + length]))
      advance(text.unicodeScalars.first.map { Self.kind(of: $0.value) } ?? .letter, length)
    default: advance(.letter, 2)
    }
  }

  private mutating func multibyte(_ first: UInt8) {
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    guard index + length <= bytes.count else { return advance(.letter, 1) }
    var scalar = UInt32(first) & (0xFF >> UInt32(length + 1))
    for byte in bytes[index + 1..<index + length] { scalar = scalar << 6 | UInt32(byte & 0x3F) }
    advance(Self.kind(of: scalar), length)
  }

  /// The effect of a character on the count.
  enum Kind {
    /// Starts or continues a word.
    case letter
    /// Is a word.
    case word
    case space
    /// CJK punctuation, which belongs to the preceding word.
    case mark
  }

  static func kind(of scalar: UInt32) -> Kind {
    switch scalar {
    case ...0x20, 0x85, 0xA0: .space
    case ..<0x1680: .letter
    // The spaces of Unicode, and the zero-width space, which separates words.
    case 0x1680, 0x2000...0x200B, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: .space
    // Iteration marks and the ideographic zero count as ideographs.
    case 0x3005...0x3007, 0x3021...0x3029: .word
    case 0x3001...0x303F, 0x30FB, 0xFF01...0xFF0F, 0xFF1A...0xFF20, 0xFF3B...0xFF40, 0xFF5B...0xFF65: .mark
    case 0x3041...0x3096, 0x309D...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9D: .word
    case 0x3099...0x309C, 0xFF9E, 0xFF9F: .mark
    case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: .word
    default: .letter
    }
  }
}
