/// Where the bytes of a text are in the file that it was extracted from, such as a page with entities.
package struct StoryOrigins {
  /// The file, which is borrowed.
  package let source: UnsafeRawBufferPointer
  /// The offsets at which a run of copied bytes starts, in the text and in the file, in ascending order.
  private var runs: ContiguousArray<(text: UInt32, file: UInt32)> = []

  package init(_ source: UnsafeRawBufferPointer) { self.source = source }

  /// Adds a run of bytes.
  package mutating func append(text: Int, file: Int) {
    runs.append((UInt32(truncatingIfNeeded: text), UInt32(truncatingIfNeeded: file)))
  }

  /// Returns the offset in the file, by binary search.
  package func origin(of offset: Int) -> Int {
    var (low, high) = (0, runs.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(runs[middle].text) <= offset { low = middle } else { high = middle }
    }
    guard low < runs.count else { return 0 }
    let origin = Int(runs[low].file) + max(0, offset - Int(runs[low].text))
    // Text that is not in the file, such as a header, is before the next run.
    return min(origin, low + 1 < runs.count ? Int(runs[low + 1].file) : source.count)
  }
}
