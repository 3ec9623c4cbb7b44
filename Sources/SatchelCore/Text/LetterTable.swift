import CUTF8Proc

/// Properties of scalars that the rules of places and of the search depend on.
package enum LetterTable {
  /// Whether a scalar is white space or a control character.
  package static func isSpace(_ scalar: Int32) -> Bool {
    switch utf8proc_category(scalar) {
    case UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP, UTF8PROC_CATEGORY_CC: return true
    default: return false
    }
  }

  /// Whether a scalar is a combining mark.
  package static func isMark(_ scalar: Int32) -> Bool {
    switch utf8proc_category(scalar) {
    case UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ME: return true
    default: return false
    }
  }

  /// Whether a scalar is a letter of the Latin, Greek or Cyrillic blocks, whose marks are diacritics.
  package static func losesMarks(_ scalar: Int32) -> Bool {
    guard blocks.contains(where: { $0.contains(scalar) }) else { return false }
    switch utf8proc_category(scalar) {
    case UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT, UTF8PROC_CATEGORY_LM,
      UTF8PROC_CATEGORY_LO:
      return true
    default: return false
    }
  }

  /// Whether the condition Final_Sigma of the Unicode standard (section 3.13) holds: a cased letter before
  /// and none after, skipping case-ignorable scalars.
  package static func endsWord(_ scalars: [Int32], at position: Int) -> Bool {
    let before = scalars[..<position].last { !ignoresCase($0) }
    let after = scalars[(position + 1)...].first { !ignoresCase($0) }
    return before.map(hasCase) == true && after.map(hasCase) != true
  }

  private static func hasCase(_ scalar: Int32) -> Bool { properties(scalar)?.isCased == true }

  private static func ignoresCase(_ scalar: Int32) -> Bool { properties(scalar)?.isCaseIgnorable == true }

  /// Returns Swift's properties of a scalar, because utf8proc has neither of the two.
  private static func properties(_ scalar: Int32) -> Unicode.Scalar.Properties? {
    Unicode.Scalar(UInt32(truncatingIfNeeded: scalar))?.properties
  }

  /// The blocks of the three scripts, with the names of the Unicode standard; of the fullwidth forms only the
  /// letters.
  private static let blocks: [ClosedRange<Int32>] = [
    0x0041...0x02AF,  // Basic Latin to IPA Extensions
    0x0370...0x03FF,  // Greek and Coptic
    0x0400...0x052F,  // Cyrillic, Cyrillic Supplement
    0x1C80...0x1C8F,  // Cyrillic Extended-C
    0x1D00...0x1DBF,  // Phonetic Extensions and their Supplement
    0x1E00...0x1EFF,  // Latin Extended Additional
    0x1F00...0x1FFF,  // Greek Extended
    0x2C60...0x2C7F,  // Latin Extended-C
    0xA640...0xA69F,  // Cyrillic Extended-B
    0xA720...0xA7FF,  // Latin Extended-D
    0xAB30...0xAB6F,  // Latin Extended-E
    0xFB00...0xFB06,  // Latin ligatures
    0xFF21...0xFF3A,  // Fullwidth capital letters
    0xFF41...0xFF5A,  // Fullwidth small letters
    0x10780...0x107BF,  // Latin Extended-F
    0x1DF00...0x1DFFF,  // Latin Extended-G
    0x1E030...0x1E08F,  // Cyrillic Extended-D
  ]
}
