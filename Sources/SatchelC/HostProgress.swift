import CSatchel
import Satchel
import Synchronization

/// Calls the host's progress callback, one call at a time; the callback returns whether to continue.
///
/// Work that makes no progress still checks for cancellation; that check repeats the last progress to the
/// host after `repeatInterval`, so that the host can cancel work that is stuck.
final class HostProgress: Sendable {
  private struct State {
    /// The last progress as JSON; nil before the first.
    var lastProgress: [UInt8]?
    /// The time of the last call, by `Clock.monotonic`.
    var lastCall: Int64 = 0
  }

  /// The maximum time without a call while the work checks for cancellation, in milliseconds.
  private static let repeatInterval: Int64 = 200

  private let callback: satchel_progress_callback?
  // Only passed back to the host.
  nonisolated(unsafe) private let context: UnsafeMutableRawPointer?
  private let state = Mutex(State())
  private let cancelled = Atomic(false)

  /// - Parameter callback: nil when the host passed none
  init(_ callback: satchel_progress_callback?, _ context: UnsafeMutableRawPointer?) {
    self.callback = callback
    self.context = context
  }

  /// The cancellation that the host requests through the callback.
  var cancellation: Cancellation { callback == nil ? .never : Cancellation { self.isCancelled() } }

  /// Reports progress to the host.
  ///
  /// - Returns: false when the host cancelled the work
  func report(_ progress: JSONValue) -> Bool {
    guard callback != nil else { return true }
    // Cannot fail: the library's own values contain no number that JSON cannot represent.
    let text = try? progress.serialized()
    state.withLock { state in
      state.lastProgress = text ?? state.lastProgress
      notify(&state)
    }
    return !cancelled.load(ordering: .relaxed)
  }

  private func isCancelled() -> Bool {
    if cancelled.load(ordering: .relaxed) { return true }
    // When the lock is taken, another thread is calling the host now.
    _ = state.withLockIfAvailable { state in
      if Clock.monotonic.now() - state.lastCall >= Self.repeatInterval { notify(&state) }
    }
    return cancelled.load(ordering: .relaxed)
  }

  private func notify(_ state: inout State) {
    guard let callback, let progress = state.lastProgress, !cancelled.load(ordering: .relaxed) else { return }
    let shouldContinue = progress.withUnsafeBytes { progress in
      HostWork.calling("a progress callback") {
        callback(context, satchel_bytes(data: progress.baseAddress, size: progress.count))
      }
    }
    state.lastCall = Clock.monotonic.now()
    if !shouldContinue { cancelled.store(true, ordering: .relaxed) }
  }
}
