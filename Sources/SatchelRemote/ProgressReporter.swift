import SatchelCore
import SatchelStorage

/// Reports a sync's progress to the caller's callback, one call at a time; the callback returns whether to
/// continue.
package final class ProgressReporter<Progress: TransferProgress>: Sendable {
  private struct State {
    var progress: Progress
    var isCancelled = false
  }

  private let state: Locked<State>
  private let meter: MeteredStore
  private let callback: (@Sendable (Progress) -> Bool)?

  /// - Parameters:
  ///   - progress: the initial progress
  ///   - meter: the source of the byte counts
  package init(_ progress: Progress, _ meter: MeteredStore, _ callback: (@Sendable (Progress) -> Bool)?) {
    state = Locked(State(progress: progress))
    self.meter = meter
    self.callback = callback
  }

  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Changes the progress and reports it.
  ///
  /// - Throws: `SatchelError` (`cancelled`) once the callback has returned false
  package func report(_ change: (inout Progress) -> Void) throws {
    let continues = state.withLock { state in
      change(&state.progress)
      let traffic = meter.traffic
      state.progress.bytesUp = traffic.bytesUp
      state.progress.bytesDown = traffic.bytesDown
      if !state.isCancelled, let callback {
        state.isCancelled = !HostWork.calling("a progress callback") { callback(state.progress) }
      }
      return !state.isCancelled
    }
    guard continues else { throw SatchelError(.cancelled, "cancelled by the caller") }
  }
}

/// The progress of an operation that transfers bodies of objects.
package protocol TransferProgress: Sendable {
  /// Bytes of bodies transferred so far, including repeated attempts.
  var bytesUp: Int64 { get set }
  var bytesDown: Int64 { get set }
}
