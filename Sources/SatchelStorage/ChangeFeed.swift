import SatchelCore

/// Notifies subscribers of changes: of the handle's own at once, of others' when the scheduler finds them in the change
/// log.
// Unchecked: `condition` guards all state.
package final class ChangeFeed: @unchecked Sendable {
  private let condition = ConditionLock()
  private var subscribers: [Int: @Sendable (Change) -> Void] = [:]
  private var nextSubscriber = 0
  private let thread: JobThread
  private var polling: JobThread.Job?
  private var isStopped = false

  /// The interval at which SQLite is asked for commits of others, in milliseconds.
  private static let interval: Int64 = 100

  /// - Parameter thread: finds commits of others
  init(polling thread: JobThread) { self.thread = thread }

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

  /// Starts to look for commits of others, once.
  func watch(writer: Int64, open: () throws -> Connection) throws {
    try condition.withLock {
      guard polling == nil, !isStopped else { return }
      let connection = try open()
      let seen = Locked((newest: try ChangeLog.newest(connection), version: Int64(-1)))
      let job = thread.job { [weak self] in
        self?.poll(connection, seen, except: writer)
        return Clock.monotonic.now() + Self.interval
      }
      try job.request(at: Clock.monotonic.now() + Self.interval)
      polling = job
    }
  }

  private func poll(
    _ connection: Connection, _ seen: Locked<(newest: Int64, version: Int64)>, except writer: Int64
  ) {
    let (newest, version) = seen.withLock { $0 }
    // A failure means that another connection is writing; the next round retries.
    guard let now = try? connection.number("PRAGMA data_version"), now != version,
      let (latest, found) = try? Self.newChanges(connection, after: newest, except: writer)
    else { return }
    for change in found { notify(change) }
    seen.withLock { $0 = (max(newest, latest), now) }
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

  /// Stops all notifications, and waits for those in progress.
  func stop() {
    let job = condition.withLock {
      isStopped = true
      defer { polling = nil }
      return polling
    }
    job?.cancel()
    let removed = condition.withLock {
      let removed = subscribers
      subscribers = [:]
      return removed
    }
    _ = removed
  }
}
