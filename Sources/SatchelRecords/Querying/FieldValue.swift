import SatchelJSON

/// What stands at a path, lent from the record's bytes.
enum FieldValue {
  case missing
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  /// UTF-8, escapes resolved.
  case string(UnsafeRawBufferPointer)
  /// A string with escapes, resolved.
  case ownedString([UInt8])
  case array(DocumentReader.Place)
  case object(DocumentReader.Place)
}

extension DocumentReader {
  /// What stands at a path.
  func field(_ path: DocumentPath) -> FieldValue {
    guard let place = find(path) else { return .missing }
    return field(place)
  }

  func field(_ place: Place) -> FieldValue {
    switch place.kind {
    case .null: return .null
    case .bool: return .bool(bytes[place.start] == UInt8(ascii: "t"))
    case .integer: return integer(place)
    case .double: return .double(Double(text(place)) ?? 0)
    case .string: return place.isEscaped ? .ownedString(Array(text(place).utf8)) : .string(slice(place))
    case .array: return .array(place)
    case .object: return .object(place)
    }
  }

  private func integer(_ place: Place) -> FieldValue {
    let digits = slice(place)
    let isNegative = digits.first == UInt8(ascii: "-")
    // Up to 18 digits cannot overflow.
    guard digits.count <= 18 else { return .int(Int64(text(place)) ?? 0) }
    var value: Int64 = 0
    for digit in digits.dropFirst(isNegative ? 1 : 0) {
      value = value &* 10 &+ Int64(digit &- UInt8(ascii: "0"))
    }
    return .int(isNegative ? 0 &- value : value)
  }
}
