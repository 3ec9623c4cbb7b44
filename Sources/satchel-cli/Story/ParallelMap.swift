import Dispatch
import Satchel
import Synchronization

/// Transforms elements on all cores and returns the results in the order of the elements.
enum ParallelMap {
  /// The maximum number of results in memory.
  private static let window = 64

  /// Transforms elements in parallel and passes the results to `body` in order.
  ///
  /// - Parameters:
  ///   - progress: advanced before each call of `body`; cleared at the end
  ///   - work: runs on any thread; at most 64 of its results are in memory at a time
  ///   - body: runs on the caller's thread; must clear the progress before it writes to a terminal
  static func forEach<Element: Sendable, Result: Sendable>(
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
