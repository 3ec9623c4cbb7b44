/// What may happen to a request of a simulation.
package enum SimulationFault: Sendable, CaseIterable {
  /// The device dies, before or after the request took effect.
  case crashBefore, crashAfter
  /// No answer, or 500; with and without the effect.
  case timeoutBefore, timeoutAfter
  /// No answer; what was to be written is written later, if its condition holds then.
  case timeoutLater
  /// 409.
  case conflict
  /// 412, although it took effect.
  case preconditionAfter
  /// 404 for what is there.
  case missing
  /// The body ends early, or is another one.
  case truncated, corrupted
  /// The version before the present one.
  case stale
  /// The caller gives up.
  case cancel
}
