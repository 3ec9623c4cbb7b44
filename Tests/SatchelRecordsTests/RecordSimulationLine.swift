import SatchelRemote
import SatchelRemoteTesting

@testable import SatchelRecords

/// The line between a device and the master: each request waits for its turn, and takes the fault that chance gives.
struct RecordSimulationLine: ObjectStore {
  let world: RecordSimulationWorld
  let device: RecordSimulationDevice
  let sync: RecordSimulationSync

  private func failure(_ reason: ObjectStoreError.Reason, _ fault: SimulationFault?) -> ObjectStoreError {
    ObjectStoreError(reason, fault.map { "injected: \($0)" } ?? "there is none")
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

  private func object(_ key: ObjectKey, _ fault: SimulationFault?) throws(ObjectStoreError) -> StoredObject {
    let version = fault == .stale ? world.master.previous(key) : world.master.current(key)
    guard let version else { throw failure(.notFound, nil) }
    return version.object
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let fault = try reading("GET", key)
    var object = try object(key, fault)
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
    return try object(key, fault).head
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    let fault = try world.request(device, sync, "PUT \(key) \(condition)")
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

  /// In pages of two, each as the master is at that moment.
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
    let after = try continuation.map { after throws(ObjectStoreError) in try ObjectKey(after.text) }
    var keys = world.master.versions.keys.filter { key in
      key.text.hasPrefix(prefix.text) && after.map { $0 < key } != false
    }.sorted()[...]
    let next = keys.count > 2 ? keys.dropFirst().first.map { ObjectPage.Continuation($0.text) } : nil
    keys = keys.prefix(2)
    if fault == .missing, !keys.isEmpty { keys.removeFirst() }
    var entries: [ObjectPage.Entry] = []
    for key in keys {
      let version = (fault == .stale ? world.master.previous(key) : nil) ?? world.master.current(key)
      guard let object = version?.object else { continue }
      // Some stores do not tell the tag.
      let etag = fault == .corrupted ? nil : object.etag
      entries.append(ObjectPage.Entry(key: key, size: Int64(object.body.count), etag: etag))
    }
    return ObjectPage(entries: entries, next: next)
  }
}
