import CUTF8Proc

/// The differences of texts that a comparison ignores.
package struct TextFold: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Upper and lower case: full case folding, "STRASSE" and "Straße" are equal.
  package static let `case` = TextFold(rawValue: 1)
  /// The marks of letters for which the search ignores them too: of Latin, Greek and Cyrillic ones, and the optional
  /// vowels of Hebrew and Arabic. Marks of Thai, Devanagari or Japanese are part of the word. Letters with strokes, ligatures
  /// and the dotless i are their base letters: "Łódź" and "Lodz" are equal.
  package static let accent = TextFold(rawValue: 2)

  /// Appends a text in NFC, without what the options ignore. Canonically equivalent texts give the same bytes. Bytes
  /// that are not UTF-8 are kept.
  package func folded(_ text: UnsafeRawBufferPointer, into result: inout [UInt8]) {
    var end = 0
    while end < text.count, text[end] < 0x80 { end += 1 }
    // The last letter may have a mark.
    if end < text.count { end = max(0, end - 1) }
    appendASCII(UnsafeRawBufferPointer(rebasing: text[..<end]), to: &result)
    guard end < text.count else { return }
    let rest = UnsafeRawBufferPointer(rebasing: text[end...])
    if isEmpty, UTF8Scalars.isLatin(rest) {
      result.append(contentsOf: rest)
    } else {
      appendUnicode(rest, to: &result)
    }
  }

  private func appendASCII(_ text: UnsafeRawBufferPointer, to result: inout [UInt8]) {
    let start = result.count
    result.append(contentsOf: text)
    guard contains(.case) else { return }
    result.withUnsafeMutableBufferPointer { bytes in
      for index in start..<bytes.count where bytes[index] &- 0x41 < 26 { bytes[index] |= 0x20 }
    }
  }

  /// Folds the valid parts of a text.
  private func appendUnicode(_ text: UnsafeRawBufferPointer, to result: inout [UInt8]) {
    var scalars: [Int32] = []
    scalars.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      let (scalar, length) = UTF8Scalars.decode(text, at: index)
      if scalar < 0 {
        append(scalars, to: &result)
        scalars.removeAll(keepingCapacity: true)
        result.append(text[index])
      } else {
        scalars.append(scalar)
      }
      index += length
    }
    append(scalars, to: &result)
  }

  private func append(_ scalars: [Int32], to result: inout [UInt8]) {
    guard !scalars.isEmpty else { return }
    var folded = NormalForm.decomposed(scalars)
    if contains(.case) { folded = NormalForm.caseFolded(folded) }
    if contains(.accent) { folded = Self.withoutAccents(folded) }
    for scalar in NormalForm.composed(folded) { UTF8Scalars.append(scalar, to: &result) }
  }

  /// Returns scalars in NFD without the marks of letters that lose them.
  private static func withoutAccents(_ scalars: [Int32]) -> [Int32] {
    var result: [Int32] = []
    result.reserveCapacity(scalars.count)
    var losesMarks = false
    for scalar in scalars {
      if scalar < 0x80 {
        losesMarks = UInt8(truncatingIfNeeded: scalar | 0x20) &- 0x61 < 26
        result.append(scalar)
      } else if LetterTable.isMark(scalar) {
        if !losesMarks { result.append(scalar) }
      } else {
        losesMarks = LetterTable.losesMarks(scalar) || SearchScripts.hasOptionalMarks(scalar)
        let small = utf8proc_tolower(scalar)
        let (base, second) = LetterTable.base(of: small)
        if base == small {
          result.append(scalar)
        } else {
          result.append(small == scalar ? base : utf8proc_toupper(base))
          if second != 0 { result.append(small == scalar ? second : utf8proc_toupper(second)) }
        }
      }
    }
    return result
  }
}
