import CScan
import SatchelJSON

/// The references to assets of the store that stories have: `{"_asset": {"sha256": …, "size": …, "type": …, "url": …}}`.
package enum StoryAssets {
  /// A reference, as it is in the story.
  package struct Reference: Equatable, Sendable {
    /// The JSON Pointer of the object that has the member `_asset`.
    package var pointer: String
    /// The value of the member.
    package var asset: JSONValue
  }

  /// Returns all references of a story, also those in members that are the app's, in the order of the text. One in Twee
  /// has none.
  package static func references(in story: Story) throws -> [Reference] {
    story.analysis.table.isImported ? [] : try story.withText { try references(in: $0) }
  }

  /// Returns all references of a story's text.
  ///
  /// - Parameter text: JSON that was scanned, without a byte-order mark
  package static func references(in text: UnsafeRawBufferPointer) throws -> [Reference] {
    func contains(_ part: StaticString) -> Bool {
      satchel_contains(text.baseAddress, text.count, part.utf8Start, part.utf8CodeUnitCount)
    }
    // A key may be written with escapes.
    guard contains("_asset\"") || contains("\\u00") else { return [] }
    var walk = Walk(tape: try JSONTape(text))
    try walk.visit(walk.tape.root)
    return walk.found
  }

  /// Whether a value is a reference: it names a content, or the address of one.
  static func isReference(_ value: Int, in tape: JSONTape) -> Bool {
    guard let asset = tape.member("_asset", of: value), tape[asset].kind == .object else { return false }
    let (hash, url) = (tape.member("sha256", of: asset), tape.member("url", of: asset))
    if let url, tape[url].kind != .string { return false }
    guard let hash else { return url != nil }
    let digits = Array(tape.text(hash).utf8)
    return tape[hash].kind == .string && digits.count == 64
      && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  private struct Walk {
    let tape: JSONTape
    var found: [Reference] = []
    /// The keys and indices of the values that contain the current one: pointers are made only of what is found.
    private var path: [(token: Int, index: Int)] = []

    init(tape: JSONTape) { self.tape = tape }

    /// The scanner has limited the depth.
    mutating func visit(_ value: Int) throws {
      let isObject = tape[value].kind == .object
      for (index, child) in tape.children(of: value).enumerated() {
        let isContainer = tape[child].kind == .object || tape[child].kind == .array
        guard isContainer else { continue }
        if isObject, tape[child].kind == .object, tape.keyEquals(child, "_asset") {
          found.append(Reference(pointer: pointer, asset: try tape.value(child)))
        }
        path.append((isObject ? child - 1 : -1, index))
        try visit(child)
        path.removeLast()
      }
    }

    private var pointer: String {
      path.reduce(into: "") { pointer, part in
        pointer += "/" + (part.token < 0 ? "\(part.index)" : JSONPointer.escaped(tape.text(part.token)))
      }
    }
  }
}
