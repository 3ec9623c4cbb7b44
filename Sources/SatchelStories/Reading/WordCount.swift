/// Words of a text, as word processors count them: runs between white space; every ideograph and kana is one.
enum WordCount {
  /// Counts the words of a JSON string's bytes, escapes not resolved.
  static func count(_ bytes: UnsafeRawBufferPointer, isEscaped: Bool) -> Int {
    guard let base = bytes.baseAddress, !bytes.isEmpty else { return 0 }
    guard !isEscaped else { return slowly(bytes) }
    var words = 0
    // Whether the byte before was white space, in the high bit.
    var before: UInt64 = 0x80
    var index = 0
    while index + 8 <= bytes.count {
      let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      guard word & highBits == 0 else { return slowly(bytes) }
      // The high bit of every byte below or at the space: unescaped JSON holds no other control characters.
      let space = ~(word &+ 0x5F5F_5F5F_5F5F_5F5F) & highBits
      let starts = ~space & (space << 8 | before)
      words += (starts & highBits).nonzeroBitCount
      before = space >> 56
      index += 8
    }
    var isSpace = before != 0
    while index < bytes.count {
      let byte = bytes[index]
      guard byte < 0x80 else { return slowly(bytes) }
      if byte > 0x20, isSpace { words += 1 }
      isSpace = byte <= 0x20
      index += 1
    }
    return words
  }

  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  private static func slowly(_ bytes: UnsafeRawBufferPointer) -> Int {
    var words = 0
    var isInWord = false
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case 0x00...0x20: isInWord = false
      case UInt8(ascii: "\\") where index + 1 < bytes.count:
        let next = bytes[index + 1]
        let isSpace = next == UInt8(ascii: "n") || next == UInt8(ascii: "t") || next == UInt8(ascii: "r")
        if !isSpace, !isInWord { words += 1 }
        isInWord = !isSpace
        index += 1
      case 0xC2 where index + 1 < bytes.count && bytes[index + 1] == 0xA0:
        // The no-break space.
        isInWord = false
        index += 1
      case 0xE2...0xE9 where index + 2 < bytes.count:
        let scalar = UInt32(byte & 0x0F) << 12 | UInt32(bytes[index + 1] & 0x3F) << 6 | UInt32(bytes[index + 2] & 0x3F)
        index += 2
        switch scalar {
        // Spaces of typography, and the ideographic one.
        case 0x2000...0x200B, 0x2028, 0x2029, 0x202F, 0x3000: isInWord = false
        // Ideographic punctuation belongs to the word before it.
        case 0x3001...0x303F: break
        case 0x3040...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF:
          words += 1
          isInWord = false
        default:
          if !isInWord { words += 1 }
          isInWord = true
        }
      default:
        if !isInWord { words += 1 }
        isInWord = true
      }
      index += 1
    }
    return words
  }
}
