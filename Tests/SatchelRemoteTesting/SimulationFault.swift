/// A fault of a request in a simulation.
package enum SimulationFault: Sendable, CaseIterable {
  /// The device crashes, before or after the request took effect.
  case crashBefore, crashAfter
  /// No response, or 500; with and without the effect.
  case timeoutBefore, timeoutAfter
  /// No response; the write takes effect later, if its condition is met then.
  case timeoutLater
  /// 409.
  case conflict
  /// 412, although it took effect.
  case preconditionAfter
  /// 404 for an object that exists.
  case missing
  /// The body ends early, or is changed.
  case truncated, corrupted
  /// The previous version is returned.
  case stale
  /// The caller cancels.
  case cancel
}
