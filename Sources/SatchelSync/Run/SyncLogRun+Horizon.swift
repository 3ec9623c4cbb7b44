import SatchelCore

/// Moves the horizon, below which tombstones leave the log.
extension SyncLogRun {
  /// Dates the next head by that of the position, and raises its horizon, at most to the position: tombstones up to it
  /// are then dropped by all devices. The age of a head is that by the device's clock or by the remote's, whichever is
  /// less.
  func date(_ head: inout SyncHead, at state: SyncLogState) throws {
    guard let position = state.position, state.headBytes != nil else { return }
    let now = try ledger.now()
    let date = remote.date ?? now
    let pair = SyncTimes.Pair(number: position.number, time: max(now, date))
    head.times.add(pair, interval: sizes.timesInterval)
    let horizon = head.times.horizon(at: min(now, date), retention: sizes.retention)
    head.horizon = max(head.horizon, min(horizon, position.number))
  }

  /// The names of packs with dead entries, the tombstones up to the next head's horizon among them.
  func rewritable(_ head: SyncHead, at state: SyncLogState) throws -> Set<String> {
    var next = head
    try date(&next, at: state)
    let live = try ledger.live(in: head.packs, above: next.horizon)
    let order = SyncCompaction.Order(head.packs, live, horizon: next.horizon)
    return Set(order.rewritable { canRewrite(live[$0]) }.map { head.packs[$0].name })
  }

  /// Whether the live entries of a pack fit into a new one: their frames may be longer than in a segment.
  private func canRewrite(_ live: SyncLiveEntries) -> Bool {
    live.bytes + live.count * 16 + Int64(SyncSeal.overhead) <= SyncPack.maximumSize
  }
}
