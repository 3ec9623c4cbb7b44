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

  /// Whether a scalar cannot be seen: a soft hyphen, a joiner, a mark of direction, a variation selector.
  package static func isInvisible(_ scalar: Int32) -> Bool {
    utf8proc_get_property(scalar).pointee.ignorable != 0
      || utf8proc_category(scalar) == UTF8PROC_CATEGORY_CF
  }

  /// Whether a scalar is an apostrophe, or one of the letters and signs that are written for it.
  package static func isApostrophe(_ scalar: Int32) -> Bool {
    switch scalar {
    case 0x27, 0x60, 0xB4,  // Typewriter's apostrophe, grave and acute accent
      0x2B9, 0x2BB...0x2BF, 0x2018, 0x2019, 0x201B, 0x2032, 0x2035,  // Modifier letters, quotes, primes
      0x55A, 0x5F3, 0x7F4, 0x7F5,  // Armenian, Hebrew (geresh), N'Ko
      0xA78B, 0xA78C, 0xFF07:  // Saltillo, fullwidth
      true
    default: false
    }
  }

  /// Whether a scalar is a vowel or final consonant of Korean that composes with what precedes it.
  package static func isConjoining(_ scalar: Int32) -> Bool {
    let kind = utf8proc_get_property(scalar).pointee.boundclass
    return kind == UTF8PROC_BOUNDCLASS_V.rawValue || kind == UTF8PROC_BOUNDCLASS_T.rawValue
  }

  /// Returns the letter, or two letters, that people type for a small letter with a stroke, a ligature or the
  /// dotless i, which have no decomposition; the scalar itself for any other. The second one is 0 for none.
  package static func base(of scalar: Int32) -> (Int32, Int32) {
    guard scalar >= 0x80, scalar < 0xB000 else { return (scalar, 0) }
    return switch scalar {
    case 0xE6: (0x61, 0x65)  // æ
    case 0x153: (0x6F, 0x65)  // œ
    case 0x2C65: (0x61, 0)  // ⱥ
    case 0x180: (0x62, 0)  // ƀ
    case 0x23C: (0x63, 0)  // ȼ
    case 0x111: (0x64, 0)  // đ
    case 0x247: (0x65, 0)  // ɇ
    case 0xA799: (0x66, 0)  // ꞙ
    case 0x1E5, 0xA7A1: (0x67, 0)  // ǥ ꞡ
    case 0x127: (0x68, 0)  // ħ
    case 0x131, 0x268: (0x69, 0)  // ı ɨ
    case 0x249: (0x6A, 0)  // ɉ
    case 0xA741, 0xA743, 0xA745, 0xA7A3: (0x6B, 0)  // ꝁ ꝃ ꝅ ꞣ
    case 0x142, 0xA749: (0x6C, 0)  // ł ꝉ
    case 0xA7A5: (0x6E, 0)  // ꞥ
    case 0xF8: (0x6F, 0)  // ø
    case 0x1D7D: (0x70, 0)  // ᵽ
    case 0xA759: (0x71, 0)  // ꝙ
    case 0x24D, 0xA7A7: (0x72, 0)  // ɍ ꞧ
    case 0xA7A9, 0xA7CD: (0x73, 0)  // ꞩ, and with a diagonal stroke
    case 0x167, 0x2C66: (0x74, 0)  // ŧ ⱦ
    case 0xA7B9: (0x75, 0)  // ꞹ
    case 0xA75F: (0x76, 0)  // ꝟ
    case 0x24F: (0x79, 0)  // ɏ
    case 0x1B6: (0x7A, 0)  // ƶ
    default: (scalar, 0)
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
