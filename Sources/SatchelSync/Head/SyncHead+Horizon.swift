extension SyncHead {
  /// The number up to which entries that a device knows, and that are absent here, were deleted: the device is below
  /// the horizon, and has not read their tombstones. 0 where it has read all tombstones that were dropped, or where
  /// another log has lost something.
  func droppedThrough(from known: Position) -> Int64 {
    if known.log == position.log, known.epoch == position.epoch {
      return known.number < horizon ? horizon : 0
    }
    guard let follows, follows.log == known.log, follows.epoch == known.epoch else { return 0 }
    return min(follows.number, horizon)
  }
}
