import SatchelRemote
import SatchelCore
import SatchelStorage

/// The calls of a sync.
extension SimulatedWorld {
  package typealias Sync = SimulationSync<Device.Report>

  /// Waits for the device's turn, and draws the request's fault.
  func request(_ device: Device, _ sync: Sync, _ name: String) throws(ObjectStoreError) -> SimulationFault? {
    if sync.isCrashed { throw ObjectStoreError(.failed(.internal), "the device has crashed") }
    sync.next = name
    device.fiber.pause()
    stage.remote.tick()
    let fault = stage.drawFault()
    switch fault {
    case .crashBefore, .crashAfter: sync.isCrashed = true
    case .cancel: sync.isCancelled = true
    default: break
    }
    stage.note("device \(device.number): \(name)" + (fault.map { " -> \($0)" } ?? ""))
    return fault
  }

  /// A call of the ledger; throws after the device has crashed.
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
    let old = remote.current(key)
    let etag = try stage.remote.put(key, body, condition, metadata)
    stage.note("  the remote has \(describe(key, body)) now")
    do {
      try checkWrite(device, key, old: old, new: body)
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
      stage.remote.tick()
      stage.note("a late write of device \(device.number) takes effect: PUT \(key)")
      _ = try? put(device, key, body, condition, metadata)
    }
  }
}
