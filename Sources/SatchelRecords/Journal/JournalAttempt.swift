import SatchelStorage

/// The tries of one write: what may be done after one that failed depends on how far its body came.
struct JournalAttempt<Result> {
  private enum Progress { case notRun, failed, done }

  private let repeatsBody: Bool
  private var progress = Progress.notRun
  /// What the body gave when it came to its end.
  private(set) var result: Result?
  private(set) var failures = 0

  init(repeatsBody: Bool) { self.repeatsBody = repeatsBody }

  /// Whether the entry says all that was to be written: what is run only once says it while it runs.
  var isWhole: Bool { repeatsBody || progress == .done }

  var mayRunAgain: Bool { repeatsBody || progress != .failed }

  /// One try.
  ///
  /// - Parameter apply: writes the same by way of the entry, for a body that has done its part
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
