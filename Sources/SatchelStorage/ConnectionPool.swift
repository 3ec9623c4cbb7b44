/// Read connections, opened when first needed and lent to one thread at a time.
// Unchecked: all state is behind the monitor.
final class ConnectionPool: @unchecked Sendable {
  private let monitor = Monitor()
  private let open: () throws -> Connection
  private let limit: Int
  private var idle: [Connection] = []
  private var lent = 0
  private var adopted: Connection?

  init(limit: Int, open: @escaping () throws -> Connection) {
    self.limit = limit
    self.open = open
  }

  func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let connection = try take()
    defer { giveBack(connection) }
    return try body(connection)
  }

  private func take() throws -> Connection {
    monitor.lock()
    while idle.isEmpty && lent >= limit { monitor.wait() }
    lent += 1
    let connection = idle.popLast()
    monitor.unlock()
    do {
      return try connection ?? open()
    } catch {
      monitor.withLock {
        lent -= 1
        monitor.signal()
      }
      throw error
    }
  }

  private func giveBack(_ connection: Connection) {
    monitor.withLock {
      lent -= 1
      idle.append(connection)
      monitor.signal()
    }
  }

  /// Adds a connection that is open already, and that may write: it is closed last, and takes the log along.
  func adopt(_ connection: Connection) {
    monitor.withLock {
      idle.append(connection)
      adopted = connection
    }
  }

  /// Closes the connections that are not lent.
  func drain() {
    monitor.withLock {
      idle.removeAll()
      adopted = nil
    }
  }
}
