import SatchelCore
import SatchelStorage

import SatchelRemote
@testable import SatchelSync

/// The remote of a simulation, with all heads that it ever had.
// Unchecked: the scheduler and the fibers take turns.
final class SyncSimulationRemote: @unchecked Sendable {
  struct Object {
    var body: [UInt8]
    var etag: String
    var metadata: ObjectMetadata
  }

  enum Write {
    case put(key: String, body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata)
    case delete(key: String)
  }

  let headKey = "records/somebody/head"
  var objects: [String: Object] = [:]
  /// Heads, for stale answers.
  private(set) var heads: [Object] = []
  /// States to which a store may go back.
  private(set) var past: [[String: Object]] = []
  private var late: [(time: Int, write: Write, device: Int, isRekey: Bool)] = []
  private var count = 0
  /// ETags of damaged heads.
  private var damaged: Set<String> = []

  func packKey(_ name: String) -> String { "records/somebody/p/\(name)" }

  func remember() { past.append(objects) }

  func delay(_ write: Write, _ device: Int, until time: Int, isRekey: Bool) {
    late.append((time, write, device, isRekey))
  }

  /// Replaces the head by what is left of it.
  func damage(_ head: Object) {
    count += 1
    objects[headKey] = Object(body: head.body, etag: "\"\(count)\"", metadata: head.metadata)
    damaged.insert("\"\(count)\"")
  }

  /// Writes that take effect after their senders have stopped waiting.
  func takeLate(_ world: SyncSimulation, all: Bool = false) {
    let due = late.filter { all || $0.time <= world.time }
    late.removeAll { all || $0.time <= world.time }
    for (_, write, device, isRekey) in due {
      if all, world.random.chance(50) { continue }
      world.note("a late write of device \(device) arrives")
      _ = try? perform(write, world, device, isRekey: isRekey)
    }
  }

  @discardableResult
  func perform(
    _ write: Write, _ world: SyncSimulation, _ device: Int, isRekey: Bool
  ) throws(ObjectStoreError) -> ETag? {
    switch write {
    case .delete(let key):
      objects[key] = nil
      return nil
    case .put(let key, let body, let condition, let metadata):
      let old = objects[key]
      var ignoresConditions = world.mutant == .nocas && key == headKey
      if case .ifMatch(let etag) = condition, world.mutant == .nodamagetag {
        ignoresConditions = damaged.contains(etag.text)
      }
      switch condition {
      case .ifAbsent where old != nil && !ignoresConditions:
        throw ObjectStoreError(.preconditionFailed, "\(key): exists")
      case .ifMatch(let etag) where etag.text != old?.etag && !ignoresConditions:
        throw ObjectStoreError(old == nil ? .notFound : .preconditionFailed, "\(key): was changed")
      default: break
      }
      count += 1
      let new = Object(body: body, etag: "\"\(count)\"", metadata: metadata)
      objects[key] = new
      if key == headKey {
        heads.append(new)
        var expected: String?
        if case .ifMatch(let etag) = condition { expected = etag.text }
        world.checkHead(new, old, expected: expected, isRekey: isRekey, device)
      }
      return ETag(new.etag)
    }
  }
}

/// The connection of one sync: each request waits for its turn, and may have a fault.
struct SyncSimulationConnection: DatedObjectStore {
  private enum Fault: CaseIterable { case crashBefore, crashAfter, lostBefore, lostAfter, late, odd }

  let world: SyncSimulation
  let device: SyncSimulationDevice
  let sync: SyncSimulationDevice.Sync

  var date: Int64? { world.hasDate && world.mutant != .oneclock ? world.now : nil }

  private func failure(_ reason: ObjectStoreError.Reason, _ message: String) -> ObjectStoreError {
    ObjectStoreError(reason, message)
  }

  private var crashed: ObjectStoreError { failure(.failed(.internal), "the device has crashed") }

  @discardableResult
  private func perform(_ write: SyncSimulationRemote.Write) throws(ObjectStoreError) -> ETag? {
    try world.remote.perform(write, world, device.number, isRekey: sync.isRekey)
  }

  private func delay(_ write: SyncSimulationRemote.Write, until time: Int) {
    world.remote.delay(write, device.number, until: time, isRekey: sync.isRekey)
  }

