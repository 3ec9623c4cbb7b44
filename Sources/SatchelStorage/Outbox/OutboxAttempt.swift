import SatchelCore

/// The attempts of one write: what may follow a failed one depends on how far its body ran.
struct OutboxAttempt<Result> {
  private enum Progress { case notRun, failed, done }

  private let repeatsBody: Bool
  private var progress = Progress.notRun
  /// The body's result, once it has completed.
  private(set) var result: Result?
  private(set) var failures = 0

  init(repeatsBody: Bool) { self.repeatsBody = repeatsBody }

  /// Whether the entry describes the whole write: a body that runs only once builds it while it runs.
  var isComplete: Bool { repeatsBody || progress == .done }

  var mayRunAgain: Bool { repeatsBody || progress != .failed }

  /// Makes one attempt.
  ///
  /// - Parameter apply: writes the same by applying the entry, for a body that has completed
  mutating func run(
    in database: Database, _ body: (Transaction) throws -> Result,
    otherwise apply: (Transaction) throws -> Void
  ) throws -> Result {
    do {
      if !repeatsBody, progress == .done, let result {
        try database.write(apply)
        return result
      }
      return try database.write { transaction in
        progress = .failed
        let result = try body(transaction)
        self.result = result
        progress = .done
        return result
      }
    } catch {
      failures += 1
      throw error
    }
  }
}

/// The outcome of a write.
package struct OutboxOutcome<Result> {
  /// The body's result; nil when it did not run to completion.
  package let result: Result?
  /// Whether the entry is in the outbox file and not yet in the store.
  package let isSpooled: Bool
}

extension OutboxOutcome: Sendable where Result: Sendable {}
