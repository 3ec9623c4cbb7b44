import SatchelStorage

/// When contexts were last read. Kept in memory, so that reading does not write, and put into the store with
/// the next prune or when it closes; a crash costs no more than a less exact order of what to forget first.
final class ContextUsage: Sendable {
  private static let most = 65_536
  /// How much less exact the order may be across restarts: an hour.
  private static let slack: Int64 = 3_600_000
  private let times = Guarded<[Int64: Int64]>([:])

  func note(_ context: Int64, at time: Int64) {
    times.withLock { times in
      if times.count >= Self.most { times.removeAll() }
      times[context] = time
    }
  }

  /// Whether the store is behind by so much that closing should write, though nothing else was written.
  func isWorthWriting(_ connection: Connection) throws -> Bool {
    try times.withLock { times in
      try times.contains { context, time in
        try connection.number("SELECT used_at FROM context WHERE id = ?", .integer(context)) < time
          - Self.slack
      }
    }
  }

  func write(in transaction: Transaction) throws {
    let taken = times.withLock { times in
      let taken = times
      times = [:]
      return taken
    }
    for (context, time) in taken.sorted(by: { $0.key < $1.key }) {
      try transaction.connection.run(
        "UPDATE context SET used_at = ? WHERE id = ? AND used_at < ?", .integer(time), .integer(context),
        .integer(time))
    }
  }
}
