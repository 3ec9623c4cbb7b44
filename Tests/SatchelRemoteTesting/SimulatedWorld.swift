import SatchelRemote

/// One schedule: some devices that edit and sync, one master, and the faults between them, all drawn from a seed. What
/// the devices keep, and what must hold of it, is what a subject has to say.
package protocol SimulatedWorld: AnyObject, Sendable {
  associatedtype Device: SimulatedDevice

  var stage: SimulationStage { get }
  var devices: [Device] { get }
  /// So many syncs of each device, without faults, lead to agreement.
  var rounds: Int { get }

  /// A change on a device; those of one that syncs come in between.
  func edit(_ device: Device) throws
  /// The host decides about something that waits for it.
  ///
  /// - Returns: whether there was anything
  func decide(_ device: Device) throws -> Bool
  /// A whole sync, on the device's fiber.
  func perform(
    _ device: Device, _ sync: SimulationSync<Device.Report>, over line: SimulationLine<Self>
  ) throws -> Device.Report

  /// Something may happen to the master without a device.
  func disturb() throws
  /// Whether listings show tags.
  var listsTags: Bool { get }
  /// How many entries a page of a listing has.
  var pageSize: Int { get }
  /// Whether readers may see the version before the present one.
  func mayLag(_ key: ObjectKey) -> Bool
  /// A new version for the history.
  func describe(_ key: ObjectKey, _ body: [UInt8]) -> String

  // What must hold, whatever happens; each throws a `SimulationViolation`.

  /// Of what a device puts there.
  func checkLanding(_ device: Device, _ key: ObjectKey, old: SimulationMaster.Version?, new: [UInt8]) throws
  /// Of a device that does not sync.
  func check(_ device: Device) throws
  /// Of a sync that nobody disturbed.
  ///
  /// - Parameter isCalm: there was nothing to do
  func check(_ report: Device.Report, of device: Device, isCalm: Bool) throws
  /// Of all, in the end.
  func checkAgreement() throws
}

extension SimulatedWorld {
  package var master: SimulationMaster { stage.master }

  package func decide(_ device: Device) throws -> Bool { false }

  package func disturb() throws {}

  package var listsTags: Bool { false }

  package var pageSize: Int { 2 }

  package func mayLag(_ key: ObjectKey) -> Bool { true }
}
