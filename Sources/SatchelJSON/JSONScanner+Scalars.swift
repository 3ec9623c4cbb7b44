import CScan

extension JSONScanner {
  /// Scans a string, from its opening quote to after its closing quote.
  ///
  /// - Returns: whether it contains escape sequences
  @_optimize(speed)
  package mutating func string() throws(JSONError) -> Bool {
    var isEscaped = false
    position += 1
    while true {
      skipPlain()
      guard position < count else { throw failure("the text ends inside a string") }
      let byte = base[position]
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return isEscaped
      case UInt8(ascii: "\\"):
        isEscaped = true
        try escape()
      case 0x80...: try multibyte()
      default: throw failure("a control character inside a string")
      }
    }
  }

  /// Skips printable ASCII except quotes and backslashes.
  @inline(__always)
  private mutating func skipPlain() {
    position &+= satchel_plain_bytes(base + position, count &- position)
  }

  private mutating func escape() throws(JSONError) {
    guard position + 1 < count else { throw failure("the text ends inside a string") }
    switch base[position + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    case UInt8(ascii: "u"):
      let unit = try codeUnit(at: position)
      if unit & 0xFC00 == 0xD800 {
        guard position + 7 < count, base[position + 6] == UInt8(ascii: "\\"),
          base[position + 7] == UInt8(ascii: "u"), try codeUnit(at: position + 6) & 0xFC00 == 0xDC00
        else { throw failure("a lone surrogate") }
        position += 12
      } else if unit & 0xFC00 == 0xDC00 {
        throw failure("a lone surrogate")
      } else {
        position += 6
      }
    default: throw failure("an unknown escape")
    }
  }

  /// Returns the code unit of the escape `\uXXXX` at `offset`.
  private func codeUnit(at offset: Int) throws(JSONError) -> UInt32 {
    guard offset + 6 <= count else { throw failure("the text ends inside an escape") }
    var unit: UInt32 = 0
    for index in offset + 2..<offset + 6 {
      guard let digit = Self.hexDigit(base[index]) else {
        throw failure("an escape needs four hexadecimal digits")
      }
      unit = unit << 4 | digit
    }
    return unit
  }

  static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }

  /// Scans one well-formed UTF-8 sequence of two to four bytes (Unicode, table 3-7).
  @inline(__always)
  private mutating func multibyte() throws(JSONError) {
    let first = base[position]
    let left = count - position
    switch first {
    case 0xC2...0xDF where left >= 2 && isContinuation(1): position += 2
    case 0xE0...0xEF where left >= 3 && isContinuation(1) && isContinuation(2):
      let second = base[position + 1]
      if (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) {
        throw failure("invalid UTF-8")
      }
      position += 3
    case 0xF0...0xF4 where left >= 4 && isContinuation(1) && isContinuation(2) && isContinuation(3):
      let second = base[position + 1]
      if (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F) {
        throw failure("invalid UTF-8")
      }
      position += 4
    default: throw failure("invalid UTF-8")
    }
  }

  @inline(__always)
  private func isContinuation(_ distance: Int) -> Bool { base[position + distance] & 0xC0 == 0x80 }

  /// Scans a number.
  ///
  /// - Returns: `.integer` for an Int64 without fraction and exponent, `.double` within the range of a double,
  ///   otherwise `.bigNumber`
  package mutating func number() throws(JSONError) -> JSONKind {
    let start = position
    let isNegative = base[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let firstDigit = position
    skipDigits()
    let digits = position - firstDigit
    guard digits > 0 else { throw failure("a number needs a digit", at: start) }
    if digits > 1, base[firstDigit] == UInt8(ascii: "0") {
      throw failure("a number must not begin with 0", at: start)
    }
    var kind = JSONKind.integer
    var hasExponent = false
    if position < count, base[position] == UInt8(ascii: ".") {
      kind = .double
      position += 1
      let first = position
      skipDigits()
      guard position > first else {
        throw failure("a number needs a digit after the decimal point", at: start)
      }
    }
    if position < count, base[position] | 0x20 == UInt8(ascii: "e") {
      kind = .double
      hasExponent = true
      position += 1
      if position < count, base[position] == UInt8(ascii: "+") || base[position] == UInt8(ascii: "-") {
        position += 1
      }
      let first = position
      skipDigits()
      guard position > first else { throw failure("a number needs a digit in its exponent", at: start) }
    }
    if kind == .integer {
      if digits > 18, Int64(text(start)) == nil { return .bigNumber }
    } else if hasExponent || digits > 300, Double(text(start)).map({ $0.isFinite }) != true {
      let number = UnsafeRawBufferPointer(start: base + start, count: position - start)
      guard JSONExpansion(number) != nil else { throw failure("an exponent beyond Int64", at: start) }
      return .bigNumber
    }
    return kind
  }

  private func text(_ start: Int) -> String {
    String(decoding: UnsafeBufferPointer(start: base + start, count: position - start), as: UTF8.self)
  }

  @inline(__always)
  private mutating func skipDigits() {
    while position < count, base[position] &- UInt8(ascii: "0") < 10 { position += 1 }
  }
}

/// Resolves the escape sequences of JSON strings.
package enum JSONEscape {
  /// Decodes the bytes of a string (without quotes) that the scanner has validated.
  package static func resolved(_ bytes: UnsafeRawBufferPointer) -> String {
    guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
    var units: [UInt8] = []
    units.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
        units.append(bytes[index])
        index += 1
        continue
      }
      switch bytes[index + 1] {
      case UInt8(ascii: "b"): units.append(0x08)
      case UInt8(ascii: "f"): units.append(0x0C)
      case UInt8(ascii: "n"): units.append(0x0A)
      case UInt8(ascii: "r"): units.append(0x0D)
      case UInt8(ascii: "t"): units.append(0x09)
      case UInt8(ascii: "u"):
        let (scalar, length) = scalar(bytes, at: index)
        units.append(contentsOf: String(scalar).utf8)
        index += length
        continue
      default: units.append(bytes[index + 1])
      }
      index += 2
    }
    return String(decoding: units, as: UTF8.self)
  }

  private static func scalar(_ bytes: UnsafeRawBufferPointer, at index: Int) -> (Unicode.Scalar, Int) {
    let replacement: Unicode.Scalar = "\u{FFFD}"
    guard let high = unit(bytes, at: index) else { return (replacement, 2) }
    if high & 0xFC00 == 0xD800, let low = unit(bytes, at: index + 6), low & 0xFC00 == 0xDC00 {
      return (Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF)) ?? replacement, 12)
    }
    return (Unicode.Scalar(high) ?? replacement, 6)
  }

  private static func unit(_ bytes: UnsafeRawBufferPointer, at index: Int) -> UInt32? {
    guard index + 6 <= bytes.count else { return nil }
    var unit: UInt32 = 0
    for byte in bytes[index + 2..<index + 6] {
      guard let digit = JSONScanner.hexDigit(byte) else { return nil }
      unit = unit << 4 | digit
    }
    return unit
  }
}
