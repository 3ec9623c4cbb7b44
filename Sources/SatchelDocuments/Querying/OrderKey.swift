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
    switch value {
    case .string(let text): append(text, to: &bytes)
    case .ownedString(let text): text.withUnsafeBytes { append($0, to: &bytes) }
    case .bigNumber(let number): ValueKey.appendWhole(number, to: &bytes)
    default: ValueKey.append(value, to: &bytes)
    }
    if descending { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
    guard let hasNullsLast else { return }
    let isNull: Bool
    switch value {
    case .missing, .null: isNull = true
    default: isNull = false
    }
    bytes.insert(isNull == hasNullsLast ? 1 : 0, at: start)
  }

  /// Appends a whole string, with a terminator that sorts before everything that may follow.
  private static func append(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    bytes.append(ValueKey.string)
    for byte in text {
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
    bytes.append(0)
    bytes.append(0)
  }
}

extension RecordTable {
  /// Returns the key of a record's whole value in a unique index, by which values are compared whose key in an index does
  /// not identify them.
  func wholeKey(_ row: Int64, _ index: CollectionIndex) throws -> [UInt8] {
    // A unique index is one of a path into the document.
    guard case .document(let path) = index.path, let body = try body(row) else { return [] }
    var key: [UInt8] = []
    body.withUnsafeBytes { OrderKey.append(DocumentReader($0).field(path), descending: false, to: &key) }
    return key
  }
}
