import SatchelCore
import SatchelJSON

/// The values that a query selects of each document: objects lead to them as in the document.
final class Projection: Sendable {
  private struct Node: Sendable {
    /// As a JSON string.
    var name: [UInt8]
    var key: String
    /// Where the whole value is selected.
    var path: DocumentPath?
    var children: [Node] = []
  }

  private let root: Node

  /// - Throws: `.invalid` for an invalid path, and for one of a field of the record
  init(_ paths: [String]) throws {
    var root = Node(name: [], key: "")
    for text in paths {
      let field = try FieldPath(text)
      guard case .document(let path) = field else {
        throw SatchelError(
          .invalid,
          "query: /select: \"\(text)\": "
            + (field.isOfRecord ? "every record has this field" : "select the path of the value itself"))
      }
      guard !path.hasIndex || !path.reachesArrays else {
        throw SatchelError(.invalid, "query: /select: \"\(text)\" is in an array: select the array")
      }
      try Self.add(path, path.path.components[...], to: &root)
    }
    self.root = root
  }

  private static func add(
    _ path: DocumentPath, _ components: ArraySlice<String>, to node: inout Node
  ) throws {
    guard let first = components.first else { return node.path = node.path ?? path }
    let position = node.children.firstIndex { $0.key.hasSameBytes(as: first) } ?? node.children.count
    if position == node.children.count {
      node.children.append(Node(name: try JSONValue.string(first).serialized(), key: first))
    }
    try add(path, components.dropFirst(), to: &node.children[position])
  }

  /// Every path that is selected.
  func eachPath(_ body: (DocumentPath) throws -> Void) rethrows { try Self.each(root, body) }

  private static func each(_ node: Node, _ body: (DocumentPath) throws -> Void) rethrows {
    if let path = node.path { try body(path) }
    for child in node.children { try each(child, body) }
  }

  /// Returns the document with the selected values only; {} when it has none of them.
  func apply(to document: UnsafeRawBufferPointer) -> [UInt8] {
    var bytes: [UInt8] = []
    if !Self.write(root, DocumentReader(document), into: &bytes) { bytes = Array("{}".utf8) }
    return bytes
  }

  private static func write(_ node: Node, _ document: DocumentReader, into bytes: inout [UInt8]) -> Bool {
    if let path = node.path {
      guard let found = document.find(path) else { return false }
      bytes.append(contentsOf: document.bytes[found.rawRange])
      return true
    }
    let start = bytes.count
    bytes.append(UInt8(ascii: "{"))
    for child in node.children {
      let position = bytes.count
      if position > start + 1 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: child.name)
      bytes.append(UInt8(ascii: ":"))
      if !write(child, document, into: &bytes) { bytes.removeSubrange(position...) }
    }
    guard bytes.count > start + 1 else {
      bytes.removeSubrange(start...)
      return false
    }
    bytes.append(UInt8(ascii: "}"))
    return true
  }
}
