import SatchelRemote
import SatchelStorage

/// Lets syncs of one catalogue take turns, while those of others go on.
// Unchecked: the set is touched only with the monitor held.
final class SyncTurns: @unchecked Sendable {
  struct Catalogue: Hashable {
    var database: ObjectIdentifier
    var directory: String
  }

  static let shared = SyncTurns()
  private let monitor = Monitor()
  private var busy: Set<Catalogue> = []

  /// - Throws: `cancelled` when the caller gives up while it waits
  func take<Result>(
    _ catalogue: Catalogue, _ cancellation: Cancellation, _ body: () throws -> Result
  ) throws -> Result {
    try monitor.withLock {
      while busy.contains(catalogue) {
        if cancellation.isCancelled() { throw SatchelError(.cancelled, "cancelled by the caller") }
        monitor.wait(milliseconds: 20)
      }
      busy.insert(catalogue)
    }
    defer {
      monitor.withLock {
        busy.remove(catalogue)
        monitor.signal()
      }
    }
    return try body()
  }
}
