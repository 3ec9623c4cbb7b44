import Satchel

/// A file with an encryption key.
enum KeyFile {
  /// Returns the 32 bytes of a key, which the file has as they are, or as 64 hexadecimal digits and a line feed.
  ///
  /// - Throws: `SatchelError`: `invalid` for a file of other contents, naming it; `io` and others for one that cannot be
  ///   read
  static func read(_ path: String) throws -> [UInt8] {
    let bytes: [UInt8]
    do {
      bytes = try FileBytes.contents(of: FilePath(argument: path))
    } catch let error as SatchelError {
      throw SatchelError(error.code, "\(path.printable): \(error.message)")
    }
    if bytes.count == 32 { return bytes }
    guard let key = key(ofDigits: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes) else {
      throw SatchelError(.invalid, "\(path.printable): has neither 32 bytes nor 64 hexadecimal digits")
    }
    return key
  }

  /// Returns the key that 64 hexadecimal digits are; nil for any other text.
  static func key(ofDigits digits: [UInt8]) -> [UInt8]? {
    let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard values.count == 64, digits.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
  }
}
