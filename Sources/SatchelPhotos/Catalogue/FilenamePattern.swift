/// A pattern of file names, as `PhotoQuery.filename` has it.
struct FilenamePattern {
  private enum Part {
    case byte(UInt8)
    case one
    case many
  }

  private var parts: [Part] = []

  init(_ text: String) {
    var isEscaped = false
    for byte in text.utf8 {
      switch byte {
      case _ where isEscaped:
        parts.append(.byte(byte))
        isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = true
      case UInt8(ascii: "?"): parts.append(.one)
      case UInt8(ascii: "*"):
        // Several say no more than one, and would take time.
        if case .many = parts.last { break }
        parts.append(.many)
      default: parts.append(.byte(byte))
      }
    }
    if isEscaped { parts.append(.byte(UInt8(ascii: "\\"))) }
  }

  /// Whether a name fits. Time: at most the product of both lengths.
  func fits(_ name: UnsafeRawBufferPointer) -> Bool {
    var (place, part) = (0, 0)
    // Where to go on when what followed the latest "*" does not fit: it then takes one byte more.
    var star: (place: Int, part: Int)?
    while place < name.count {
      if part < parts.count {
        switch parts[part] {
        case .many:
          star = (place, part + 1)
          part += 1
          continue
        case .one:
          place = FilenamePattern.end(of: name, at: place)
          part += 1
          continue
        case .byte(name[place]):
          place += 1
          part += 1
          continue
        case .byte: break
        }
      }
      guard let from = star else { return false }
      star = (from.place + 1, from.part)
      (place, part) = (from.place + 1, from.part)
    }
    return parts[min(part, parts.count)...].allSatisfy { if case .many = $0 { true } else { false } }
  }

  /// Behind the UTF-8 character at a place.
  private static func end(of name: UnsafeRawBufferPointer, at start: Int) -> Int {
    var place = start + 1
    while place < name.count, name[place] & 0xC0 == 0x80 { place += 1 }
    return place
  }
}
