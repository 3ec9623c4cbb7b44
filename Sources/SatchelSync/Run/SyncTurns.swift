import SatchelCore
import SatchelRemote
import SatchelStorage

/// Serializes syncs of the same subject; syncs of different subjects run concurrently.
// Unchecked: the set is accessed only while the lock is held.
package final class SyncTurns: @unchecked Sendable {
  /// The subject of a sync: a part of one database.
  package struct Subject: Hashable {
    var database: ObjectIdentifier
    var name: String

    /// - Parameter name: unique among the subjects of the database
    package init(database: Database, name: String) {
      self.database = ObjectIdentifier(database)
      self.name = name
    }
  }

  package static let shared = SyncTurns()
  private let lock = ConditionLock()
  private var busy: Set<Subject> = []

  /// Waits until no other sync of the subject is running, then calls `body`.
  ///
  /// - Throws: `cancelled` when the caller cancels while it waits; `busy` when called in a callback of the
  ///   same sync
  package func withTurn<Result>(
    _ subject: Subject, _ cancellation: Cancellation, _ body: () throws -> Result
  ) throws -> Result {
    let work = HostWork.Subject(subject.database, subject.name)
    try HostWork.refuse("\(subject.name): a synchronization cannot begin", work)
    try lock.withLock {
      while busy.contains(subject) {
        if cancellation.isCancelled() { throw SatchelError(.cancelled, "cancelled by the caller") }
        lock.wait(milliseconds: 20)
      }
      busy.insert(subject)
    }
    defer {
      lock.withLock {
        busy.remove(subject)
        lock.signal()
      }
    }
    return try HostWork.on(HostWork.Subject(subject.database)) { try HostWork.on(work, body) }
  }
}
