import CJansson

/// Parses JSON texts with Jansson.
enum JSONParser {
  /// Jansson seeds its hash tables when it creates the first object, which is not thread-safe.
  private static let seeded: Void = json_object_seed(0)

  /// Parses a text; by its tape where it has a number that Jansson cannot represent. The errors are those of
  /// the scanner, with pointer and position, wherever it refuses the text, too.
  static func parse(_ bytes: UnsafeRawBufferPointer) throws -> JSONValue {
    do {
      return try parseUnexplained(bytes)
    } catch {
      try JSONScanner.check(bytes)
      throw error
    }
  }

  private static func parseUnexplained(_ bytes: UnsafeRawBufferPointer) throws -> JSONValue {
    guard let base = bytes.baseAddress, !bytes.isEmpty else {
      throw JSONError("the text is empty", position: JSONPosition(offset: 0, line: 1, column: 1))
    }
    try checkShape(bytes)
    _ = seeded
    var error = json_error_t()
    let flags = Int(JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL)
    let text = base.assumingMemoryBound(to: CChar.self)
    guard let root = json_loadb(text, bytes.count, flags, &error) else {
      guard json_error_code(&error) == json_error_numeric_overflow else { throw failure(error, in: bytes) }
      let tape = try JSONTape(bytes)
      return try value(tape.root, in: tape)
    }
    defer { json_decref(root) }
    return value(root)
  }

  /// Checks the depth before parsing, so that neither Jansson's recursion nor this parser's exceeds the
  /// limit; and rejects a NUL outside of strings, which Jansson accepts after a number or a literal.
  private static func checkShape(_ bytes: UnsafeRawBufferPointer) throws {
    var depth = 0
    var offset = 0
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        if depth > JSONValue.maximumDepth {
          var error = JSONError.tooDeep
          error.position = position(of: offset, in: bytes)
          throw error
        }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case 0: throw JSONError("NUL outside of a string", position: position(of: offset, in: bytes))
      case UInt8(ascii: "\""):
        offset += 1
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
          offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
      default: break
      }
      offset += 1
    }
  }

  /// Converts a value. It recurses at most 512 levels, because the depth was checked.
  private static func value(_ node: UnsafeMutablePointer<json_t>) -> JSONValue {
    switch node.pointee.type {
    case JSON_OBJECT: return .object(object(node))
    case JSON_ARRAY:
      let count = json_array_size(node)
      var elements: [JSONValue] = []
      elements.reserveCapacity(count)
      for position in 0..<count {
        if let element = json_array_get(node, position) { elements.append(value(element)) }
      }
      return .array(elements)
    case JSON_STRING:
      guard let start = json_string_value(node) else { return .string("") }
      return .string(string(start, json_string_length(node)))
    case JSON_INTEGER: return .int(Int64(json_integer_value(node)))
    case JSON_REAL: return .double(json_real_value(node))
    case JSON_TRUE: return .bool(true)
    case JSON_FALSE: return .bool(false)
    default: return .null
    }
  }

  private static func object(_ node: UnsafeMutablePointer<json_t>) -> JSONObject {
    var members: [(key: String, value: JSONValue)] = []
    members.reserveCapacity(json_object_size(node))
    var iterator = json_object_iter(node)
    while let member = iterator {
      if let key = json_object_iter_key(member), let child = json_object_iter_value(member) {
        members.append((String(cString: key), value(child)))
      }
      iterator = json_object_iter_next(node, member)
    }
    return JSONObject(distinct: members)
  }

  /// Builds a value of a tape. It recurses at most 512 levels, because the scanner limits the depth.
  private static func value(_ index: Int, in tape: JSONTape) throws -> JSONValue {
    switch tape[index].kind {
    case .object:
      let members = try tape.children(of: index).map { (tape.text($0 - 1), try value($0, in: tape)) }
      return .object(JSONObject(distinct: members))
    case .array: return .array(try tape.children(of: index).map { try value($0, in: tape) })
    case .bigNumber: return .bigNumber(JSONBigNumber(scanned: tape.text(index)))
    default: return try tape.value(index)
    }
  }

  private static func string(_ start: UnsafePointer<CChar>, _ count: Int) -> String {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Converts Jansson's error, whose position is the end of the bytes that were read.
  private static func failure(_ error: json_error_t, in bytes: UnsafeRawBufferPointer) -> JSONError {
    let reason = withUnsafeBytes(of: error.text) { text in
      String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }
    let offset = min(max(Int(error.position), 0), bytes.count)
    var location = position(of: max(offset - 1, 0), in: bytes)
    location.offset = offset
    return JSONError(reason.isEmpty ? "not JSON" : reason, position: location)
  }

  private static func position(of offset: Int, in bytes: UnsafeRawBufferPointer) -> JSONPosition {
    var position = JSONPosition(offset: offset, line: 1, column: 1)
    for byte in bytes.prefix(offset) {
      if byte == UInt8(ascii: "\n") {
        position.line += 1
        position.column = 1
      } else {
        position.column += 1
      }
    }
    return position
  }
}

extension JSONError {
  /// The error for values that exceed the maximum depth.
  static var tooDeep: JSONError {
    JSONError("more than \(JSONValue.maximumDepth) levels", limit: JSONValue.maximumDepth)
  }
}

extension JSONValue {
  /// Parses a JSON text: UTF-8 without a byte-order mark, with one value of any kind, optionally surrounded
  /// by white space. A number too small for a double becomes 0.0.
  ///
  /// - Throws: `JSONError` with the position, for text that is not JSON, more than 512 levels, a duplicate
  ///   key, an invalid or lone surrogate, a NUL in a key, or an exponent beyond Int64
  public init(parsing bytes: UnsafeRawBufferPointer) throws {
    self = try JSONParser.parse(bytes)
  }

  /// Parses a JSON text; see `init(parsing:)` for bytes.
  public init(parsing text: String) throws {
    var text = text
    self = try text.withUTF8 { try JSONParser.parse(UnsafeRawBufferPointer($0)) }
  }

  /// Parses a JSON text; see `init(parsing:)` for bytes.
  public init(parsing bytes: [UInt8]) throws {
    self = try bytes.withUnsafeBytes { try JSONParser.parse($0) }
  }
}
