/// A violated invariant of a simulation.
package struct SimulationViolation: Error, CustomStringConvertible {
  package var description: String

  package init(description: String) { self.description = description }
}
