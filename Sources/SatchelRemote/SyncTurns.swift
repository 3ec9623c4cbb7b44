import SatchelStorage

/// Lets syncs of one thing take turns, while those of others go on.
// Unchecked: the set is touched only with the monitor held.
package final class SyncTurns: @unchecked Sendable {
  /// What one sync at a time is about.
  package struct Subject: Hashable {
    var database: ObjectIdentifier
    var name: String

    /// - Parameter name: of all that this database may synchronise
    package init(database: Database, name: String) {
      self.database = ObjectIdentifier(database)
      self.name = name
    }
  }

  package static let shared = SyncTurns()
  private let monitor = Monitor()
  private var busy: Set<Subject> = []

  /// - Throws: `cancelled` when the caller gives up while it waits; `busy` in a function of the host's that the sync
  ///   itself has called
  package func take<Result>(
    _ subject: Subject, _ cancellation: Cancellation, _ body: () throws -> Result
  ) throws -> Result {
    let work = HostWork.Subject(subject.database, subject.name)
    try HostWork.refuse("\(subject.name): a synchronisation cannot begin", work)
    try monitor.withLock {
      while busy.contains(subject) {
        if cancellation.isCancelled() { throw SatchelError(.cancelled, "cancelled by the caller") }
        monitor.wait(milliseconds: 20)
      }
      busy.insert(subject)
    }
    defer {
      monitor.withLock {
        busy.remove(subject)
        monitor.signal()
      }
    }
    return try HostWork.on(HostWork.Subject(subject.database)) { try HostWork.on(work, body) }
  }
}
