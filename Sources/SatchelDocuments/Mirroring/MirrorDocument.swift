import SatchelJSON

/// Writes documents into a mirror without white space, so that each record is one line.
struct MirrorDocument: JSONSink {
  private var level = 0
  private var deepest = 0
  private var isObject = false

  /// Appends a document without its white space; numbers and strings keep their bytes.
  ///
  /// - Parameter maximumDepth: the maximum number of levels
  static func append(
    _ document: [UInt8], to text: inout [UInt8], maximumDepth: Int
  ) throws(JSONError) {
    var sink = MirrorDocument()
    let outcome = document.withUnsafeBytes { bytes in
      Result { () throws(JSONError) in try JSONScanner.scan(bytes, into: &sink) }
    }
    try outcome.get()
    guard sink.isObject else { throw JSONError("the document is not an object") }
    guard sink.deepest <= maximumDepth else {
      throw JSONError(
        "a document in a mirror has at most \(maximumDepth) levels", limit: maximumDepth)
    }
    var isText = false
    var isEscaped = false
    for byte in document {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
      } else if byte == UInt8(ascii: "\"") {
        isText = true
      } else if byte <= UInt8(ascii: " ") {
        continue
      }
      text.append(byte)
    }
  }

  mutating func begin(_ kind: JSONKind, at start: Int) {
    if level == 0 { isObject = kind == .object }
    level += 1
    deepest = max(deepest, level)
  }

  mutating func end(_ kind: JSONKind, at end: Int) { level -= 1 }

  mutating func key(_ slice: JSONSlice, isEscaped: Bool) {}

  mutating func scalar(_ kind: JSONKind, _ slice: JSONSlice, isEscaped: Bool) {}
}