  /// Waits for the turn, and draws a fault.
  private func begin(_ name: String) throws(ObjectStoreError) -> Fault? {
    if sync.isCrashed { throw crashed }
    sync.waiting = name
    device.fiber.pause()
    sync.waiting = nil
    if sync.isCrashed || world.violation != nil { throw crashed }
    sync.requests += 1
    let fault = world.random.below(1000) < world.rate ? world.random.pick(Fault.allCases) : nil
    world.note("device \(device.number): \(name)\(fault.map { " -> \($0)" } ?? "")")
    if fault == .crashBefore {
      sync.isCrashed = true
      throw crashed
    }
    return fault
  }

  private func end(_ fault: Fault?, isWrite: Bool) throws(ObjectStoreError) {
    if fault == .crashAfter {
      sync.isCrashed = true
      throw crashed
    }
    if fault == .lostAfter {
      throw failure(isWrite ? .unknownOutcome(retryAfter: nil) : .transient(retryAfter: nil), "no answer")
    }
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let fault = try begin("GET \(key)")
    if fault == .lostBefore || fault == .late { throw failure(.transient(retryAfter: nil), "no answer") }
    let isHead = key.text == world.remote.headKey
    var object = world.remote.objects[key.text]
    if fault == .odd {
      let stale = world.remote.heads.suffix(4)
      object = isHead && object != nil && stale.count > 1 ? world.random.pick(Array(stale)) : nil
    }
    guard let object, let etag = ETag(object.etag) else { throw failure(.notFound, "\(key): does not exist") }
    try end(fault, isWrite: false)
    if etag == known { return .notModified }
    var body = object.body
    if world.random.below(3000) < world.rate { body.removeLast(min(7, body.count)) }
    if isHead { body = readHead(body) }
    return .object(StoredObject(body: body, etag: etag, metadata: isHead ? .none : object.metadata))
  }

  /// The head as this sync sees it.
  private func readHead(_ body: [UInt8]) -> [UInt8] {
    guard var head = try? SyncHead(parsing: body) else { return body }
    sync.head = head
    guard world.mutant == .ignoregc else { return body }
    head.fence = 0
    return head.serialized()
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    let fault = try begin("PUT \(key)")
    let write = SyncSimulationRemote.Write.put(
      key: key.text, body: body, condition: condition, metadata: metadata)
    if fault == .lostBefore || fault == .late {
      if fault == .late {
        delay(write, until: world.time + 1 + world.random.below(40))
      }
      throw failure(.unknownOutcome(retryAfter: nil), "no answer")
    }
    if sync.hasLateWrite {
      sync.hasLateWrite = false
      delay(write, until: world.time)
      throw failure(.unknownOutcome(retryAfter: nil), "no answer")
    }
    let isHead = key.text == world.remote.headKey
    if world.mutant == .headfirst, !isHead, let etag = ETag("\"held-back\"") {
      sync.heldBack.append((key.text, body, metadata))
      return etag
    }
    let etag = try perform(write)
    sync.hasUploaded = sync.hasUploaded || !isHead
    for (key, body, metadata) in sync.heldBack where isHead {
      try perform(.put(key: key, body: body, condition: .ifAbsent, metadata: metadata))
    }
    try end(fault, isWrite: true)
    guard let etag else { throw failure(.failed(.internal), "no ETag") }
    return etag
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    throw failure(.failed(.internal), "a sync asks for no sizes")
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    let fault = try begin("DELETE \(key)")
    if fault == .late {
      delay(.delete(key: key.text), until: world.time + 1 + world.random.below(40))
    }
    if fault == .lostBefore || fault == .late { throw failure(.unknownOutcome(retryAfter: nil), "no answer") }
    try perform(.delete(key: key.text))
    try end(fault, isWrite: true)
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    let fault = try begin("LIST")
    if fault == .lostBefore || fault == .late { throw failure(.transient(retryAfter: nil), "no answer") }
    var keys = world.remote.objects.keys.filter { $0.hasPrefix(prefix.text) }.sorted()
    // A listing may show too little.
    if fault == .odd, !keys.isEmpty { keys.remove(at: world.random.below(keys.count)) }
    if world.mutant == .nofence, let head = sync.head {
      let named = Set((head.packs.map(\.name) + head.retired).map { world.remote.packKey($0) })
      for key in keys where !named.contains(key) { world.remote.objects[key] = nil }
    }
    try end(fault, isWrite: false)
    var entries: [ObjectPage.Entry] = []
    for key in keys {
      guard let object = world.remote.objects[key] else { continue }
      entries.append(ObjectPage.Entry(key: try ObjectKey(key), size: Int64(object.body.count), etag: nil))
    }
    return ObjectPage(entries: entries)
  }
}
