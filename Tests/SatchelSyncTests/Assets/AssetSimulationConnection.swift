import SatchelAssets
import SatchelCore

@testable import SatchelRemote
@testable import SatchelSync

/// The connection of one sync: each request waits for its turn, and may have a fault. Without a process, requests take no
/// turns.
// Unchecked: one fiber uses it, or the scheduler.
final class AssetSimulationConnection: MultipartStore, DatedObjectStore, @unchecked Sendable {
  private enum Fault: CaseIterable { case crashBefore, crashAfter, lostBefore, lostAfter, late, odd }

  let world: AssetSimulation
  let device: AssetSimulationDevice
  let process: AssetSimulationProcess?
  private var remote: AssetSimulationRemote { world.remote }
  /// Uploads that are held back, and what this sync has written.
  private var heldBack: [AssetSimulationRemote.Write] = []
  private var written: Set<String> = []

  init(_ world: AssetSimulation, _ device: AssetSimulationDevice, _ process: AssetSimulationProcess?) {
    (self.world, self.device, self.process) = (world, device, process)
  }

  var date: Int64? { world.hasDate ? world.now(0) : nil }
  var transferLimits: TransferLimits {
    TransferLimits(object: 1 << 40, whole: remote.takesParts ? 1100 : 1 << 40, part: 1024)
  }

  private var crashed: ObjectStoreError { ObjectStoreError(.failed(.internal), "the device has crashed") }

  /// Waits for the turn, and draws a fault.
  private func begin(_ name: String) throws(ObjectStoreError) -> Fault? {
    if process?.isCrashed ?? false { throw crashed }
    process?.waiting = name
    process?.fiber.pause()
    process?.waiting = nil
    if process?.isCrashed ?? false || world.violation != nil { throw crashed }
    let fault = world.random.below(1000) < world.rate ? world.random.pick(Fault.allCases) : nil
    if fault != nil { world.count("faults") }
    world.note("device \(device.number).\(process?.number ?? 0): \(name)\(fault.map { " -> \($0)" } ?? "")")
    if fault == .crashBefore {
      process?.isCrashed = true
      throw crashed
    }
    return fault
  }

  private func end(_ fault: Fault?, isWrite: Bool) throws(ObjectStoreError) {
    if fault == .crashAfter {
      process?.isCrashed = true
      throw crashed
    }
    if fault == .lostAfter { throw lost(isWrite) }
  }

  private func lost(_ isWrite: Bool) -> ObjectStoreError {
    ObjectStoreError(
      isWrite ? .unknownOutcome(retryAfter: nil) : .transient(retryAfter: nil), "no answer")
  }

  private func read<Value>(
    _ name: String, odd: () throws(ObjectStoreError) -> Value, _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    let fault = try begin(name)
    if fault == .lostBefore || fault == .late { throw lost(false) }
    let value = try fault == .odd ? odd() : body()
    try end(fault, isWrite: false)
    return value
  }

  private func write(_ write: AssetSimulationRemote.Write) throws(ObjectStoreError) -> ETag? {
    let fault = try begin(write.name)
    if process?.hasLateWrite ?? false {
      process?.hasLateWrite = false
      remote.delay(write, device, until: world.time)
      throw lost(true)
    }
    if fault == .late { remote.delay(write, device, until: world.time + 1 + world.random.below(60)) }
    if fault == .lostBefore || fault == .late || fault == .odd { throw lost(true) }
    if world.mutant == .namefirst, case .put(let key, _, _, _) = write, key.text.hasPrefix("assets/") {
      heldBack.append(write)
      return ETag("\"held-back\"")
    }
    let etag = try remote.perform(write, world, device)
    if case .put(let key, _, _, _) = write {
      written.insert(key.text)
      if key.text == remote.headKey { try headWritten() }
    }
    try end(fault, isWrite: true)
    return etag
  }

  private func headWritten() throws(ObjectStoreError) {
    for write in heldBack { _ = try? remote.perform(write, world, device) }
    heldBack = []
    if world.mutant == .sweepold { deleteUnnamed { $0.log != self.device.log } }
  }

  /// What some mutants delete without a right.
  private func deleteUnnamed(_ isWanted: (AssetObject) -> Bool) {
    guard let named = try? device.ledger.namedObjects() else { return }
    for key in remote.assetKeys where !written.contains(key) {
      guard let object = AssetSimulationRemote.object(key), isWanted(object), !named.contains(object),
        let key = try? ObjectKey(key)
      else { continue }
      _ = try? remote.perform(.delete(key), world, device)
    }
  }

  // MARK: Reading

  private func missing(_ key: ObjectKey) -> ObjectStoreError {
    ObjectStoreError(.notFound, "\(key): does not exist")
  }

