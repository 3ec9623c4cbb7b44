import SatchelRemote

/// One schedule: some devices that edit and sync, one remote, and the faults between them, all drawn from a
/// seed. Each subject defines the content of its devices and the invariants.
package protocol SimulatedWorld: AnyObject, Sendable {
  associatedtype Device: SimulatedDevice

  var stage: SimulationStage { get }
  var devices: [Device] { get }
  /// The steps of the schedule; nil for random ones.
  var script: SimulationScript<Self>? { get }
  /// The number of syncs of each device, without faults, after which all devices have converged.
  var rounds: Int { get }

  /// Changes something on a device, possibly during its sync.
  func edit(_ device: Device) throws
  /// Resolves a conflict, as the host would.
  ///
  /// - Returns: whether there was a conflict
  func decide(_ device: Device) throws -> Bool
  /// Runs a whole sync on the device's fiber.
  func perform(
    _ device: Device, _ sync: SimulationSync<Device.Report>, over connection: SimulatedConnection<Self>
  ) throws -> Device.Report

  /// May change the remote without a device.
  func disturb() throws
  /// Whether listings include ETags.
  var listsETags: Bool { get }
  /// The number of entries of a listing's page.
  var pageSize: Int { get }
  /// Whether a read may return the previous version.
  func mayBeStale(_ key: ObjectKey) -> Bool
  /// Describes a new version for the history.
  func describe(_ key: ObjectKey, _ body: [UInt8]) -> String

  // The invariants; each check throws a `SimulationViolation`.

  /// Checks a write of a device.
  func checkWrite(_ device: Device, _ key: ObjectKey, old: SimulatedRemote.Version?, new: [UInt8]) throws
  /// Checks a device that is not syncing.
  func check(_ device: Device) throws
  /// Checks the report of an uninterrupted sync.
  ///
  /// - Parameter isCalm: there was nothing to do
  func check(_ report: Device.Report, of device: Device, isCalm: Bool) throws
  /// Checks at the end that all devices and the remote are equal.
  func checkConvergence() throws
}

extension SimulatedWorld {
  package var remote: SimulatedRemote { stage.remote }

  package var script: SimulationScript<Self>? { nil }

  package func decide(_ device: Device) throws -> Bool { false }

  package func disturb() throws {}

  package var listsETags: Bool { false }

  package var pageSize: Int { 2 }

  package func mayBeStale(_ key: ObjectKey) -> Bool { true }
}
