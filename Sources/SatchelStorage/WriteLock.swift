import SatchelCore
import Synchronization

/// The lock of a store's write connection. A call holds it while it runs. While a batch is open, only calls
/// that carry the innermost batch can acquire it.
// Unchecked: `lockDepth`, `writeDepth` and `innermost` change only with `condition` held; the rest is
// immutable or atomic.
final class WriteLock: @unchecked Sendable {
  private let condition = ConditionLock()
  /// Distinguishes this store's batches from those of other stores.
  private let store = stores.wrappingAdd(1, ordering: .relaxed).newValue
  private static let stores = Atomic<UInt64>(0)
  /// The thread that is inside a writing call, 0 for none.
  private let writer = Atomic<UInt>(0)
  /// The innermost batch and the thread that began it, 0 without one: for calls that must not wait.
  private let batchNumber = Atomic<Int64>(0)
  private let batchThread = Atomic<UInt>(0)
  /// The number of times that the owning thread has acquired the lock, and of these for writing.
  private var lockDepth = 0
  private var writeDepth = 0
  private(set) var innermost: BatchTicket?

  // MARK: Calls

  /// Runs `body` with the lock held.
  ///
  /// - Parameter writing: whether the thread counts as writing meanwhile
  /// - Throws: `.busy` at once on the thread that began a batch which the call does not carry, otherwise when
  ///   that batch or another call lasts longer than `milliseconds`; `.invalid` when the carried batch was
  ///   rolled back
  func withLock<Result>(
    within milliseconds: Int, writing: Bool = true, _ body: () throws -> Result
  ) throws -> Result {
    try acquire(within: milliseconds)
    if writing { startWriting() }
    defer {
      if writing { stopWriting() }
      release()
    }
    return try body()
  }

  /// Runs `body` with the lock held, regardless of open batches.
  ///
  /// - Parameter milliseconds: the timeout; nil to wait forever
  /// - Returns: nil after the timeout
  func withLockIgnoringBatches<Result>(
    within milliseconds: Int? = nil, _ body: () throws -> Result
  ) rethrows -> Result? {
    if let milliseconds {
      guard condition.lock(milliseconds: milliseconds) else { return nil }
    } else {
      condition.lock()
    }
    lockDepth += 1
    startWriting()
    defer {
      stopWriting()
      release()
    }
    return try body()
  }

  private func acquire(within milliseconds: Int) throws {
    if isHeldByCaller {
      condition.lock()
      lockDepth += 1
      return
    }
    let ticket = try carried()
    try refuseOtherBatch(than: ticket)
    let end = Clock.monotonic.now() + Int64(milliseconds)
    guard condition.lock(milliseconds: milliseconds) else {
      throw SatchelError(.busy, "another thread has been writing for more than \(milliseconds) ms")
    }
    do {
      while let innermost, innermost !== ticket {
        let left = end - Clock.monotonic.now()
        // A condition cannot be waited for with a lock that is held twice.
        guard innermost.thread != ThreadIdentity.current else { throw Self.isOpen }
        guard left > 0, lockDepth == 0 else {
          throw SatchelError(
            .busy, "a batch that the call is not part of has been open for more than \(milliseconds) ms",
            underlying: BatchIsOpen())
        }
        condition.wait(milliseconds: Int(left))
      }
      if let ticket, ticket.state == .rolledBack { throw Self.rolledBack }
    } catch {
      condition.unlock()
      throw error
    }
    lockDepth += 1
  }

  private func release() {
    lockDepth -= 1
    condition.unlock()
  }

  private func startWriting() {
    writeDepth += 1
    writer.store(ThreadIdentity.current, ordering: .relaxed)
  }

  private func stopWriting() {
    writeDepth -= 1
    if writeDepth == 0 { writer.store(0, ordering: .relaxed) }
  }

  /// Whether the calling thread is inside a writing call.
  var isHeldByCaller: Bool { writer.load(ordering: .relaxed) == ThreadIdentity.current }

  // MARK: Batches

  static let rolledBack = SatchelError(.invalid, "the batch that this call is part of was rolled back")

