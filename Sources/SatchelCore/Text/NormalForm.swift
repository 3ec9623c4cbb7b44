import CUTF8Proc

/// Computes Unicode normal forms with utf8proc.
package enum NormalForm {
  /// Returns scalars in NFD.
  ///
  /// Decomposes each scalar separately and orders the marks itself, because utf8proc's ordering takes
  /// quadratic time in the length of a run of marks: 18 s for 200 KB of marks.
  package static func decomposed(_ scalars: [Int32]) -> [Int32] {
    decomposed(scalars, utf8proc_option_t(UTF8PROC_STABLE.rawValue | UTF8PROC_DECOMPOSE.rawValue))
  }

  /// Returns the full case folding of scalars in NFD, in NFD.
  static func caseFolded(_ scalars: [Int32]) -> [Int32] {
    decomposed(
      scalars,
      utf8proc_option_t(
        UTF8PROC_STABLE.rawValue | UTF8PROC_DECOMPOSE.rawValue | UTF8PROC_CASEFOLD.rawValue))
  }

  private static func decomposed(_ scalars: [Int32], _ options: utf8proc_option_t) -> [Int32] {
    var result: [Int32] = []
    result.reserveCapacity(scalars.count * 2)
    var parts = [Int32](repeating: 0, count: 32)
    var boundary: Int32 = 0
    for scalar in scalars {
      if scalar < 0x41 {
        result.append(scalar)
        continue
      }
      let count = utf8proc_decompose_char(scalar, &parts, parts.count, options, &boundary)
      // Unicode guarantees at most four; a scalar that utf8proc does not accept stays unchanged.
      if (1...parts.count).contains(count) {
        result.append(contentsOf: parts[..<count])
      } else {
        result.append(scalar)
      }
    }
    orderMarks(&result)
    return result
  }

  /// Returns scalars in NFC, for scalars in NFD.
  package static func composed(_ scalars: [Int32]) -> [Int32] {
    var result = scalars
    let options = utf8proc_option_t(UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue)
    let count = result.withUnsafeMutableBufferPointer {
      utf8proc_normalize_utf32($0.baseAddress, $0.count, options)
    }
    return count < 0 ? scalars : Array(result.prefix(count))
  }

  /// Returns text in NFC.
  package static func composed(_ text: String) -> String { string(composed(decomposed(scalars(text)))) }

  /// Returns text in NFD.
  package static func decomposed(_ text: String) -> String { string(decomposed(scalars(text))) }

  private static func scalars(_ text: String) -> [Int32] {
    text.unicodeScalars.map { Int32(bitPattern: $0.value) }
  }

  private static func string(_ scalars: [Int32]) -> String {
    var result = String.UnicodeScalarView()
    for scalar in scalars { result.append(Unicode.Scalar(UInt32(bitPattern: scalar)) ?? "\u{FFFD}") }
    return String(result)
  }

  /// Applies the Canonical Ordering Algorithm (Unicode, section 3.11): sorts each run of marks by combining
  /// class, and keeps the order of marks with the same class.
  private static func orderMarks(_ scalars: inout [Int32]) {
    var start = 0
    while start < scalars.count {
      var run: [(position: Int, order: Int16)] = []
      while start + run.count < scalars.count {
        let order = utf8proc_get_property(scalars[start + run.count]).pointee.combining_class
        guard order != 0 else { break }
        run.append((run.count, order))
      }
      if run.count > 1 {
        let marks = Array(scalars[start..<start + run.count])
        run.sort { ($0.order, $0.position) < ($1.order, $1.position) }
        for (position, mark) in run.enumerated() { scalars[start + position] = marks[mark.position] }
      }
      start += run.count + 1
    }
  }
}
