import CUTF8Proc

/// Texts as components of keys: "São Paulo" becomes "sao_paulo".
public enum PlaceText {
  /// The text in lower case, without commas, surrounding white space and the diacritics of Latin, Greek and
  /// Cyrillic letters, inner white space as one "_"; in NFC. Control characters count as white space. Does not
  /// depend on the locale.
  ///
  /// - Returns: nil when nothing is left.
  public static func normalize(_ text: String) -> String? {
    var text = text
    return text.withUTF8 { bytes in
      bytes.allSatisfy { $0 < 0x80 } ? normalizeASCII(bytes) : normalizeUnicode(bytes)
    }
  }

  /// Most texts, at a fraction of the cost; same rules.
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
    // Decomposed first, so that NFC and NFD are the same text from here on.
    let letters = NormalForm.decomposed(text.unicodeScalars.map { Int32(bitPattern: $0.value) })
    // Once more: lower case may have brought composed letters, and a comma may have kept marks apart.
    var scalars = NormalForm.decomposed(joiningWords(lowercased(letters)))
    removeDiacritics(&scalars)
    let composed = NormalForm.composed(scalars)
    return composed.isEmpty ? nil : string(composed)
  }

  /// Commas off, white space at the ends off, and each run of it inside to one "_".
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

  /// Removes the marks that follow a letter of one of the three scripts; all others are part of the word.
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
    // The one rule of lower case that looks at the neighbours: a sigma that ends a word.
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
