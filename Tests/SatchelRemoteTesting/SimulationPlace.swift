/// Where schedules run, one after the other: fibers that are used again, because making them takes longer than a
/// schedule.
// Unchecked: used by one thread; the fibers take turns with it.
package final class SimulationPlace: @unchecked Sendable {
  private var fibers: [SimulationFiber] = []
  /// Of the schedule that runs, counted from 1.
  package private(set) var number = 0

  package func fiber(_ number: Int) -> SimulationFiber {
    while fibers.count <= number { fibers.append(SimulationFiber()) }
    return fibers[number]
  }

  /// Runs one schedule. What a violation has left behind is left alone.
  ///
  /// - Returns: everything that happened in it, where that was asked for
  @discardableResult
  func run(_ make: (SimulationPlace) throws -> some SimulatedWorld) throws -> [String] {
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
