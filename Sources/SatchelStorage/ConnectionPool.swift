import Synchronization

/// Read connections, opened when first needed and lent to one thread at a time.
///
/// When reads follow each other closely, the transaction of a connection stays open from one to the next. One that
/// stays open keeps the log from being emptied: it is ended after 20 ms, or by a thread that is started with the first
/// when no read comes any more.
// Unchecked: all state is behind the monitor; a connection's view is touched only by who has it, or with the monitor
// held while nobody has.
final class ConnectionPool: @unchecked Sendable {
  /// Reads in a row after which a transaction is kept, and how closely they follow, in milliseconds.
  private static let fewReads = 8
  private static let pause: Int64 = 5
  /// How long a transaction is kept, and how long without a read, in milliseconds.
  private static let patience: Int64 = 20

  private final class Reader {
    let connection: Connection
    var view = ReadView()
    var lastRead: Int64 = 0
    /// Since when its transaction is kept; nil while it is not.
    var keptSince: Int64?
    init(_ connection: Connection) { self.connection = connection }
  }

  private let monitor = Monitor()
  private let open: () throws -> Connection
  private let limit: Int
  private var idle: [Reader] = []
  private var lent = 0
  private var adopted: Connection?
  private var readsInARow = 0
  private var lastRead: Int64 = 0
  private var isDrained = false
  /// Pieces of work under way that want the log to be empty.
  private var emptying = 0

  private var caretaker: SystemThread?
  /// Where the caretaker waits: whoever waits for a connection must not be woken in its place.
  private let care = Monitor()
  private let isAsleep = Atomic(false)

  init(limit: Int, open: @escaping () throws -> Connection) {
    self.limit = limit
    self.open = open
  }

  /// Lends a connection inside a read transaction that sees everything committed before the call.
  func withTransaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let reader = try take()
    var isSound = false
    defer { giveBack(reader, isSound: isSound) }
    try reader.view.begin(reader.connection)
    let result = try body(reader.connection)
    isSound = true
    return result
  }

  private func take() throws -> Reader {
    monitor.lock()
    while idle.isEmpty && lent >= limit { monitor.wait() }
    lent += 1
    let reader = idle.popLast()
    monitor.unlock()
    do {
      return try reader ?? Reader(open())
    } catch {
      monitor.withLock {
        lent -= 1
        monitor.signal()
      }
      throw error
    }
  }

  private func giveBack(_ reader: Reader, isSound: Bool) {
    let now = Clock.steadyMilliseconds
    monitor.withLock {
      readsInARow = now - lastRead <= Self.pause ? readsInARow + 1 : 0
      lastRead = now
      reader.lastRead = now
      let isHot = isSound && emptying == 0 && readsInARow >= Self.fewReads
      let isYoung = now - (reader.keptSince ?? now) < Self.patience
      let stays = isHot && isYoung && reader.view.canStay(reader.connection) && takesCare()
      if stays {
        reader.keptSince = reader.keptSince ?? now
      } else {
        end(reader)
      }
      lent -= 1
      idle.append(reader)
      if lent == limit - 1 { monitor.signal() }
    }
  }

  /// Adds a connection that is open already, and that may write: it is closed last, and takes the log along.
  func adopt(_ connection: Connection) {
    monitor.withLock {
      idle.append(Reader(connection))
      adopted = connection
    }
  }

  /// Runs `body` while no transaction is kept, so that the log can be emptied.
  func emptying<Result>(_ body: () throws -> Result) rethrows -> Result {
    monitor.withLock {
      emptying += 1
      for reader in idle { end(reader) }
    }
    defer { monitor.withLock { emptying -= 1 } }
    return try body()
  }

  private func end(_ reader: Reader) {
    reader.view.end(reader.connection)
    reader.keptSince = nil
  }

  /// Closes the connections that are not lent.
  func drain() {
    let caretaker = monitor.withLock { () -> SystemThread? in
      idle.removeAll()
      adopted = nil
      isDrained = true
      defer { self.caretaker = nil }
      return self.caretaker
    }
    wake()
    caretaker?.join()
  }

  // MARK: Ending what nobody reads any more

  /// - Returns: whether there is somebody to end what is kept
  private func takesCare() -> Bool {
    if isDrained { return false }
    if caretaker == nil {
      caretaker = SystemThread { [self] in takeCare() }
    } else if isAsleep.load(ordering: .relaxed) {
      wake()
    }
    return caretaker != nil
  }

  private func wake() {
    care.withLock {
      isAsleep.store(false, ordering: .relaxed)
      care.signal()
    }
  }

  private func takeCare() {
    while true {
      care.withLock {
        while isAsleep.load(ordering: .relaxed) { care.wait() }
        care.wait(milliseconds: Int(Self.patience))
      }
      let isOver = monitor.withLock {
        endOld()
        let isKept = lent > 0 || idle.contains { $0.view.isOpen }
        // With the monitor held: whoever keeps one afterwards sees it, and wakes.
        isAsleep.store(!isKept && !isDrained, ordering: .relaxed)
        return isDrained
      }
      if isOver { return }
    }
  }

  private func endOld() {
    let now = Clock.steadyMilliseconds
    for reader in idle where now - reader.lastRead >= Self.patience { end(reader) }
  }
}
