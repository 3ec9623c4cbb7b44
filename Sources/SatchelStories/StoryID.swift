/// Names of stories. An id is a name, never a path.
enum StoryID {
  /// Whether an id can name a story: not empty, at most 200 bytes, no separator of paths, no control character,
  /// and no leading dot.
  static func isName(_ id: String) -> Bool {
    guard !id.isEmpty, id.utf8.count <= 200, id.utf8.first != UInt8(ascii: ".") else { return false }
    return id.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "/" && $0 != "\\" }
  }
}
