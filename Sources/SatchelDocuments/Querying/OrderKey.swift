/// Encodes values as bytes in the order that a query requests; the keys of several values are concatenated.
enum OrderKey {
  /// Appends the key of one value.
  ///
  /// - Parameter hasNullsLast: whether missing and null values sort after all others, whatever the direction is;
  ///   nil for before them in ascending order, and after them in descending
  static func append(
    _ value: FieldValue, descending: Bool, nullsLast hasNullsLast: Bool? = nil, to bytes: inout [UInt8]
  ) {
    let start = bytes.count
    append(value, upTo: .max, to: &bytes)
    if descending { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
    guard let hasNullsLast else { return }
    let isNull: Bool
    switch value {
    case .missing, .null: isNull = true
    default: isNull = false
    }
    bytes.insert(isNull == hasNullsLast ? 1 : 0, at: start)
  }

  /// Appends the key of a value, of which no other key is the beginning.
  ///
  /// - Parameter limit: the number of bytes of a text that are in the key
  /// - Returns: whether the key alone identifies the value
  @discardableResult
  static func append(_ value: FieldValue, upTo limit: Int, to bytes: inout [UInt8]) -> Bool {
    switch value {
    case .string(let text): return append(ValueKey.string, text, limit, to: &bytes)
    case .ownedString(let text):
      return text.withUnsafeBytes { append(ValueKey.string, $0, limit, to: &bytes) }
    case .typed(let value): return value.key.withUnsafeBytes { append(value.tag, $0, limit, to: &bytes) }
    case .bigNumber(let number) where limit == .max:
      ValueKey.appendWhole(number, to: &bytes)
      return true
    default: return ValueKey.append(value, to: &bytes)
    }
  }

  /// Appends a text, with a terminator that sorts before everything that may follow.
  private static func append(
    _ tag: UInt8, _ text: UnsafeRawBufferPointer, _ limit: Int, to bytes: inout [UInt8]
  ) -> Bool {
    bytes.append(tag)
    append(escaped: text.prefix(limit), to: &bytes)
    let isWhole = text.count <= limit
    bytes.append(0)
    bytes.append(isWhole ? 0 : 1)
    return isWhole
  }

  /// Appends a text without a terminator.
  static func append(escaped text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    for byte in text {
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
  }
}

extension RecordTable {
  /// Returns the key of a record's whole values in a unique index, by which values are compared whose key in an index
  /// does not identify them.
  func wholeKey(_ row: Int64, _ index: CollectionIndex) throws -> [UInt8] {
    guard let body = try body(row) else { return [] }
    // A unique index is one of paths into the document.
    return body.withUnsafeBytes {
      index.wholeKey(
        IndexedRecord(
          key: UnsafeRawBufferPointer(start: nil, count: 0), created: 0, modified: 0, document: $0))
    }
  }
}
