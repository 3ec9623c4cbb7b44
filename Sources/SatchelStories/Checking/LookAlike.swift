import SatchelCore

/// Compares names as they look: without differences of normal form, case of ASCII, quotes, dashes, space and invisible
/// characters, and with entities of HTML as what they stand for.
enum LookAlike {
  private static let entities: [(name: StaticString, text: StaticString)] = [
    ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"),
    ("&#039;", "'"), ("&#x27;", "'"), ("&nbsp;", " "),
  ]

  /// Returns, for each missing id that looks like an existing one, the first segment that has this.
  static func segments(for missing: [[UInt8]], in analysis: StoryAnalysis) -> [[UInt8]: Int] {
    let keys = missing.map { $0.withUnsafeBytes { key($0) } }
    var found: [[UInt8]: Int] = [:]
    for key in keys { found[key] = -1 }
    for segment in analysis.table.segments.indices {
      let key = key(analysis.table.text.bytes(analysis.table.segments[segment].id))
      if found[key] == -1 { found[key] = segment }
    }
    var result: [[UInt8]: Int] = [:]
    for (name, key) in zip(missing, keys) {
      if let segment = found[key], segment >= 0, !key.isEmpty { result[name] = segment }
    }
    return result
  }

  /// Returns what names that look equal have in common.
  static func key(_ name: UnsafeRawBufferPointer) -> [UInt8] {
    var folded: [UInt8] = []
    TextFold([]).folded(name, into: &folded)
    for index in folded.indices where folded[index] &- 0x41 < 26 { folded[index] |= 0x20 }
    guard
      folded.contains(where: {
        $0 >= 0x80 || $0 <= 0x20 || $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "`")
      })
    else { return folded }
    var key: [UInt8] = []
    for scalar in String(decoding: withoutEntities(folded), as: UTF8.self).unicodeScalars {
      switch scalar.value {
      case 0x2018...0x201B, 0x2032, 0x60, 0xB4, 0x2BC: key.append(UInt8(ascii: "'"))
      case 0x201C...0x201F, 0x2033, 0xAB, 0xBB: key.append(UInt8(ascii: "\""))
      case 0x2010...0x2015, 0x2212: key.append(UInt8(ascii: "-"))
      case 0x2026: key += [UInt8](repeating: UInt8(ascii: "."), count: 3)
      case 0x09...0x0D, 0x20, 0xA0, 0x2000...0x200A, 0x202F, 0x205F, 0x3000:
        if let last = key.last, last != 0x20 { key.append(0x20) }
      case 0xAD, 0x200B...0x200F, 0x2060...0x2064, 0xFE00...0xFE0F, 0xFEFF: break
      default: key.append(contentsOf: String(Character(scalar)).utf8)
      }
    }
    if key.last == 0x20 { key.removeLast() }
    return key
  }

  private static func withoutEntities(_ text: [UInt8]) -> [UInt8] {
    guard text.contains(UInt8(ascii: "&")) else { return text }
    var result: [UInt8] = []
    var rest = text[...]
    while let byte = rest.first {
      let entity = byte == UInt8(ascii: "&") ? entities.first { rest.starts(with: bytes($0.name)) } : nil
      result += entity.map { Array(bytes($0.text)) } ?? [byte]
      rest = rest.dropFirst(entity?.name.utf8CodeUnitCount ?? 1)
    }
    return result
  }

  private static func bytes(_ text: StaticString) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }
}