  /// Returns the open batch that the calling thread carries; nil when it carries none, or a committed one.
  ///
  /// - Throws: `.invalid` for a batch that was rolled back
  func carried() throws -> BatchTicket? {
    var found = CarriedBatches.ticket(of: store)
    while let ticket = found {
      switch ticket.state {
      case .open: return ticket
      case .committed: found = ticket.outer
      case .rolledBack: throw Self.rolledBack
      }
    }
    return nil
  }

  var isBatchOpen: Bool { batchNumber.load(ordering: .relaxed) != 0 }

  /// Whether the calling thread carries an open batch.
  var isInBatch: Bool { (try? carried()) != nil }

  /// The batch that the calling thread carries, open or not.
  var lastCarried: BatchTicket? { CarriedBatches.ticket(of: store) }

  func carry(_ ticket: BatchTicket?) { CarriedBatches.carry(ticket, of: store) }

  /// Throws on the thread that has to end another batch, because waiting would block it.
  func refuseOtherBatch(than ticket: BatchTicket?) throws {
    guard batchThread.load(ordering: .relaxed) == ThreadIdentity.current,
      batchNumber.load(ordering: .relaxed) != ticket?.number ?? 0
    else { return }
    throw Self.isOpen
  }

  static let isOpen = SatchelError(
    .busy, "a batch that the call is not part of is open on this thread", underlying: BatchIsOpen())

  /// Sets the innermost batch. The caller holds the lock.
  func setInnermost(_ ticket: BatchTicket?) {
    innermost = ticket
    batchNumber.store(ticket?.number ?? 0, ordering: .relaxed)
    batchThread.store(ticket?.thread ?? 0, ordering: .relaxed)
    condition.signal()
  }
}

/// The identity of a batch, which threads carry. It outlives the batch, and then has its outcome.
final class BatchTicket: Sendable {
  enum State: UInt8 { case open, committed, rolledBack }

  /// Unique in the process, from 1.
  let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
  /// The enclosing batch.
  let outer: BatchTicket?
  /// The thread that began it.
  let thread = ThreadIdentity.current
  private let stored = Atomic(State.open.rawValue)
  private static let numbers = Atomic<Int64>(0)

  init(in outer: BatchTicket?) { self.outer = outer }

  var state: State { State(rawValue: stored.load(ordering: .acquiring)) ?? .rolledBack }
  func end(_ state: State) { stored.store(state.rawValue, ordering: .releasing) }
}

/// The batches that the calling thread carries, at most one for each store.
enum CarriedBatches {
  private final class Entries {
    var tickets: [(store: UInt64, ticket: BatchTicket)] = []
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { entries in
      #if canImport(Darwin)
        Unmanaged<AnyObject>.fromOpaque(entries).release()
      #else
        if let entries { Unmanaged<AnyObject>.fromOpaque(entries).release() }
      #endif
    }
    return key
  }()

  private static var entries: Entries? {
    pthread_getspecific(key).map { Unmanaged<Entries>.fromOpaque($0).takeUnretainedValue() }
  }

  static func ticket(of store: UInt64) -> BatchTicket? {
    entries?.tickets.first { $0.store == store }?.ticket
  }

  /// Sets the calling thread's batch of a store; nil for none.
  static func carry(_ ticket: BatchTicket?, of store: UInt64) {
    guard let known = entries else {
      guard let ticket else { return }
      let made = Entries()
      made.tickets = [(store, ticket)]
      pthread_setspecific(key, Unmanaged.passRetained(made).toOpaque())
      return
    }
    known.tickets.removeAll { $0.store == store }
    if let ticket { known.tickets.append((store, ticket)) }
  }
}

/// Identifies threads.
package enum ThreadIdentity {
  package static var current: UInt {
    #if canImport(Glibc)
      pthread_self()
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }
}

/// The cause of a `.busy` error: another batch of this process is open. A quick retry does not help, and the
/// write must not be spooled either, since the caller gets an error.
package struct BatchIsOpen: Error {}
