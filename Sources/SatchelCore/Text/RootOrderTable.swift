import CUTF8Proc

/// The collation elements of characters, decoded from the table when they are first needed.
///
/// An element has its weights in 30 bits: 16 of the primary, 9 of the secondary, 5 of the tertiary one. The value of a
/// character is its element, or the offset of a list: its count and elements.
final class RootOrderTable: Sendable {
  static let shared = RootOrderTable()

  static let isList: UInt32 = 1 << 30
  /// A contraction begins with the character.
  static let beginsContraction: UInt32 = 1 << 31
  /// The character is not in the table.
  static let absent = UInt32.max
  static let pageSize: Int32 = 128

  private let entries: RootOrderEntries

  private init() {
    var reader = RootOrderReader()
    entries = reader.entries()
  }

  /// Appends the elements of scalars in NFD.
  func appendElements(of scalars: [Int32], to elements: inout [UInt32]) {
    var scalars = scalars
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      // Negative: a mark that belonged to a contraction.
      guard scalar >= 0 else {
        index += 1
        continue
      }
      let value = entries.value(of: scalar)
      if value & Self.beginsContraction != 0, value != Self.absent,
        let (list, length) = contraction(at: index, in: &scalars)
      {
        entries.append(list, to: &elements)
        index += length
      } else {
        append(scalar, value, to: &elements)
        index += 1
      }
    }
  }

  // MARK: Contractions

  /// Returns the longest contraction at an index, and the number of its contiguous scalars. Marks that belong to it
  /// although other marks precede them (UTS #10, S2.1) are replaced by -1.
  private func contraction(at index: Int, in scalars: inout [Int32]) -> (list: UInt32, length: Int)? {
    var key = UInt64(scalars[index])
    var (list, length) = (nil as UInt32?, 1)
    func extended(_ key: UInt64, _ scalar: Int32) -> UInt64 { key << 21 | UInt64(max(0, scalar)) }
    if index + 1 < scalars.count {
      let pair = extended(key, scalars[index + 1])
      if index + 2 < scalars.count {
        let triple = extended(pair, scalars[index + 2])
        if let found = entries.contraction(triple) { return (found, 3) }
      }
      if let found = entries.contraction(pair) { (key, list, length) = (pair, found, 2) }
    }
    var (last, next) = (0 as Int16, index + length)
    while next < scalars.count, key < 1 << 42 {
      let scalar = scalars[next]
      if scalar >= 0 {
        let order = utf8proc_get_property(scalar).pointee.combining_class
        if order == 0 { break }
        if last < order, let found = entries.contraction(extended(key, scalar)) {
          (key, list) = (extended(key, scalar), found)
          scalars[next] = -1
        } else {
          last = order
        }
      }
      next += 1
    }
    return list.map { ($0, length) }
  }

  // MARK: Characters

  private func append(_ scalar: Int32, _ value: UInt32, to elements: inout [UInt32]) {
    guard value == Self.absent else { return entries.append(value, to: &elements) }
    if appendDecomposition(of: scalar, to: &elements) { return }
    let small = utf8proc_tolower(scalar)
    if small != scalar, small >= 0 {
      let start = elements.count
      let value = entries.value(of: small)
      if value == Self.absent {
        if !appendDecomposition(of: small, to: &elements) { entries.appendImplicit(small, to: &elements) }
      } else {
        entries.append(value, to: &elements)
      }
      for index in start..<elements.count where elements[index] & 0x1F == 2 { elements[index] += 6 }
    } else {
      entries.appendImplicit(scalar, to: &elements)
    }
  }

  /// Appends the elements of a compatibility decomposition, with the tertiary weights of its kind; false without one.
  private func appendDecomposition(of scalar: Int32, to elements: inout [UInt32]) -> Bool {
    let kind = UInt32(truncatingIfNeeded: utf8proc_get_property(scalar).pointee.decomp_type)
    guard kind != 0 else { return false }
    let options = utf8proc_option_t(
      UTF8PROC_STABLE.rawValue | UTF8PROC_DECOMPOSE.rawValue | UTF8PROC_COMPAT.rawValue)
    var parts = [Int32](repeating: 0, count: 32)
    var boundary: Int32 = 0
    let count = utf8proc_decompose_char(scalar, &parts, parts.count, options, &boundary)
    guard (1...parts.count).contains(count), parts[0] != scalar else { return false }
    let start = elements.count
    for part in parts[..<count] {
      let value = entries.value(of: part)
      // A full decomposition has no parts that are decomposed again.
      if utf8proc_get_property(part).pointee.decomp_type != 0, value == Self.absent {
        entries.appendImplicit(part, to: &elements)
      } else {
        append(part, value, to: &elements)
      }
    }
    for index in start..<elements.count {
      let weight = elements[index] & 0x1F
      if weight != 0 { elements[index] = elements[index] & ~0x1F | Self.tertiary(kind, weight) }
    }
    return true
  }

  /// Returns the tertiary weight of a character that is decomposed to one with a weight (UTS #10, section 10.2).
  private static func tertiary(_ kind: UInt32, _ weight: UInt32) -> UInt32 {
    let isCapital = weight >= 0x08 && weight <= 0x0C || weight == 0x1D
    switch utf8proc_decomp_type_t(kind) {
    case UTF8PROC_DECOMP_TYPE_WIDE: return isCapital ? 0x09 : 0x03
    case UTF8PROC_DECOMP_TYPE_COMPAT: return isCapital ? 0x0A : 0x04
    case UTF8PROC_DECOMP_TYPE_FONT: return isCapital ? 0x0B : 0x05
    case UTF8PROC_DECOMP_TYPE_CIRCLE:
      if weight >= 0x0D && weight <= 0x13 { return 0x13 }
      return isCapital ? 0x0C : 0x06
    case UTF8PROC_DECOMP_TYPE_SUPER: return weight == 8 ? 0x1D : 0x14
    case UTF8PROC_DECOMP_TYPE_SUB: return 0x15
    case UTF8PROC_DECOMP_TYPE_SMALL: return 0x0F
    case UTF8PROC_DECOMP_TYPE_NARROW: return weight == 0x0F ? 0x10 : 0x12
    case UTF8PROC_DECOMP_TYPE_VERTICAL: return 0x16
    case UTF8PROC_DECOMP_TYPE_INITIAL: return 0x17
    case UTF8PROC_DECOMP_TYPE_MEDIAL: return 0x18
    case UTF8PROC_DECOMP_TYPE_FINAL: return 0x19
    case UTF8PROC_DECOMP_TYPE_ISOLATED: return 0x1A
    case UTF8PROC_DECOMP_TYPE_NOBREAK: return 0x1B
    case UTF8PROC_DECOMP_TYPE_SQUARE: return isCapital ? 0x1D : 0x1C
    case UTF8PROC_DECOMP_TYPE_FRACTION: return 0x1E
    default: return weight
    }
  }
}

/// The elements of the scalars below U+0300, of their canonical decompositions: most titles have no other ones.
final class RootOrderLatin: Sendable {
  static let shared = RootOrderLatin()

  /// The offset of each scalar's elements, and of the end.
  let offsets: [UInt16]
  let elements: [UInt32]
  /// The elements of ASCII, of which each printable character has one.
  let ascii: [UInt32]

  private init() {
    var (offsets, elements, ascii) = ([UInt16](), [UInt32](), [UInt32]())
    for scalar in Int32(0)..<0x300 {
      let start = elements.count
      offsets.append(UInt16(truncatingIfNeeded: start))
      RootOrderTable.shared.appendElements(of: NormalForm.decomposed([scalar]), to: &elements)
      if scalar < 0x80 { ascii.append(elements.count > start ? elements[start] : 0) }
    }
    offsets.append(UInt16(truncatingIfNeeded: elements.count))
    (self.offsets, self.elements, self.ascii) = (offsets, elements, ascii)
  }

  /// Appends the elements of a scalar below U+0300.
  func append(_ scalar: Int, to result: inout [UInt32]) {
    for index in Int(offsets[scalar])..<Int(offsets[scalar + 1]) { result.append(elements[index]) }
  }
}
