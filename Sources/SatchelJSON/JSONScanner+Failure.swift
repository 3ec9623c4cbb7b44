extension JSONScanner {
  /// Creates an error with the scanner's location: line, column, and the pointer of the innermost value that
  /// has begun.
  ///
  /// - Parameter key: the key of the member that the error is about, when it is not the innermost object's
  ///   last one
  @inline(never)
  func failure(_ reason: String, at offset: Int? = nil, key: JSONSlice? = nil) -> JSONError {
    let bytes = UnsafeRawBufferPointer(start: base, count: count)
    return JSONError(
      reason, pointer: pointer(key: key), position: JSONPosition(offset: offset ?? position, in: bytes))
  }

  private func pointer(key: JSONSlice?) -> String {
    var result = ""
    let frames = outerFrames.isEmpty ? [] : Array(outerFrames.dropFirst()) + [frame]
    for (index, frame) in frames.enumerated() where frame.members > 0 {
      if frame.kind == .array {
        result += "/\(frame.members - 1)"
        continue
      }
      let isInnermost = index + 1 == frames.count
      let end = isInnermost ? keys.count : frames[index + 1].firstKey
      // An error inside a key is about its object, because the key is incomplete.
      guard end - frame.firstKey >= frame.members, let last = keys.last(before: end) else { continue }
      result += "/" + JSONPointer.escaped(keys.text(isInnermost ? key ?? last : last))
    }
    return result
  }

  func printable(_ byte: UInt8) -> String {
    (0x21..<0x7F).contains(byte) ? "\"\(UnicodeScalar(byte))\"" : "byte 0x\(String(byte, radix: 16))"
  }
}

extension JSONPosition {
  /// Computes the line and column of a byte offset.
  package init(offset: Int, in bytes: UnsafeRawBufferPointer) {
    let offset = min(max(offset, 0), bytes.count)
    var line = 1
    var lineStart = 0
    for index in 0..<offset where bytes[index] == UInt8(ascii: "\n") {
      line += 1
      lineStart = index + 1
    }
    self.init(offset: offset, line: line, column: offset - lineStart + 1)
  }
}

/// JSON Pointer escaping (RFC 6901).
package enum JSONPointer {
  /// Escapes a key as a reference token: "~" becomes "~0", "/" becomes "~1".
  package static func escaped(_ key: String) -> String {
    var result = ""
    for scalar in key.unicodeScalars {
      switch scalar {
      case "~": result += "~0"
      case "/": result += "~1"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
