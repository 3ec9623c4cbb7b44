import SatchelCore

/// Notifies subscribers of changes: of the handle's own at once, of others' when a thread finds them in the
/// change log.
// Unchecked: `condition` guards all state.
package final class ChangeFeed: @unchecked Sendable {
  private let condition = ConditionLock()
  private var subscribers: [Int: @Sendable (Change) -> Void] = [:]
  private var nextSubscriber = 0
  private var watcher: SystemThread?
  private var isStopped = false

  /// The interval at which the thread polls SQLite for commits of others, in milliseconds.
  private static let interval = 100

  /// A subscription; ends on `cancel` or when it is released.
  // Unchecked: it is immutable.
  package final class Subscription: @unchecked Sendable {
    private weak var feed: ChangeFeed?
    private let number: Int

    init(_ feed: ChangeFeed, _ number: Int) {
      self.feed = feed
      self.number = number
    }

    package func cancel() { feed?.remove(number) }
    deinit { cancel() }
  }

  func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
    condition.withLock {
      nextSubscriber += 1
      subscribers[nextSubscriber] = observer
      return Subscription(self, nextSubscriber)
    }
  }

  private func remove(_ number: Int) {
    let removed = condition.withLock { subscribers.removeValue(forKey: number) }
    _ = removed  // Released here, outside the lock: the release may call the host.
  }

  func notify(_ change: Change) {
    let observers = condition.withLock { Array(subscribers.sorted { $0.key < $1.key }.map(\.value)) }
    HostWork.notify { for observer in observers { observer(change) } }
  }

  // MARK: Other handles

  /// Starts the thread that finds commits of others, once.
  func watch(writer: Int64, open: () throws -> Connection) throws {
    try condition.withLock {
      guard watcher == nil, !isStopped else { return }
      let connection = try open()
      let newest = try ChangeLog.newest(connection)
      watcher = SystemThread { [self] in pollChanges(connection, from: newest, writer: writer) }
      if watcher == nil {
        throw SatchelError(.noMemory, "the system cannot start a thread to observe changes")
      }
    }
  }

  private func pollChanges(_ connection: Connection, from newest: Int64, writer: Int64) {
    var newest = newest
    var version: Int64 = -1
    while true {
      let isOver = condition.withLock {
        if !isStopped { condition.wait(milliseconds: Self.interval) }
        return isStopped
      }
      if isOver { return }
      // A failure means that another connection is writing; the next round retries.
      guard let seen = try? connection.number("PRAGMA data_version"), seen != version,
        let (latest, found) = try? Self.newChanges(connection, after: newest, except: writer)
      else { continue }
      for change in found { notify(change) }
      newest = max(newest, latest)
      version = seen
    }
  }

  /// Returns the changes of others and the newest revision, read in one transaction so that no change is
  /// reported twice.
  private static func newChanges(
    _ connection: Connection, after revision: Int64, except writer: Int64
  ) throws -> (latest: Int64, found: [Change]) {
    try connection.inReadTransaction {
      let latest = try ChangeLog.newest(connection)
      guard latest > revision else { return (latest, []) }
      return (latest, try ChangeLog.read(connection, after: revision, except: writer))
    }
  }

  /// Stops all notifications, and waits for the thread.
  func stop() {
    let thread = condition.withLock {
      isStopped = true
      condition.signal()
      return watcher
    }
    if let thread, !thread.isCurrent { thread.join() }
    let removed = condition.withLock {
      let removed = subscribers
      subscribers = [:]
      return removed
    }
    _ = removed
  }
}