  private func object(_ key: ObjectKey) throws(ObjectStoreError) -> StoredObject {
    let isHidden = world.hidesObjects && key.text.hasPrefix("assets/")
    guard let object = remote.objects[key.text], !isHidden else { throw missing(key) }
    return StoredObject(body: object.body, etag: object.etag, metadata: object.metadata)
  }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    let isHead = key.text == remote.headKey
    var object = try read("GET \(key)") { () throws(ObjectStoreError) in
      // An old head, or nothing.
      guard isHead, let old = world.random.pickIfAny(remote.heads.suffix(4)), world.random.chance(80) else {
        throw missing(key)
      }
      return StoredObject(body: old.body, etag: old.etag, metadata: old.metadata)
    } _: { () throws(ObjectStoreError) in
      try self.object(key)
    }
    if object.etag == known { return .notModified }
    // A body that is cut.
    if world.random.below(3000) < world.rate { object.body.removeLast(min(7, object.body.count)) }
    if isHead, world.mutant == .ignorefence, var head = try? SyncHead(parsing: object.body) {
      head.fence = 0
      object.body = head.serialized()
    }
    return .object(object)
  }

  func read(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    try readInMemory(key, from: offset, ifMatch: known, into: receiver, cancellation: cancellation)
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try read("HEAD \(key)") { () throws(ObjectStoreError) in
      throw missing(key)
    } _: {
      () throws(ObjectStoreError) in
      try object(key).head
    }
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    if world.mutant == .nofence, prefix.text.hasPrefix("assets/") { deleteUnnamed { _ in true } }
    let all = remote.objects.filter { $0.key.hasPrefix(prefix.text) }
    func page(_ names: [String]) throws(ObjectStoreError) -> ObjectPage {
      var entries: [ObjectPage.Entry] = []
      for name in names {
        let size = all[name].map { Int64($0.body.count) } ?? 10
        entries.append(ObjectPage.Entry(key: try ObjectKey(name), size: size, etag: nil))
      }
      return ObjectPage(entries: entries)
    }
    return try read("LIST \(prefix)") { () throws(ObjectStoreError) in
      // Too little, and something that is not there.
      let known = all.sorted { $0.value.order < $1.value.order }.map(\.key)
      var names = known.filter { _ in world.random.chance(70) }
      if prefix.text.hasPrefix("assets/"), let log = device.log {
        names.append(AssetSimulationRemote.key(AssetObject(log: log, fence: 0)))
      }
      return try page(names.sorted())
    } _: { () throws(ObjectStoreError) in
      try page(all.keys.sorted())
    }
  }

  // MARK: Writing

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    guard let etag = try write(.put(key, body, condition, metadata)) else { throw crashed }
    return etag
  }

  func put(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try putInMemory(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    _ = try write(.delete(key))
  }

  // MARK: Parts

  func startUpload(_ key: ObjectKey, metadata: ObjectMetadata, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectUpload
  {
    let fault = try begin("start an upload of \(key)")
    if fault == .lostBefore || fault == .late || fault == .odd { throw lost(true) }
    let upload = remote.startUpload(key, metadata)
    try end(fault, isWrite: true)
    return upload
  }

  func unfinishedUploads(below prefix: ObjectPrefix, cancellation: Cancellation)
    throws(ObjectStoreError) -> [ObjectUpload]
  {
    let all = remote.uploads.values.filter { $0.upload.key.text.hasPrefix(prefix.text) }
    return try read("list uploads") { () throws(ObjectStoreError) in
      []
    } _: { () throws(ObjectStoreError) in
      all.sorted { $0.order > $1.order }.map(\.upload)
    }
  }

  func parts(of upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError) -> [UploadedPart] {
    try read("list parts of \(upload.id)") { () throws(ObjectStoreError) in
      []
    } _: {
      () throws(ObjectStoreError) in
      guard let found = remote.uploads[upload.id] else { throw missing(upload.key) }
      return found.parts.sorted { $0.key < $1.key }.map {
        UploadedPart(number: $0.key, size: Int64($0.value.body.count), etag: $0.value.etag)
      }
    }
  }

  func putPart(_ number: Int, of upload: ObjectUpload, _ body: FileBody, cancellation: Cancellation)
    throws(ObjectStoreError) -> UploadedPart
  {
    guard let etag = try write(.part(upload.id, number, body.bytes(cancellation))) else { throw crashed }
    return UploadedPart(number: number, size: body.count, etag: etag)
  }

  func complete(
    _ upload: ObjectUpload, _ parts: [UploadedPart], condition: ObjectCondition, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    guard let etag = try write(.complete(upload.id, condition)) else { throw crashed }
    return etag
  }

  func abort(_ upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError) {
    _ = try write(.abort(upload.id))
  }
}
