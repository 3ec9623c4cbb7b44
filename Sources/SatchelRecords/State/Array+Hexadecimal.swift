extension [UInt8] {
  /// Bytes of two digits each, in either case; nil for anything else.
  init?(hexadecimal text: String) {
    guard text.utf8.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for character in text {
      guard character.isASCII, let digit = character.hexDigitValue.map(UInt8.init) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    self = bytes
  }
}
