import Synchronization

/// The lock of a store's write connection. A call holds it while it runs. While a batch is open, only calls that carry
/// the innermost batch get it.
// Unchecked: `depth`, `writes` and `innermost` change only with the monitor held; the rest is immutable or atomic.
final class WriteLock: @unchecked Sendable {
  private let monitor = Monitor()
  /// Tells this store's batches from those of others.
  private let store = stores.wrappingAdd(1, ordering: .relaxed).newValue
  private static let stores = Atomic<UInt64>(0)
  /// The thread inside of a call that writes, 0 for none.
  private let writer = Atomic<UInt>(0)
  /// The innermost batch and the thread that began it, 0 without one: what a call looks at that must not wait.
  private let number = Atomic<Int64>(0)
  private let beginner = Atomic<UInt>(0)
  /// How often the thread that has the lock has taken it, and how often of these to write.
  private var depth = 0
  private var writes = 0
  private(set) var innermost: BatchTicket?

  // MARK: Calls

  /// Runs `body` with the lock held.
  ///
  /// - Parameter writing: whether the thread counts as one that writes meanwhile
  /// - Throws: `.busy` at once on the thread that began a batch which the call does not carry, else when that batch or
  ///   another call lasts longer than so many milliseconds; `.invalid` when the carried batch was undone
  func withLock<Result>(
    within milliseconds: Int, writing: Bool = true, _ body: () throws -> Result
  ) throws -> Result {
    try take(within: milliseconds)
    if writing { startWriting() }
    defer {
      if writing { stopWriting() }
      release()
    }
    return try body()
  }

  /// As `withLock`, whatever batch is open, and however long it takes; or for at most so long.
  ///
  /// - Returns: nil when it took longer
  func withLockBesideBatches<Result>(
    within milliseconds: Int? = nil, _ body: () throws -> Result
  ) rethrows -> Result? {
    if let milliseconds {
      guard monitor.lock(milliseconds: milliseconds) else { return nil }
    } else {
      monitor.lock()
    }
    depth += 1
    startWriting()
    defer {
      stopWriting()
      release()
    }
    return try body()
  }

  private func take(within milliseconds: Int) throws {
    if isHeldByCaller {
      monitor.lock()
      depth += 1
      return
    }
    let ticket = try carried()
    try refuseOtherBatch(than: ticket)
    let end = Clock.steadyMilliseconds + Int64(milliseconds)
    guard monitor.lock(milliseconds: milliseconds) else {
      throw SatchelError(.busy, "another thread has been writing for more than \(milliseconds) ms")
    }
    do {
      while let innermost, innermost !== ticket {
        let left = end - Clock.steadyMilliseconds
        // A lock that is held twice cannot be waited with.
        guard innermost.thread != ThreadIdentity.current else { throw Self.isOpen }
        guard left > 0, depth == 0 else {
          throw SatchelError(
            .busy, "a batch that the call is not part of has been open for more than \(milliseconds) ms",
            underlying: BatchIsOpen())
        }
        monitor.wait(milliseconds: Int(left))
      }
      if let ticket, ticket.state == .undone { throw Self.undone }
    } catch {
      monitor.unlock()
      throw error
    }
    depth += 1
  }

  private func release() {
    depth -= 1
    monitor.unlock()
  }

  private func startWriting() {
    writes += 1
    writer.store(ThreadIdentity.current, ordering: .relaxed)
  }

  private func stopWriting() {
    writes -= 1
    if writes == 0 { writer.store(0, ordering: .relaxed) }
  }

  /// Whether the calling thread is inside of a call that writes.
  var isHeldByCaller: Bool { writer.load(ordering: .relaxed) == ThreadIdentity.current }

  // MARK: Batches

  static let undone = SatchelError(.invalid, "the batch that this call is part of was undone")

  /// The open batch that the calling thread carries; nil when it carries none, or one that was committed.
  ///
  /// - Throws: `.invalid` for one that was undone
  func carried() throws -> BatchTicket? {
    var found = CarriedBatches.ticket(of: store)
    while let ticket = found {
      switch ticket.state {
      case .open: return ticket
      case .committed: found = ticket.outer
      case .undone: throw Self.undone
      }
    }
    return nil
  }

  var isBatchOpen: Bool { number.load(ordering: .relaxed) != 0 }

  /// Whether the calling thread carries an open batch.
  var isInBatch: Bool { (try? carried()) != nil }

  /// What the calling thread carries, open or not.
  var lastCarried: BatchTicket? { CarriedBatches.ticket(of: store) }

  func carry(_ ticket: BatchTicket?) { CarriedBatches.carry(ticket, of: store) }

  /// Waiting on the thread that has to end a batch would stop it.
  func refuseOtherBatch(than ticket: BatchTicket?) throws {
    guard beginner.load(ordering: .relaxed) == ThreadIdentity.current,
      number.load(ordering: .relaxed) != ticket?.number ?? 0
    else { return }
    throw Self.isOpen
  }

  static let isOpen = SatchelError(
    .busy, "a batch that the call is not part of is open on this thread", underlying: BatchIsOpen())

  /// Sets the innermost batch, with the lock held.
  func setInnermost(_ ticket: BatchTicket?) {
    innermost = ticket
    number.store(ticket?.number ?? 0, ordering: .relaxed)
    beginner.store(ticket?.thread ?? 0, ordering: .relaxed)
    monitor.signal()
  }
}
