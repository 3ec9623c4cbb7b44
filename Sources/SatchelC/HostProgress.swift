import CSatchel
import Satchel
import Synchronization

/// Tells a host how far long work has come, one call at a time, and hears whether to go on. Work that is stuck tells
/// nothing, but asks whether it is cancelled: then the host hears the last progress again, so that it can say so.
final class HostProgress: Sendable {
  private struct State {
    /// What was told last; nil before the first progress.
    var told: [UInt8]?
    /// When, by `Clock.monotonic`.
    var time: Int64 = 0
  }

  /// How long the host may hear nothing, in milliseconds.
  private static let silence: Int64 = 200

  private let hear: satchel_progress_callback?
  // Only handed back to the host.
  nonisolated(unsafe) private let context: UnsafeMutableRawPointer?
  private let state = Mutex(State())
  private let cancelled = Atomic(false)

  /// - Parameter hear: nil when the host does not care
  init(_ hear: satchel_progress_callback?, _ context: UnsafeMutableRawPointer?) {
    self.hear = hear
    self.context = context
  }

  var cancellation: Cancellation { hear == nil ? .never : Cancellation { self.isCancelled() } }

  /// Tells the host, which may say that it wants no more.
  ///
  /// - Returns: whether to go on
  func report(_ progress: JSONValue) -> Bool {
    guard hear != nil else { return true }
    // Made by the library: it cannot hold a number that JSON has no form for.
    let text = try? progress.serialized()
    state.withLock { state in
      state.told = text ?? state.told
      tell(&state)
    }
    return !cancelled.load(ordering: .relaxed)
  }

  private func isCancelled() -> Bool {
    if cancelled.load(ordering: .relaxed) { return true }
    // Whoever holds the lock is telling the host at this moment.
    _ = state.withLockIfAvailable { state in
      if Clock.monotonic.now() - state.time >= Self.silence { tell(&state) }
    }
    return cancelled.load(ordering: .relaxed)
  }

  private func tell(_ state: inout State) {
    guard let hear, let told = state.told, !cancelled.load(ordering: .relaxed) else { return }
    let goesOn = told.withUnsafeBytes { told in
      HostWork.calling("a progress callback") {
        hear(context, satchel_bytes(data: told.baseAddress, size: told.count))
      }
    }
    state.time = Clock.monotonic.now()
    if !goesOn { cancelled.store(true, ordering: .relaxed) }
  }
}
