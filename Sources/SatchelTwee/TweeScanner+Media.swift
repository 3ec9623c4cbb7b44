/// Finds the pictures, sounds and films that a passage displays.
extension TweeScanner {
  private static let elements: [StaticString] = ["img", "audio", "video", "source", "track"]

  /// Whether a tag displays a file.
  func hasFile(_ tag: Int) -> Bool {
    var index = tag + 1
    while index < end, TweeBytes.isLetter(bytes[index]) { index += 1 }
    return Self.elements.contains { isEqual(tag + 1..<index, $0) }
  }

  /// Adds the files that an HTML tag names in `src` and `poster`.
  ///
  /// - Parameter tag: from its "<" to after its ">"
  mutating func addFiles(of tag: Range<Int>) {
    var index = tag.lowerBound + 1
    while index < tag.upperBound, TweeBytes.isLetter(bytes[index]) { index += 1 }
    let name = (tag.lowerBound + 1)..<index
    guard Self.elements.contains(where: { isEqual(name, $0) }), index < tag.upperBound,
      TweeBytes.isSpace(bytes[index])
    else { return }
    let end = tag.upperBound - 1
    while index < end {
      index = bytes.skipSpace(from: index, to: end)
      let start = index
      while index < end, bytes[index] != UInt8(ascii: "="), !TweeBytes.isSpace(bytes[index]) { index += 1 }
      let attribute = start..<index
      index = bytes.skipSpace(from: index, to: end)
      guard index < end, bytes[index] == UInt8(ascii: "=") else { continue }
      index = bytes.skipSpace(from: index + 1, to: end)
      var value = index..<index
      if let text = quoted(at: index, to: end), bytes[index] != UInt8(ascii: "`") {
        (value, index) = (text.text, text.end)
      } else {
        while index < end, !TweeBytes.isSpace(bytes[index]) { index += 1 }
        value = value.lowerBound..<index
      }
      if isEqual(attribute, "src") || isEqual(attribute, "poster") { addFile(value) }
    }
  }

  /// Adds the file of SugarCube's `[img[path]]`, whose path may follow a title and "|".
  mutating func addImage(_ content: Range<Int>) {
    let bar = bytes.raw(content).lastIndex(of: UInt8(ascii: "|")).map { content.lowerBound + $0 + 1 }
    addFile(bytes.trimmed(bytes.range(bar ?? content.lowerBound, content.upperBound)))
  }

  /// Adds a file, unless its path is known only when the story is played, or names a passage with a picture.
  private mutating func addFile(_ path: Range<Int>) {
    let dynamic = "$<{`&\"'()\n".utf8
    guard !path.isEmpty, bytes[path.lowerBound] != UInt8(ascii: "_"),
      !bytes.raw(path).contains(where: { dynamic.contains($0) }), !names.contains(bytes.raw(path))
    else { return }
    files.append(path)
  }

  private func isEqual(_ range: Range<Int>, _ name: StaticString) -> Bool {
    range.count == name.utf8CodeUnitCount && bytes.matches(name, at: range.lowerBound, to: range.upperBound)
  }
}
