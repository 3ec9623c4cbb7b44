import SatchelJSON
import SatchelStorage

/// Writes that are not lost when the store cannot take them: they are tried again, go to a spill file beside
/// the store, and are taken in, in order and exactly once, as soon as that is possible.
///
/// Knows neither records nor state: who writes says how entries of its kind are applied. One per store; it
/// keeps no hold of the store. Safe to use from any number of threads, and beside other processes.
package final class Journal: Sendable {
  /// Applies what stands in an entry under its kind.
  package typealias Apply =
    @Sendable (
      _ entry: JSONValue, _ transaction: Transaction, _ database: Database
    ) throws -> Void

  /// Waits before the second, third and fourth try, in milliseconds.
  static let pauses: [UInt32] = [20, 100, 400]

  /// Nil for a store in memory.
  let spill: SpillFile?
  /// Held while entries are taken in, so that two threads do not do the same work.
  let replaying = Monitor()
  private let kinds = Guarded<[String: Apply]>([:])

  /// - Parameter path: the store's; what is in memory only has no spill file
  package init(path: String) {
    spill = path == ":memory:" ? nil : SpillFile(store: path)
  }

  /// For tests: with a spill file that fails at will.
  init(spill: SpillFile?) { self.spill = spill }

  /// Says how entries of a kind are applied.
  ///
  /// What it throws as `.invalid`, `.notFound`, `.foreign` or `.internal` refuses the entry for good; other
  /// errors mean that the store cannot take it now.
  package func register(_ kind: String, apply: @escaping Apply) {
    kinds.withLock { $0[kind] = apply }
  }

  /// Runs `body` in a transaction, or keeps the entry in the spill file when the store cannot take it.
  ///
  /// Inside a write of the same thread, or a batch, it is a part of that, and nothing more: the whole is what may be
  /// spilled.
  ///
  /// - Parameters:
  ///   - entry: the change as an object of one member, its kind; asked for only when it is needed -
  ///   repeatsBody: whether `body` may run more than once. If not, a commit that fails is tried again by
  ///   applying
  ///     the entry.
  ///   - spillsBesideBatch: whether it is kept, too, when another batch of this process is open for too long; else that
  ///     is an error of the caller's
  /// - Throws: what `body` throws; `.full`, `.io` and the like when the spill file failed too: the message
  ///   says both causes.
  package func perform<Result>(
    in database: Database, entry: () throws -> JSONValue, repeatsBody: Bool = true,
    spillsBesideBatch: Bool = false, _ body: (Transaction) throws -> Result
  ) throws -> JournalOutcome<Result> {
    if database.isWriting || database.options.isReadOnly {
      return JournalOutcome(result: try database.write(body), isSpilled: false)
    }
    var attempt = JournalAttempt<Result>(repeatsBody: repeatsBody)
    do {
      try takeInSpilled(database)
      while true {
        do {
          let result = try attempt.run(in: database, body) { try apply(entry(), in: $0, of: database) }
          return JournalOutcome(result: result, isSpilled: false)
        } catch let error as SatchelError
          where error.isTransient && attempt.mayRunAgain && attempt.failures <= Self.pauses.count
        {
          usleep(Self.pauses[attempt.failures - 1] * 1000)
        }
      }
    } catch let error as SatchelError
      where error.isAboutStore && attempt.isWhole && (spillsBesideBatch || !error.isBesideBatch)
    {
      try keep(try entry(), because: error, in: database)
      return JournalOutcome(result: attempt.result, isSpilled: true)
    }
  }

  /// Runs `body` in a transaction whose changes no entry describes, so that they cannot be spilled: where the store
  /// cannot take them, or what was spilled before, the error is the caller's.
  package func write<Result>(in database: Database, _ body: (Transaction) throws -> Result) throws -> Result {
    try takeInSpilled(database)
    return try database.write(body)
  }

  /// What was spilled before comes before what is written now, or the order would be lost. Inside a write of the same
  /// thread that has been seen to.
  package func takeInSpilled(_ database: Database) throws {
    if !database.isWriting, spill?.isPending == true { try replay(in: database) }
  }

  /// Puts an entry into the spill file, and tells the host.
  private func keep(_ entry: JSONValue, because cause: SatchelError, in database: Database) throws {
    guard let spill else { throw cause }
    do {
      _ = try spill.append(try naming("entry") { try entry.serialized() })
    } catch let second as SatchelError {
      throw SatchelError(
        cause.code, "\(cause.message); and the spill file could not take it either: \(second.message)",
        underlying: second)
    }
    database.tell(subject: "records", keys: ["@spilled"])
  }

  /// Applies an entry by its kind.
  func apply(_ entry: JSONValue, in transaction: Transaction, of database: Database) throws {
    guard let member = entry.objectValue?.first, entry.objectValue?.count == 1 else {
      throw SatchelError(.invalid, "an entry is an object of one member")
    }
    guard let apply = kinds.withLock({ $0[member.key] }) else {
      throw SatchelError(.invalid, "no entries of the kind “\(member.key)” are known")
    }
    try apply(member.value, transaction, database)
  }
}
