import SatchelJSON
import SatchelRemote

/// One device of a simulation.
package protocol SimulatedDevice: AnyObject, Sendable {
  associatedtype Report: SimulatedReport
  var number: Int { get }
  var fiber: SimulationFiber { get }
  /// The running sync.
  var sync: SimulationSync<Report>? { get set }
}

/// The report of a sync.
package protocol SimulatedReport: Sendable {
  var json: JSONValue { get }
}

/// One sync of a device, until it ends or crashes.
// Unchecked: only the thread whose turn it is accesses it.
package final class SimulationSync<Report: SimulatedReport>: @unchecked Sendable {
  package internal(set) var isCrashed = false
  var isCancelled = false
  /// The request that the device makes when it is resumed; nil before the first one.
  var next: String?
  var result: Result<Report, any Error>?

  package var cancellation: Cancellation { Cancellation { self.isCancelled || self.isCrashed } }

  var outcome: String {
    switch result {
    case .success(let report): (try? report.json.text) ?? "a report that is not JSON"
    case .failure(let error): "\(error)"
    case nil: "nothing"
    }
  }
}
