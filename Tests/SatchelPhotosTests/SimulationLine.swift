import SatchelRemoteTesting

@testable import SatchelRemote

/// The line between a device and the master: each request waits for its turn, and takes the fault that chance gives.
struct SimulationLine: ObjectStore {
  let world: SimulationWorld
  let device: SimulationDevice
  let sync: SimulationSync

  private func failure(_ reason: ObjectStoreError.Reason, _ fault: SimulationFault?) -> ObjectStoreError {
    ObjectStoreError(reason, fault.map { "injected: \($0)" } ?? "the device has crashed")
  }

  private static func name(_ condition: ObjectCondition) -> String {
    switch condition {
    case .none: "in any case"
    case .ifAbsent: "if absent"
    case .ifMatch: "if the same"
    }
  }

  private func reading(_ name: String, _ key: ObjectKey) throws(ObjectStoreError) -> SimulationFault? {
    let fault = try world.request(device, sync, "\(name) \(key)")
    switch fault {
    case .crashBefore?, .crashAfter?: throw failure(.failed(.internal), fault)
    case .timeoutBefore?, .timeoutAfter?, .timeoutLater?, .conflict?:
      throw failure(.transient(retryAfter: nil), fault)
    case .missing?: throw failure(.notFound, fault)
    default: return fault
    }
  }

  private func version(
    _ key: ObjectKey, _ fault: SimulationFault?
  ) throws(ObjectStoreError) -> SimulationMaster.Version {
    let isStale = fault == .stale && key == world.manifestKey
    guard let version = isStale ? world.master.previous(key) : world.master.current(key) else {
      throw failure(.notFound, nil)
    }
    return version
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let fault = try reading("GET", key)
    var object = try version(key, fault).object
    if object.etag == known { return .notModified }
    if fault == .truncated { throw failure(.truncated, fault) }
    if fault == .corrupted, !object.body.isEmpty {
      let place = world.chance(object.body.count)
      object.body[place] ^= UInt8(1 << world.chance(7))
    }
    return .object(object)
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    let fault = try reading("HEAD", key)
    return try version(key, fault).object.head
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    let fault = try world.request(device, sync, "PUT \(key) \(Self.name(condition))")
    switch fault {
    case .crashBefore?: throw failure(.failed(.internal), fault)
    case .timeoutBefore?, .conflict?: throw failure(.unknownOutcome(retryAfter: nil), fault)
    case .truncated?: throw failure(.transient(retryAfter: nil), fault)
    case .timeoutLater?:
      world.putLater(device, key, body, condition, metadata)
      throw failure(.unknownOutcome(retryAfter: nil), fault)
    default: break
    }
    let etag = try world.put(device, key, body, condition, metadata)
    switch fault {
    case .crashAfter?: throw failure(.failed(.internal), fault)
    case .timeoutAfter?: throw failure(.unknownOutcome(retryAfter: nil), fault)
    case .preconditionAfter?: throw failure(.preconditionFailed, fault)
    default: return etag
    }
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    throw ObjectStoreError(.failed(.internal), "a sync deletes nothing")
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    let fault = try world.request(device, sync, "LIST")
    switch fault {
    case .crashBefore?, .crashAfter?: throw failure(.failed(.internal), fault)
    case .timeoutBefore?, .timeoutAfter?, .truncated?: throw failure(.transient(retryAfter: nil), fault)
    default: break
    }
    let entries = world.master.versions.compactMap { key, versions -> ObjectPage.Entry? in
      guard key.text.hasPrefix(prefix.text), let last = versions.last else { return nil }
      return ObjectPage.Entry(key: key, size: Int64(last.object.body.count), etag: last.object.etag)
    }
    return ObjectPage(entries: entries.sorted { $0.key < $1.key })
  }
}
