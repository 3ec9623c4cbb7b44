import SatchelJSON
import SatchelStorage

/// Fills a `StoryTable` from Twee 3.
struct TweeReader {
  static func read(_ source: UnsafeRawBufferPointer) throws -> StoryTable {
    throw SatchelError(.invalid, "Twee")
  }
}
