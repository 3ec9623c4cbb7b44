/// What became of the master's bytes when they were taken.
struct Taken: Sendable, Equatable {
  /// Photos in the bytes.
  var photos: Int64
  /// Lines that are no rows: the master's, which stay in the shard, and those of this side that it replaced.
  var rejected: [RejectedRow]
  /// Photos that were here, and are no more.
  var removed: Int64 = 0
  /// Local changes that lost, and are in the conflict log.
  var conflicts: Int
  /// Whether something is still to be sent.
  var hasChanges: Bool
}
