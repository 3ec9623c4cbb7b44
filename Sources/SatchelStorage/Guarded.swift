/// A value behind a lock. Of pthreads, like all locks of the library, which thread sanitizers understand; those
/// of the Synchronization module they do not see.
// Unchecked: the value is touched only with the monitor held.
package final class Guarded<Value>: @unchecked Sendable {
  private let monitor = Monitor()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try monitor.withLock { try body(&value) }
  }
}
