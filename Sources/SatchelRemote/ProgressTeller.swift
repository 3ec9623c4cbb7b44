import SatchelStorage

/// Tells a caller how far a sync has come, one call at a time, and hears whether to go on.
package final class ProgressTeller<Progress: TransferProgress>: Sendable {
  private struct State {
    var progress: Progress
    var isCancelled = false
  }

  private let state: Guarded<State>
  private let meter: MeteredStore
  private let callback: (@Sendable (Progress) -> Bool)?

  /// - Parameters:
  ///   - progress: before anything is done
  ///   - meter: counts the bytes
  package init(_ progress: Progress, _ meter: MeteredStore, _ callback: (@Sendable (Progress) -> Bool)?) {
    state = Guarded(State(progress: progress))
    self.meter = meter
    self.callback = callback
  }

  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// - Throws: `SatchelError` (`cancelled`) once the caller wants no more
  package func tell(_ change: (inout Progress) -> Void) throws {
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
