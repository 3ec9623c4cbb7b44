/// Something that must not happen.
package struct SimulationViolation: Error, CustomStringConvertible {
  package var description: String

  package init(description: String) { self.description = description }
}
