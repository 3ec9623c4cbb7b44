extension JSONValue {
  /// Reads a JSON text: UTF-8 without byte-order mark, one value of any kind, nothing after it but white space.
  ///
  /// - Throws: `JSONError` with the place for anything that is not JSON, for more than 512 levels, a duplicate
  ///   key, an invalid or lone surrogate, a NUL in a key, an integer outside Int64, and a number beyond the
  ///   largest double. A number too small for a double is 0.0.
  public init(parsing bytes: UnsafeRawBufferPointer) throws {
    self = try JSONParser.parse(bytes)
  }

  /// Reads a JSON text; see `init(parsing:)` for bytes.
  public init(parsing text: String) throws {
    var text = text
    self = try text.withUTF8 { try JSONParser.parse(UnsafeRawBufferPointer($0)) }
  }

  /// Reads a JSON text; see `init(parsing:)` for bytes.
  public init(parsing bytes: [UInt8]) throws {
    self = try bytes.withUnsafeBytes { try JSONParser.parse($0) }
  }
}
