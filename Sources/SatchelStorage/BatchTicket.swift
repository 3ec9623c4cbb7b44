import SatchelCore
import Synchronization

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
