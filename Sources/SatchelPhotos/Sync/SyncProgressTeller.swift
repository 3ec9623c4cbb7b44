import SatchelRemote
import SatchelStorage

/// Tells a caller how far a sync has come, one call at a time, and hears whether to go on.
final class SyncProgressTeller: Sendable {
  private struct State {
    var progress = SyncProgress(phase: .plan, shardsDone: 0, shardsTotal: 0, bytesUp: 0, bytesDown: 0)
    var isCancelled = false
  }

  private let state = Guarded(State())
  private let meter: MeteredStore
  private let callback: (@Sendable (SyncProgress) -> Bool)?

  init(_ meter: MeteredStore, _ callback: (@Sendable (SyncProgress) -> Bool)?) {
    self.meter = meter
    self.callback = callback
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func tell(_ phase: SyncProgress.Phase) throws { try tell { $0.phase = phase } }

  /// Begins a phase with so many shards more.
  func begin(_ phase: SyncProgress.Phase, total: Int) throws {
    try tell {
      $0.phase = phase
      $0.shardsTotal += total
    }
  }

  func finishShard() throws { try tell { $0.shardsDone += 1 } }

  private func tell(_ change: (inout SyncProgress) -> Void) throws {
    let goesOn = state.withLock { state in
      let traffic = meter.traffic
      change(&state.progress)
      state.progress.bytesUp = traffic.bytesUp
      state.progress.bytesDown = traffic.bytesDown
      if !state.isCancelled, let callback { state.isCancelled = !callback(state.progress) }
      return !state.isCancelled
    }
    guard goesOn else { throw SatchelError(.cancelled, "cancelled by the caller") }
  }
}
