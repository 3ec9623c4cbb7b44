import CUTF8Proc

/// Normalizes names for use as components of keys: "São Paulo" becomes "sao_paulo".
package enum PlaceText {
  /// Returns the text in lower case and NFC, without commas, surrounding white space and the diacritics of
  /// Latin, Greek and Cyrillic letters, with each run of inner white space as one "_". Control characters
  /// count as white space. Does not depend on the locale.
  ///
  /// - Returns: nil when the result is empty
  package static func normalize(_ text: String) -> String? {
    var text = text
    return text.withUTF8 { bytes in
      bytes.allSatisfy { $0 < 0x80 } ? normalizeASCII(bytes) : normalizeUnicode(bytes)
    }
  }

  /// Applies the same rules to ASCII, the common case, at a fraction of the cost.
  private static func normalizeASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var gap = false
    for byte in bytes where byte != UInt8(ascii: ",") {
      if byte <= 0x20 || byte == 0x7F {
        gap = true
        continue
      }
      if gap, !result.isEmpty { result.append(UInt8(ascii: "_")) }
      gap = false
      result.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
    }
    return result.isEmpty ? nil : String(decoding: result, as: UTF8.self)
  }

  private static func normalizeUnicode(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    // Decomposed first, so that NFC and NFD input give the same result.
    let letters = NormalForm.decomposed(text.unicodeScalars.map { Int32(bitPattern: $0.value) })
    // Decomposed again: lower-casing can produce composed letters, and a removed comma can join marks.
    var scalars = NormalForm.decomposed(joiningWords(lowercased(letters)))
    removeDiacritics(&scalars)
    let composed = NormalForm.composed(scalars)
    return composed.isEmpty ? nil : string(composed)
  }

  /// Removes commas and surrounding white space, and replaces each run of inner white space by one "_".
  private static func joiningWords(_ scalars: [Int32]) -> [Int32] {
    var result: [Int32] = []
    result.reserveCapacity(scalars.count)
    var gap = false
    for scalar in scalars where scalar != 0x2C {
      if LetterTable.isSpace(scalar) {
        gap = true
        continue
      }
      if gap, !result.isEmpty { result.append(0x5F) }
      gap = false
      result.append(scalar)
    }
    return result
  }

  /// Removes the marks that follow a letter of one of the three scripts; other marks are part of the word.
  private static func removeDiacritics(_ scalars: inout [Int32]) {
    var followsLetter = false
    scalars.removeAll { scalar in
      if LetterTable.isMark(scalar) { return followsLetter }
      followsLetter = LetterTable.losesMarks(scalar)
      return false
    }
  }

  private static func lowercased(_ scalars: [Int32]) -> [Int32] {
    var result = scalars.map { utf8proc_tolower($0) }
    // The only rule of lower-casing that depends on the context: a sigma at the end of a word.
    for (position, scalar) in scalars.enumerated() where scalar == 0x3A3 {
      if LetterTable.endsWord(scalars, at: position) { result[position] = 0x3C2 }
    }
    return result
  }

  private static func string(_ scalars: [Int32]) -> String {
    var view = String.UnicodeScalarView()
    for scalar in scalars {
      view.append(Unicode.Scalar(UInt32(truncatingIfNeeded: scalar)) ?? "\u{FFFD}")
    }
    return String(view)
  }
}

/// Properties of scalars that the rules of `PlaceText` need.
enum LetterTable {
  /// Whether a scalar is white space or a control character.
  static func isSpace(_ scalar: Int32) -> Bool {
    switch utf8proc_category(scalar) {
    case UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP, UTF8PROC_CATEGORY_CC: return true
    default: return false
    }
  }

  /// Whether a scalar is a combining mark.
  static func isMark(_ scalar: Int32) -> Bool {
    switch utf8proc_category(scalar) {
    case UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_MC, UTF8PROC_CATEGORY_ME: return true
    default: return false
    }
  }

  /// Whether a scalar is a letter of the Latin, Greek or Cyrillic blocks, whose marks are diacritics.
  static func losesMarks(_ scalar: Int32) -> Bool {
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
  static func endsWord(_ scalars: [Int32], at position: Int) -> Bool {
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
