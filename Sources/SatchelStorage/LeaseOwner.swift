import SatchelCore

/// The owner of leases on rows, such as queued backups: one subject of one handle of a store, in one process.
///
/// Its name shows whether its process is still alive: it consists of the machine's boot id, the process's id
/// and start time, and a unique number.
package final class LeaseOwner: Sendable {
  /// The name in the table.
  package let name: String
  private let number: Int64
  private let hasEnded = Locked(false)

  /// The owners of this process that have not ended, and their stores. Numbers are never reused.
  private static let active = Locked<[Int64: Held]>([:])

  /// A weak reference to a store, which does not keep it open.
  // Unchecked: accessed only with the lock of `active` held.
  private final class Held: @unchecked Sendable {
    weak var database: Database?
    init(_ database: Database) { self.database = database }
  }

  package init(_ database: Database) {
    number = Int64.random(in: 1...Int64.max)
    name = "\(ProcessIdentity.current.text) \(String(number, radix: 16))"
    Self.active.withLock { $0[number] = Held(database) }
  }

  package var isOver: Bool { hasEnded.withLock { $0 } }

  /// - Returns: false when it had already ended
  @discardableResult
  package func end() -> Bool {
    let isFirst = hasEnded.withLock { ended in
      defer { ended = true }
      return !ended
    }
    if isFirst { _ = Self.active.withLock { $0.removeValue(forKey: number) } }
    return isFirst
  }

  /// Whether the lease's owner is still alive; true when unknown.
  package static func isAlive(_ name: String) -> Bool {
    guard let space = name.lastIndex(of: " "),
      let number = Int64(name[name.index(after: space)...], radix: 16),
      let process = ProcessIdentity(text: String(name[..<space]))
    else { return false }
    guard process == .current else { return process.isAlive }
    return active.withLock { active in
      guard let database = active[number]?.database else { return false }
      return !database.isClosed
    }
  }
}
