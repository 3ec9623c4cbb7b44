import SatchelCore
import SatchelJSON
import SatchelStories

/// The passages of a game in one text, whichever form the game has: what the readers of its forms have in common.
///
/// In the text a passage is as in Twee 3: its header, a line break, and its body.
struct TweeSource {
  let bytes: TweeBytes
  let text: StoryText
  /// Each passage, from its "::" to its end.
  private(set) var passages: ContiguousArray<Range<Int>> = []
  /// The texts before the first passage of a file.
  private(set) var preludes: [Range<Int>] = []
  /// Where the text is in a page; nil for Twee, which is itself the text.
  private(set) var origins: StoryOrigins?

  /// Reads a game of any form.
  ///
  /// - Parameters:
  ///   - files: those that were joined, if there are several
  ///   - story: the number of the story in an archive
  /// - Throws: `SatchelError` `.invalid`, with line and column, when the text contains a NUL, is not UTF-8, or has no
  ///   passage
  init(_ source: UnsafeRawBufferPointer, files: [StoryTable.File], story: Int?) throws {
    guard source.count <= StoryText.maximumSize else {
      throw SatchelError(.invalid, "the story is larger than 2 GiB")
    }
    let file = TweeBytes(source: source)
    try file.checkText()
    if let page = try TwinePage(file, story: story) {
      bytes = TweeBytes(source: page.memory.bytes)
      text = StoryText(page.memory.bytes, owner: page.memory)
      (passages, origins) = (page.passages, page.origins)
    } else {
      (bytes, text) = (file, StoryText(source))
      var start = 0
      for end in files.dropFirst().map(\.start) + [source.count] {
        findPassages(from: start, to: end)
        start = end
      }
    }
    if passages.isEmpty { throw file.failure("it has no passage", at: 0) }
  }

  /// Finds the passages of one file.
  private mutating func findPassages(from start: Int, to end: Int) {
    // Skips a byte order mark.
    var line = start + (bytes[start] == 0xEF && bytes[start + 1] == 0xBB && bytes[start + 2] == 0xBF ? 3 : 0)
    let prelude = line
    var previous: Int?
    func add(before end: Int) {
      if let previous {
        passages.append(previous..<end)
      } else {
        let range = bytes.trimmed(bytes.range(prelude, end))
        if !range.isEmpty { preludes.append(range) }
      }
    }
    while line < end {
      if bytes[line] == UInt8(ascii: ":"), bytes[line + 1] == UInt8(ascii: ":"), line + 1 < end {
        add(before: line)
        previous = line
      }
      line = (bytes.find(0x0A, from: line, to: end) ?? end) + 1
    }
    add(before: end)
  }
}

/// Memory that is freed with its last reference.
// Unchecked: never written after init.
final class TweeMemory: @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer
  let bytes: UnsafeRawBufferPointer

  init(_ text: [UInt8]) {
    memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 16)
    memory.copyBytes(from: text)
    bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<text.count])
  }

  deinit { memory.deallocate() }
}
