import Dispatch
import Satchel
import Synchronization

/// Work on many elements by all cores, with the results in the order of the elements.
enum InOrder {
  /// Elements whose results are held at a time.
  private static let window = 64

  /// Transforms elements side by side, and hands on the results one after the other.
  ///
  /// - Parameters:
  ///   - progress: told of each result before it is handed on; cleared at the end
  ///   - work: runs on any thread; of its results at most 64 are held at a time
  ///   - body: runs on the caller's thread; before it writes to a terminal it clears the progress
  static func each<Element: Sendable, Result: Sendable>(
    _ elements: [Element], progress: inout Progress, work: @escaping @Sendable (Element) -> Result,
    body: (Result, inout Progress) throws -> Void
  ) throws {
    for start in stride(from: 0, to: elements.count, by: window) {
      let part = elements[start..<min(start + window, elements.count)]
      let results = Mutex([Result?](repeating: nil, count: part.count))
      DispatchQueue.concurrentPerform(iterations: part.count) { index in
        let result = work(part[part.startIndex + index])
        results.withLock { $0[index] = result }
      }
      for result in results.withLock({ $0 }).compactMap({ $0 }) {
        progress.step()
        try body(result, &progress)
      }
    }
    progress.clear()
  }
}
