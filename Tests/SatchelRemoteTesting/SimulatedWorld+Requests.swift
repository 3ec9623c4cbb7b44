import SatchelRemote
import SatchelStorage

/// What a sync calls.
extension SimulatedWorld {
  package typealias Sync = SimulationSync<Device.Report>

  /// Waits for the device's turn, and draws what happens.
  func request(_ device: Device, _ sync: Sync, _ name: String) throws(ObjectStoreError) -> SimulationFault? {
    if sync.isCrashed { throw ObjectStoreError(.failed(.internal), "the device has crashed") }
    device.fiber.pause()
    stage.master.tick()
    let fault = stage.drawFault()
    switch fault {
    case .crashBefore, .crashAfter: sync.isCrashed = true
    case .cancel: sync.isCancelled = true
    default: break
    }
    stage.note("device \(device.number): \(name)" + (fault.map { " -> \($0)" } ?? ""))
    return fault
  }

  /// A call of the ledger: a device that has crashed does nothing more.
  package func step<Value>(
    _ device: Device, _ sync: Sync, _ name: String, _ body: () throws -> Value
  ) throws -> Value {
    let crashed = SatchelError(.internal, "the device has crashed")
    if sync.isCrashed { throw crashed }
    if stage.setting.pausesAtLedger { device.fiber.pause() }
    if stage.drawCrash() { sync.isCrashed = true }
    stage.note("device \(device.number):   \(name)" + (sync.isCrashed ? " -> crash" : ""))
    if sync.isCrashed { throw crashed }
    return try body()
  }

  func put(
    _ device: Device, _ key: ObjectKey, _ body: [UInt8], _ condition: ObjectCondition,
    _ metadata: ObjectMetadata
  ) throws(ObjectStoreError) -> ETag {
    let old = master.current(key)
    let etag = try stage.master.put(key, body, condition, metadata)
    stage.note("  the master has \(describe(key, body)) now")
    do {
      try checkLanding(device, key, old: old, new: body)
    } catch {
      stage.fail(error)
    }
    return etag
  }

  func putLater(
    _ device: Device, _ key: ObjectKey, _ body: [UInt8], _ condition: ObjectCondition,
    _ metadata: ObjectMetadata
  ) {
    stage.delay(device) { [self] in
      stage.master.tick()
      stage.note("what device \(device.number) sent arrives late: PUT \(key)")
      _ = try? put(device, key, body, condition, metadata)
    }
  }
}
