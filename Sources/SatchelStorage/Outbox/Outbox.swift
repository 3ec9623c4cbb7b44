import SatchelCore
import SatchelJSON

/// Keeps writes that the store cannot accept: they are retried, spooled to the outbox file, and applied in
/// order and exactly once as soon as that is possible.
///
/// It does not depend on records or state: each kind of entry has a registered function that applies it.
/// There is one outbox per store, which it does not retain. Any number of threads, and other processes, may
/// use it at once.
package final class Outbox: Sendable {
  /// Applies the content of an entry.
  package typealias Apply =
    @Sendable (
      _ entry: JSONValue, _ transaction: Transaction, _ database: Database
    ) throws -> Void

  /// The pauses before the second, third and fourth attempt, in milliseconds.
  static let pauses: [UInt32] = [20, 100, 400]

  /// The outbox file; nil for a store in memory.
  let outboxFile: OutboxFile?
  /// Held while entries are applied, so that two threads do not do the same work.
  let draining = ConditionLock()
  private let kinds = Locked<[String: (subject: Change.Subject, apply: Apply)]>([:])
  private let registering = Locked<(@Sendable () -> Bool)?>(nil)

  /// Creates the outbox of a store.
  ///
  /// - Parameters:
  ///   - path: the store's path; a store in memory has no outbox file
  ///   - calls: the system calls for the outbox file
  package init(path: String, calls: FileCalls = .system) {
    outboxFile = path == ":memory:" ? nil : OutboxFile(store: path, calls: calls)
  }

  /// Registers the subject of a kind of entries, and the function that applies them.
  ///
  /// An entry for which it throws `.invalid`, `.notFound`, `.foreign`, `.conflict`, `.constraint` or
  /// `.internal` is rejected; other errors mean that the store cannot accept it now.
  package func register(_ kind: String, of subject: Change.Subject, apply: @escaping Apply) {
    kinds.withLock { $0[kind] = (subject, apply) }
  }

  /// Sets a function that makes the subjects which have not been used yet register their kinds.
  ///
  /// - Parameter body: returns whether they have
  package func completeRegistrations(_ body: @escaping @Sendable () -> Bool) {
    registering.withLock { $0 = body }
  }

  /// Returns whether all kinds of entries are registered.
  @discardableResult
  private func completeKinds() -> Bool { registering.withLock { $0 }?() ?? true }

  /// Returns the subject whose observers are notified of an entry; records for an entry of an unknown kind.
  func subject(of entry: JSONValue) -> Change.Subject {
    completeKinds()
    let kind = entry.objectValue?.first?.key ?? ""
    return kinds.withLock { $0[kind]?.subject } ?? .records
  }

  /// The subjects that spool entries.
  var subjects: [Change.Subject] {
    completeKinds()
    let known = kinds.withLock { Set($0.values.map(\.subject)) }
    return Change.Subject.all.filter(known.contains)
  }

  /// Runs `body` in a transaction, or spools the entry to the outbox file when the store cannot accept it.
  ///
  /// Inside a write on the same thread, or a batch, it only takes part in that transaction, which as a whole
  /// may be spooled.
  ///
  /// - Parameters:
  ///   - entry: returns the change as an object with one member, its kind; called only when it is needed
  ///   - repeatsBody: whether `body` may run more than once; if not, a failed commit is retried by applying
  ///     the entry
  ///   - spoolsDuringOtherBatch: whether the entry is also spooled when another batch of this process is open
  ///     for too long; if not, that is an error
  /// - Throws: the errors of `body`; `.full`, `.io` and others when the outbox file failed too, with both
  ///   causes in the message
  package func perform<Result>(
    in database: Database, entry: () throws -> JSONValue, repeatsBody: Bool = true,
    spoolsDuringOtherBatch: Bool = false, _ body: (Transaction) throws -> Result
  ) throws -> OutboxOutcome<Result> {
    if database.isInTransaction || database.options.isReadOnly {
      return (try database.write(body), isSpooled: false)
    }
    var attempt = OutboxAttempt(repeatsBody: repeatsBody)
    var result: Result?
    do {
      try drainSpooled(database)
      while true {
        do {
          try attempt.run(in: database) {
            result = try body($0)
          } otherwise: {
            try apply(entry(), in: $0, of: database)
          }
          return (result, isSpooled: false)
        } catch let error as SatchelError
          where error.isTransient && attempt.mayRunAgain && attempt.failures <= Self.pauses.count
        {
          usleep(Self.pauses[attempt.failures - 1] * 1000)
        }
      }
    } catch let error as SatchelError
      where error.isAboutStore && attempt.isComplete && (spoolsDuringOtherBatch || !error.isBlockedByBatch)
    {
      try keep(try entry(), because: error, in: database)
      return (result, isSpooled: true)
    }
  }

  /// Runs `body` in a transaction whose changes no entry describes, so that they cannot be spooled: it throws
  /// when the store cannot accept them, or the entries spooled before.
  package func write<Result>(in database: Database, _ body: (Transaction) throws -> Result) throws -> Result {
    try drainSpooled(database)
    return try database.write(body)
  }

  /// Applies spooled entries before a new write, which keeps the order. Does nothing inside a write on the
  /// same thread, where this has been done.
  package func drainSpooled(_ database: Database) throws {
    if !database.isInTransaction, outboxFile?.isPending == true { try drain(in: database) }
  }

  /// Appends an entry to the outbox file, and notifies the host.
  private func keep(_ entry: JSONValue, because cause: SatchelError, in database: Database) throws {
    guard let outboxFile else { throw cause }
    do {
      _ = try outboxFile.append(try naming("entry") { try entry.serialized() })
    } catch let second as SatchelError {
      throw SatchelError(
        cause.code, "\(cause.message); and writing it to the outbox file failed as well: \(second.message)",
        underlying: second)
    }
    database.notify(.spooled, of: subject(of: entry))
  }

  /// Applies an entry according to its kind.
  package func apply(_ entry: JSONValue, in transaction: Transaction, of database: Database) throws {
    guard let member = entry.objectValue?.first, entry.objectValue?.count == 1 else {
      throw SatchelError(.invalid, "an entry must be an object with one member")
    }
    let isComplete = completeKinds()
    guard let apply = kinds.withLock({ $0[member.key]?.apply }) else {
      guard isComplete else { throw SatchelError(.closed, "\(database.path): the store was released") }
      throw SatchelError(.invalid, "unknown kind of entry: “\(member.key)”")
    }
    try apply(member.value, transaction, database)
  }
}

/// The attempts of one write: what may follow a failed one depends on how far its body ran.
struct OutboxAttempt {
  private enum Progress { case notRun, failed, done }

  private let repeatsBody: Bool
  private var progress = Progress.notRun
  private(set) var failures = 0

  init(repeatsBody: Bool) { self.repeatsBody = repeatsBody }

  /// Whether the entry describes the whole write: a body that runs only once builds it while it runs.
  var isComplete: Bool { repeatsBody || progress == .done }

  var mayRunAgain: Bool { repeatsBody || progress != .failed }

  /// Makes one attempt.
  ///
  /// - Parameter apply: writes the same by applying the entry, for a body that has completed
  mutating func run(
    in database: Database, _ body: (Transaction) throws -> Void,
    otherwise apply: (Transaction) throws -> Void
  ) throws {
    do {
      if !repeatsBody, progress == .done { return try database.write(apply) }
      try database.write { transaction in
        progress = .failed
        try body(transaction)
        progress = .done
      }
    } catch {
      failures += 1
      throw error
    }
  }
}

/// The outcome of a write: the body's result, nil when it did not run to completion; and whether the entry is in the outbox
/// file and not yet in the store.
package typealias OutboxOutcome<Result> = (result: Result?, isSpooled: Bool)
