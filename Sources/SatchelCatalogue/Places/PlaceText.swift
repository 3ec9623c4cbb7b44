import CUTF8Proc
import SatchelCore

/// Normalizes names for use as components of keys: "São Paulo" becomes "sao_paulo".
package enum PlaceText {
  /// Returns the text in lower case and NFC, without commas, apostrophes, invisible characters, surrounding white
  /// space and the diacritics of Latin, Greek and Cyrillic letters, with letters with strokes as their base letters, and
  /// with each run of inner white space as one "_". Control characters count as white space. Does not depend on the
  /// locale.
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
    for byte in bytes where byte != UInt8(ascii: ",") && !LetterTable.isApostrophe(Int32(byte)) {
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
    var letters = NormalForm.decomposed(text.unicodeScalars.map { Int32(bitPattern: $0.value) })
    letters.removeAll { LetterTable.isApostrophe($0) || LetterTable.isInvisible($0) }
    // Decomposed again: lower-casing can produce composed letters, and what was removed can join marks.
    var scalars = baseLetters(NormalForm.decomposed(joiningWords(lowercased(letters))))
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

  private static func baseLetters(_ scalars: [Int32]) -> [Int32] {
    var result: [Int32] = []
    result.reserveCapacity(scalars.count)
    for scalar in scalars {
      let (base, second) = LetterTable.base(of: scalar)
      result.append(base)
      if second != 0 { result.append(second) }
    }
    return result
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
