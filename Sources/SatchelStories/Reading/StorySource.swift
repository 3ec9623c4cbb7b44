/// A format of stories: which files have it, and how it is read. Another module can add one, as SatchelTwee does.
public struct StorySource: Sendable {
  /// The endings of the names of its files.
  package let extensions: [String]
  /// Reads a text without a byte-order mark.
  package let read: @Sendable (UnsafeRawBufferPointer) throws -> StoryTable

  package init(
    extensions: [String], read: @escaping @Sendable (UnsafeRawBufferPointer) throws -> StoryTable
  ) {
    (self.extensions, self.read) = (extensions, read)
  }

  /// The story format of this library.
  public static let json = StorySource(extensions: [".json"], read: StoryReader.read)

  /// Whether a file has this format, by its name.
  package func isFormat(of name: String) -> Bool {
    name.utf8.first != UInt8(ascii: ".") && extensions.contains { name.hasSuffix($0) }
  }

  /// Parses a text. A byte-order mark is accepted, and noted; offsets count from the byte after it.
  package func table(of text: UnsafeRawBufferPointer) throws -> StoryTable {
    let body = Self.withoutByteOrderMark(text)
    var table = try read(body)
    if body.count < text.count { table.noteByteOrderMark(at: 0) }
    return table
  }

  /// Returns a text without the byte-order mark (U+FEFF) that it may start with.
  static func withoutByteOrderMark(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    text.starts(with: byteOrderMark) ? UnsafeRawBufferPointer(rebasing: text.dropFirst(3)) : text
  }

  package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
}
