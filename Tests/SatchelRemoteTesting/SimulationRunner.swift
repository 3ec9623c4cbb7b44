/// Runs schedules one after the other, and reuses the fibers, because creating them takes longer than a
/// schedule.
// Unchecked: used by one thread, and by fibers that run only while it waits.
package final class SimulationRunner: @unchecked Sendable {
  private var fibers: [SimulationFiber] = []
  /// The number of the running schedule, counted from 1.
  package private(set) var number = 0

  package func fiber(_ number: Int) -> SimulationFiber {
    while fibers.count <= number { fibers.append(SimulationFiber()) }
    return fibers[number]
  }

  /// Runs one schedule.
  ///
  /// - Returns: the history, if it is recorded
  @discardableResult
  func run(_ make: (SimulationRunner) throws -> some SimulatedWorld) throws -> [String] {
    number += 1
    let world = try make(self)
    do {
      try world.run()
    } catch {
      world.abandon()
      guard world.stage.history != nil else { throw error }
      world.stage.note("VIOLATION: \(error)")
    }
    return world.stage.history ?? []
  }

  func end() {
    for fiber in fibers { fiber.stop() }
    fibers = []
  }
}
