import SatchelRemote

/// The connection between a device and the remote: each request waits for its turn, and has a random fault.
package struct SimulatedConnection<World: SimulatedWorld>: ObjectStore {
  let world: World
  let device: World.Device
  let sync: World.Sync

  package var listsETags: Bool { world.listsETags }

  private func failure(_ reason: ObjectStoreError.Reason, _ fault: SimulationFault?) -> ObjectStoreError {
    ObjectStoreError(reason, fault.map { "injected: \($0)" } ?? "the object does not exist")
  }

  private static func name(_ condition: ObjectCondition) -> String {
    switch condition {
    case .none: "unconditionally"
    case .ifAbsent: "if absent"
    case .ifMatch: "if unchanged"
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

  private func object(_ key: ObjectKey, _ fault: SimulationFault?) throws(ObjectStoreError) -> StoredObject {
    let isStale = fault == .stale && world.mayBeStale(key)
    let version = isStale ? world.remote.previous(key) : world.remote.current(key)
    guard let version else { throw failure(.notFound, nil) }
    return version.object
  }

  package func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let fault = try reading("GET", key)
    var object = try object(key, fault)
    if object.etag == known { return .notModified }
    if fault == .truncated { throw failure(.truncated, fault) }
    if fault == .corrupted, !object.body.isEmpty {
      let offset = world.stage.chance(object.body.count)
      object.body[offset] ^= UInt8(1 << world.stage.chance(7))
    }
    return .object(object)
  }

  package func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    let fault = try reading("HEAD", key)
    return try object(key, fault).head
  }

  package func put(
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

  package func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    throw ObjectStoreError(.failed(.internal), "a sync deletes nothing")
  }

  /// Returns small pages, each with the remote's current state.
  package func list(
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
    var keys = world.remote.versions.keys.filter { key in
      key.text.hasPrefix(prefix.text) && after.map { $0 < key } != false
    }.sorted()[...]
    let size = world.pageSize
    let next =
      keys.count > size ? keys.dropFirst(size - 1).first.map { ObjectPage.Continuation($0.text) } : nil
    keys = keys.prefix(size)
    if fault == .missing, let first = keys.first, world.mayBeStale(first) { keys.removeFirst() }
    var entries: [ObjectPage.Entry] = []
    for key in keys {
      let version = (fault == .stale ? world.remote.previous(key) : nil) ?? world.remote.current(key)
      guard let object = version?.object else { continue }
      // Some stores do not include the ETag.
      let etag = fault == .corrupted ? nil : object.etag
      entries.append(ObjectPage.Entry(key: key, size: Int64(object.body.count), etag: etag))
    }
    return ObjectPage(entries: entries, next: next)
  }
}
