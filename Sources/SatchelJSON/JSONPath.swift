/// Where in a value: dot-separated keys ("cards.items"), or a JSON Pointer (RFC 6901) when it begins with "/".
/// The empty path is the whole value.
public struct JSONPath: Sendable {
  /// The keys, and for a pointer also the array indexes, from the outermost.
  public let components: [String]
  /// Whether it was given as a JSON Pointer: only these reach into arrays.
  public let isPointer: Bool

  /// Reads a path.
  ///
  /// - Throws: `JSONError` for an empty component of a dotted path, a "~" that escapes nothing, a NUL, and more
  ///   than 512 components.
  public init(_ text: String) throws {
    let bytes = text.utf8
    isPointer = bytes.first == UInt8(ascii: "/")
    // No key holds a NUL, and an edit must not make one: what it gives could not be read again.
    guard !bytes.contains(0) else { throw JSONError("a path with a NUL in it") }
    // Bytes, not characters: a combining mark may follow a separator.
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
      throw JSONError("a path of more than \(JSONValue.maximumDepth) components")
    }
  }

  /// Reads a JSON Pointer, which is empty or begins with "/".
  public init(pointer text: String) throws {
    guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else {
      throw JSONError("\"\(text)\" is no JSON Pointer: it does not begin with \"/\"")
    }
    try self.init(text)
  }

  private init(components: [String], isPointer: Bool) {
    self.components = components
    self.isPointer = isPointer
  }

  /// The path as JSON Pointer, whatever form it was given in.
  public var pointer: String { JSONPath.pointer(components) }

  /// The path without its last component; nil for the empty path.
  var parent: JSONPath? {
    components.isEmpty ? nil : JSONPath(components: components.dropLast(), isPointer: isPointer)
  }

  /// Whether it leads through `other`, or to it.
  func begins(with other: JSONPath) -> Bool {
    components.starts(with: other.components) { $0.hasSameBytes(as: $1) }
  }

  /// The JSON Pointer of components.
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

  /// An array index as RFC 6901 writes it: digits without a leading zero; nil for anything else.
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
      default: throw JSONError("the pointer \"\(text)\" has a \"~\" that is neither \"~0\" nor \"~1\"")
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
