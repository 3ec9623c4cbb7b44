import CRootOrder
import CUTF8Proc

/// Sort keys by Unicode's root order (UTS #10, with the default table): the order of a list of titles in which no
/// language is preferred, so that "Äpfel" is between "Apfel" and "Birne".
///
/// Spaces and punctuation count (they are "non-ignorable", as in CLDR's root): "New York" precedes "Newark", as lists of
/// titles have it, word by word. Digits sort by their characters, not by the numbers that they form.
package enum RootOrder {
  /// The number of scalars, in NFD, that the weights are of. What is beyond only decides about texts that are equal so
  /// far, by its bytes: the key of a hostile text is not much longer than the text.
  static let maxScalars = 1024
  /// Changes with the form of the keys.
  private static let revision = 1

  /// Names all that the keys depend on: a key of another version has to be made again.
  package static var version: String {
    "\(String(cString: satchel_root_order_version()))/\(String(cString: utf8proc_unicode_version()))/\(revision)"
  }

  /// Appends the key of a text. The order of texts is that of their keys as bytes, of which one that begins another
  /// precedes it; only canonically equivalent texts have the same key. Bytes that are not UTF-8 sort as U+FFFD.
  ///
  /// The key is the primary weights, two bytes each, then after a 0 the secondary ones, then the tertiary ones, then the
  /// text in NFC. A level is cut after its last weight that is not the least possible, and the levels at the end that
  /// are empty are left out. Both keep the order: where all weights of the level before are equal, so is the number of
  /// weights of this one. A text of printable ASCII follows from its weights, and is left out.
  package static func append(keyOf text: UnsafeRawBufferPointer, to key: inout [UInt8]) {
    if appendASCII(text, to: &key) { return }
    var elements: [UInt32] = []
    elements.reserveCapacity(min(text.count, maxScalars) + 16)
    let isLatin = UTF8Scalars.isLatin(text)
    if !isLatin || !appendLatin(text, to: &elements) {
      RootOrderTable.shared.appendElements(of: scalars(of: text), to: &elements)
    }
    appendLevels(elements, to: &key)
    if isLatin { key.append(contentsOf: text) } else { TextFold().folded(text, into: &key) }
  }

  /// Returns the first scalars in NFD.
  private static func scalars(of text: UnsafeRawBufferPointer) -> [Int32] {
    var scalars: [Int32] = []
    var index = 0
    // Some more, so that marks that belong together are ordered before they are cut.
    while index < text.count, scalars.count < maxScalars + 64 {
      let (scalar, length) = UTF8Scalars.decode(text, at: index)
      scalars.append(scalar < 0 ? 0xFFFD : scalar)
      index += length
    }
    return Array(NormalForm.decomposed(scalars).prefix(maxScalars))
  }

  /// Appends the key of printable ASCII, without a list of elements; false for another text.
  private static func appendASCII(_ text: UnsafeRawBufferPointer, to key: inout [UInt8]) -> Bool {
    guard text.count <= maxScalars, text.allSatisfy({ $0 &- 0x20 < 0x5F }) else { return false }
    key.reserveCapacity(key.count + 3 * text.count + 2)
    var end = 0
    RootOrderLatin.shared.ascii.withUnsafeBufferPointer { latin in
      for index in 0..<text.count {
        let element = latin[Int(text[index])]
        key.append(UInt8(truncatingIfNeeded: element >> 22))
        key.append(UInt8(truncatingIfNeeded: element >> 14))
        if element & 0x1F != 2 { end = index + 1 }
      }
      guard end > 0 else { return }
      key.append(0)
      key.append(0)
      for index in 0..<end { key.append(UInt8(truncatingIfNeeded: latin[Int(text[index])] & 0x1F) - 1) }
    }
    return true
  }

  /// Appends the elements of a text with scalars below U+0300 only; false, without a change, where it has one that may
  /// be part of a contraction, or too many.
  private static func appendLatin(_ text: UnsafeRawBufferPointer, to elements: inout [UInt32]) -> Bool {
    guard text.count <= maxScalars / 4 else { return false }
    let latin = RootOrderLatin.shared
    var index = 0
    while index < text.count {
      var scalar = Int(text[index])
      index += 1
      if scalar >= 0x80 {
        scalar = (scalar & 0x1F) << 6 | Int(text[index] & 0x3F)
        index += 1
        // The only contraction below U+0300 is that of l and the middle dot.
        guard scalar != 0xB7 else {
          elements.removeAll(keepingCapacity: true)
          return false
        }
      }
      latin.append(scalar, to: &elements)
    }
    return true
  }

  /// Appends the three levels, each with a 0 after it.
  private static func appendLevels(_ elements: [UInt32], to key: inout [UInt8]) {
    var (secondEnd, thirdEnd) = (0, 0)
    for (index, element) in elements.enumerated() {
      let primary = element >> 14
      if primary != 0 {
        key.append(UInt8(truncatingIfNeeded: primary >> 8))
        key.append(UInt8(truncatingIfNeeded: primary))
      }
      let secondary = element >> 5 & 0x1FF
      if secondary > 0x20 { secondEnd = index + 1 }
      if element & 0x1F > 2 { thirdEnd = index + 1 }
    }
    key.append(0)
    for element in elements[..<secondEnd] {
      let secondary = element >> 5 & 0x1FF
      guard secondary >= 0x20 else { continue }
      // The weights have one value more than a byte.
      let byte = min(secondary - 0x1F, 0xFF)
      key.append(UInt8(truncatingIfNeeded: byte))
      if byte == 0xFF { key.append(UInt8(truncatingIfNeeded: secondary - 0x11D)) }
    }
    key.append(0)
    for element in elements[..<thirdEnd] {
      let tertiary = element & 0x1F
      if tertiary >= 2 { key.append(UInt8(truncatingIfNeeded: tertiary - 1)) }
    }
    key.append(0)
  }
}
