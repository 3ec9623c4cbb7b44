/// Something unusual about a document that was written as it is.
public struct DocumentWarning: Equatable, Sendable {
  /// The JSON Pointer of the value in the document.
  public var pointer: String
  public var reason: String

  public var json: JSONValue { ["pointer": .string(pointer), "reason": .string(reason)] }
}

/// The strings of a document that are so large that they should be assets.
package enum LargeStrings {
  /// The maximum number of bytes, as JSON text, of a string that gives no warning.
  package static let max = 1 << 20

  /// Returns a warning for each string of a value that is larger.
  ///
  /// Descends only into arrays and objects that are larger themselves.
  ///
  /// - Parameter pointer: of the value
  package static func warnings(
    in tape: JSONTape, at index: Int, pointer: String = ""
  ) -> [DocumentWarning] {
    var found: [DocumentWarning] = []
    find(in: tape, at: index, pointer, &found)
    return found
  }

  /// Returns the warnings of JSON text.
  package static func warnings(in text: UnsafeRawBufferPointer) -> [DocumentWarning] {
    guard text.count > max, let tape = try? JSONTape(text) else { return [] }
    return warnings(in: tape, at: tape.root)
  }

  private static func find(
    in tape: JSONTape, at index: Int, _ pointer: String, _ found: inout [DocumentWarning]
  ) {
    let token = tape[index]
    let size = Int(token.end &- token.start)
    guard size > max else { return }
    switch token.kind {
    case .string:
      found.append(
        DocumentWarning(
          pointer: pointer,
          reason: "a string of \(size) bytes; put such content as an asset, and refer to it"))
    case .array, .object:
      var position = 0
      for child in tape.children(of: index) {
        defer { position += 1 }
        guard Int(tape[child].end &- tape[child].start) > max else { continue }
        let step = token.kind == .array ? "\(position)" : JSONPointer.escaped(tape.text(child - 1))
        find(in: tape, at: child, "\(pointer)/\(step)", &found)
      }
    default: break
    }
  }
}
