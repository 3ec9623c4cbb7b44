import SatchelCore

/// A pattern of file names, in the syntax of `PhotoQuery.filename`. Names and patterns are compared in NFC, because some
/// systems store names in NFD (Unicode, UAX #15).
struct FilenamePattern {
  private enum Part {
    case byte(UInt8)
    case one
    case many
  }

  private var parts: [Part] = []

  init(_ text: String) {
    var isEscaped = false
    for byte in NormalForm.composed(text).utf8 {
      switch byte {
      case _ where isEscaped:
        parts.append(.byte(byte))
        isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = true
      case UInt8(ascii: "?"): parts.append(.one)
      case UInt8(ascii: "*"):
        // Consecutive "*" are equivalent to one, but take more time.
        if case .many = parts.last { break }
        parts.append(.many)
      default: parts.append(.byte(byte))
      }
    }
    if isEscaped { parts.append(.byte(UInt8(ascii: "\\"))) }
  }

  /// Whether a name matches. Time: at most the product of both lengths.
  func matches(_ name: UnsafeRawBufferPointer) -> Bool {
    // From U+0300 on, a name may have another form.
    guard name.contains(where: { $0 >= 0xCC }) else { return matches(composed: name) }
    let composed = Array(NormalForm.composed(String(decoding: name, as: UTF8.self)).utf8)
    return composed.withUnsafeBytes { matches(composed: $0) }
  }

  private func matches(composed name: UnsafeRawBufferPointer) -> Bool {
    var (position, part) = (0, 0)
    // Where to backtrack to when what follows the latest "*" does not match: it then matches one byte more.
    var star: (position: Int, part: Int)?
    while position < name.count {
      if part < parts.count {
        switch parts[part] {
        case .many:
          star = (position, part + 1)
          part += 1
          continue
        case .one:
          position = FilenamePattern.end(of: name, at: position)
          part += 1
          continue
        case .byte(name[position]):
          position += 1
          part += 1
          continue
        case .byte: break
        }
      }
      guard let from = star else { return false }
      star = (from.position + 1, from.part)
      (position, part) = (from.position + 1, from.part)
    }
    return parts[min(part, parts.count)...].allSatisfy { if case .many = $0 { true } else { false } }
  }

  /// Returns the index after the UTF-8 character at an index.
  private static func end(of name: UnsafeRawBufferPointer, at start: Int) -> Int {
    var position = start + 1
    while position < name.count, name[position] & 0xC0 == 0x80 { position += 1 }
    return position
  }
}
