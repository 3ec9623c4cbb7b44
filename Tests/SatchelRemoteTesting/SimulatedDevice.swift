import SatchelJSON
import SatchelRemote

/// One device of a simulation.
package protocol SimulatedDevice: AnyObject, Sendable {
  associatedtype Report: SimulatedReport
  var number: Int { get }
  var fiber: SimulationFiber { get }
  /// The sync under way.
  var sync: SimulationSync<Report>? { get set }
}

/// What a sync tells of itself.
package protocol SimulatedReport: Sendable {
  var json: JSONValue { get }
}

/// One sync of a device, from its start to its end or its crash.
// Unchecked: the baton sees to it that only one thread at a time touches it.
package final class SimulationSync<Report: SimulatedReport>: @unchecked Sendable {
  package internal(set) var isCrashed = false
  var isCancelled = false
  var result: Result<Report, any Error>?

  package var cancellation: Cancellation { Cancellation { self.isCancelled || self.isCrashed } }

  var outcome: String {
    switch result {
    case .success(let report): (try? report.json.text) ?? "a report that is no JSON"
    case .failure(let error): "\(error)"
    case nil: "nothing"
    }
  }
}
