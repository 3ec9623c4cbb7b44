import SatchelRemote
import SatchelStorage

/// Tells a caller how far a sync has come, one call at a time, and hears whether to go on.
final class RecordProgressTeller: Sendable {
  private struct State {
    var progress = RecordSyncProgress(phase: .list, recordsDone: 0, recordsTotal: 0, bytesUp: 0, bytesDown: 0)
    var isCancelled = false
  }

  private let state = Guarded(State())
  private let meter: MeteredStore
  private let callback: (@Sendable (RecordSyncProgress) -> Bool)?

  init(_ meter: MeteredStore, _ callback: (@Sendable (RecordSyncProgress) -> Bool)?) {
    self.meter = meter
    self.callback = callback
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func tellListing() throws { try tell { $0.phase = .list } }

  /// So many records more are to be moved.
  func begin(_ count: Int) throws {
    try tell {
      $0.phase = .records
      $0.recordsTotal += count
    }
  }

  func finishRecord() throws { try tell { $0.recordsDone += 1 } }

  private func tell(_ change: (inout RecordSyncProgress) -> Void) throws {
    let goesOn = state.withLock { state in
      change(&state.progress)
      let traffic = meter.traffic
      state.progress.bytesUp = traffic.bytesUp
      state.progress.bytesDown = traffic.bytesDown
      if !state.isCancelled, let callback { state.isCancelled = !callback(state.progress) }
      return !state.isCancelled
    }
    guard goesOn else { throw SatchelError(.cancelled, "cancelled by the caller") }
  }
}
