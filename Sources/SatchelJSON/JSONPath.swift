/// The path of a value: dot-separated keys ("cards.items"), or a JSON Pointer (RFC 6901) when it begins with
/// "/". The empty path is the whole value.
public struct JSONPath: Sendable {
  /// The keys, and for a pointer also the array indexes, from the root.
  public let components: [String]
  /// Whether the path was given as a JSON Pointer; only pointers address array elements.
  public let isPointer: Bool

  /// Parses a path.
  ///
  /// - Throws: `JSONError` for an empty component of a dotted path, an invalid "~" escape, a NUL, or more
  ///   than 512 components
  public init(_ text: String) throws {
    let bytes = text.utf8
    isPointer = bytes.first == UInt8(ascii: "/")
    // A key with a NUL could not be parsed again, so an edit must not create one.
    guard !bytes.contains(0) else { throw JSONError("the path contains a NUL") }
    // The path is split by bytes, not by characters, because a combining mark may follow a separator.
    if bytes.isEmpty {
      components = []
    } else if isPointer {
      components = try bytes.dropFirst()
        .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .map { try JSONPath.unescape($0, of: text) }
    } else {
      components = try bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
        guard !$0.isEmpty else { throw JSONError("the path \"\(text)\" has an empty component") }
        return String(Substring($0))
      }
    }
    guard components.count <= JSONValue.maximumDepth else {
      throw JSONError("the path has more than \(JSONValue.maximumDepth) components")
    }
  }

  /// Parses a JSON Pointer, which is empty or begins with "/".
  public init(pointer text: String) throws {
    guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else {
      throw JSONError("\"\(text)\" is not a JSON Pointer: it does not begin with \"/\"")
    }
    try self.init(text)
  }

  private init(components: [String], isPointer: Bool) {
    self.components = components
    self.isPointer = isPointer
  }

  /// The path as a JSON Pointer.
  public var pointer: String { JSONPath.pointer(components) }

  /// The path without its last component; nil for the empty path.
  var parent: JSONPath? {
    components.isEmpty ? nil : JSONPath(components: components.dropLast(), isPointer: isPointer)
  }

  /// Whether `other` is a prefix of this path, or equal to it.
  func begins(with other: JSONPath) -> Bool {
    components.starts(with: other.components) { $0.hasSameBytes(as: $1) }
  }

  /// Returns the JSON Pointer of components.
  package static func pointer(_ components: some Sequence<String>) -> String {
    var bytes: [UInt8] = []
    for component in components {
      bytes.append(UInt8(ascii: "/"))
      for byte in component.utf8 {
        switch byte {
        case UInt8(ascii: "~"): bytes.append(contentsOf: "~0".utf8)
        case UInt8(ascii: "/"): bytes.append(contentsOf: "~1".utf8)
        default: bytes.append(byte)
        }
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Parses an array index of RFC 6901: digits without a leading zero; nil for anything else.
  static func arrayIndex(_ component: String) -> Int? {
    let bytes = component.utf8
    guard bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    guard bytes.first != UInt8(ascii: "0") || bytes.count == 1 else { return nil }
    return Int(component)
  }

  private static func unescape(_ bytes: Substring.UTF8View.SubSequence, of text: String) throws -> String {
    guard bytes.contains(UInt8(ascii: "~")) else { return String(Substring(bytes)) }
    var result: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "~") else {
        result.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "0"): result.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): result.append(UInt8(ascii: "/"))
      default: throw JSONError("the pointer \"\(text)\" contains a \"~\" that is neither \"~0\" nor \"~1\"")
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
