/// Tells subscribers of changes: own ones at once, those of others when its watcher finds them in the log.
// Unchecked: all state is behind the monitor.
package final class ChangeFeed: @unchecked Sendable {
  private let monitor = Monitor()
  private var subscribers: [Int: @Sendable (Change) -> Void] = [:]
  private var nextSubscriber = 0
  private var watcher: SystemThread?
  private var isStopped = false

  /// How often the watcher asks SQLite whether anyone has written, in milliseconds.
  private static let interval = 100

  /// Ends a subscription when asked to, or when it is given up.
  // Unchecked: nothing in it changes.
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

  func subscribe(_ hear: @escaping @Sendable (Change) -> Void) -> Subscription {
    monitor.withLock {
      nextSubscriber += 1
      subscribers[nextSubscriber] = hear
      return Subscription(self, nextSubscriber)
    }
  }

  private func remove(_ number: Int) {
    let gone = monitor.withLock { subscribers.removeValue(forKey: number) }
    _ = gone  // Released here, outside the lock: giving it up may call the host.
  }

  func tell(_ change: Change) {
    let hearers = monitor.withLock { Array(subscribers.sorted { $0.key < $1.key }.map(\.value)) }
    for hear in hearers { hear(change) }
  }

  // MARK: Other handles

  /// Starts the watcher, once.
  func watch(writer: Int64, open: () throws -> Connection) throws {
    try monitor.withLock {
      guard watcher == nil, !isStopped else { return }
      let connection = try open()
      let newest = try ChangeLog.newest(connection)
      watcher = SystemThread { [self] in follow(connection, from: newest, writer: writer) }
      if watcher == nil { throw SatchelError(.noMemory, "no thread to be had for the watcher") }
    }
  }

  private func follow(_ connection: Connection, from newest: Int64, writer: Int64) {
    var newest = newest
    var version: Int64 = -1
    while true {
      let isOver = monitor.withLock {
        if !isStopped { monitor.wait(milliseconds: Self.interval) }
        return isStopped
      }
      if isOver { return }
      // A failure here is another writer's moment; the next round asks again.
      guard let seen = try? connection.number("PRAGMA data_version"), seen != version,
        let (latest, found) = try? Self.news(connection, after: newest, except: writer)
      else { continue }
      for change in found { tell(change) }
      newest = max(newest, latest)
      version = seen
    }
  }

  /// What others committed, and the newest revision: of one state of the store, so that nothing is told twice.
  private static func news(
    _ connection: Connection, after revision: Int64, except writer: Int64
  ) throws -> (latest: Int64, found: [Change]) {
    try connection.run("BEGIN")
    defer { try? connection.run("COMMIT") }
    let latest = try ChangeLog.newest(connection)
    return (latest, latest > revision ? try ChangeLog.read(connection, after: revision, except: writer) : [])
  }

  /// Falls silent for good.
  func stop() {
    let thread = monitor.withLock {
      isStopped = true
      monitor.signal()
      return watcher
    }
    if let thread, !thread.isCurrent { thread.join() }
    let gone = monitor.withLock {
      let gone = subscribers
      subscribers = [:]
      return gone
    }
    _ = gone
  }
}
