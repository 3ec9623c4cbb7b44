extension JSONValue {
  /// Appends the value as compact JSON: no white space, doubles in the shortest form that round-trips, and
  /// only the escapes that JSON requires.
  ///
  /// - Throws: `JSONError` with a pointer for NaN, infinity, or more than 512 levels; `bytes` is then
  ///   unchanged
  public func write(into bytes: inout [UInt8]) throws {
    let start = bytes.count
    var path: [String] = []
    do {
      try write(into: &bytes, level: 1, path: &path)
    } catch var error as JSONError {
      bytes.removeSubrange(start...)
      // Each level has appended its component while the error passed through it.
      error.pointer = JSONPath.pointer(path.reversed())
      throw error
    }
  }

  /// The value as compact JSON in UTF-8; errors as for `write(into:)`.
  public func serialized() throws -> [UInt8] {
    var bytes: [UInt8] = []
    try write(into: &bytes)
    return bytes
  }

  /// The value as compact JSON; errors as for `write(into:)`.
  public var text: String {
    get throws { String(decoding: try serialized(), as: UTF8.self) }
  }

  private func write(into bytes: inout [UInt8], level: Int, path: inout [String]) throws {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .int(let value): bytes.append(contentsOf: String(value).utf8)
    case .double(let value):
      guard value.isFinite else { throw JSONError("\(value) cannot be represented in JSON") }
      bytes.append(contentsOf: value.description.utf8)
    case .bigNumber(let value): bytes.append(contentsOf: value.text.utf8)
    case .string(let value): JSONValue.write(value, into: &bytes)
    case .array(let elements):
      guard level <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
      bytes.append(UInt8(ascii: "["))
      for (position, element) in elements.enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        do {
          try element.write(into: &bytes, level: level + 1, path: &path)
        } catch {
          path.append(String(position))
          throw error
        }
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      guard level <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
      bytes.append(UInt8(ascii: "{"))
      for (position, member) in object.members.enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        JSONValue.write(member.key, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
        do {
          try member.value.write(into: &bytes, level: level + 1, path: &path)
        } catch {
          path.append(member.key)
          throw error
        }
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Appends a JSON string, with quotes and escapes.
  package static func write(_ text: String, into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { source in
      var run = source.startIndex
      for position in source.indices {
        let byte = source[position]
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
        bytes.append(contentsOf: source[run..<position])
        bytes.append(contentsOf: escape(byte).utf8)
        run = position + 1
      }
      bytes.append(contentsOf: source[run...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\""): return "\\\""
    case UInt8(ascii: "\\"): return "\\\\"
    case 0x08: return "\\b"
    case 0x09: return "\\t"
    case 0x0A: return "\\n"
    case 0x0C: return "\\f"
    case 0x0D: return "\\r"
    default:
      let digits = String(byte, radix: 16)
      return "\\u00" + (digits.utf8.count == 1 ? "0" : "") + digits
    }
  }
}
