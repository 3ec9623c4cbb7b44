import SatchelRemoteTesting

@testable import SatchelPhotos
@testable import SatchelRemote
@testable import SatchelCore
@testable import SatchelStorage

/// The invariants of every schedule.
extension SimulationWorld {
  func checkWrite(
    _ device: SimulationDevice, _ key: ObjectKey, old: SimulatedRemote.Version?, new: [UInt8]
  ) throws {
    if key == manifestKey {
      try checkManifest(new, old)
    } else if let shard = SimulationPhoto.shards.first(where: { user.shardKey($0) == key.text }) {
      try checkWrite(device, shard, new: new)
    }
  }

  /// A device may change in the remote only what it has changed locally, and each change only once: else it
  /// reverts a change of another device.
  ///
  /// There is one exception. If etags are computed from content, a content that recurs hides the versions between, and
  /// so whether an upload without a response had reached the remote. With `merge` the device then applies
  /// its pending changes once more, as it does with every change that may not have arrived.
  private func checkWrite(_ device: SimulationDevice, _ shard: Shard.Index, new: [UInt8]) throws {
    let versions = remote.versions[try key(shard)] ?? []
    let old = versions.dropLast().last { !$0.isDamaged }?.object.body ?? []
    let (before, after) = (SimulationPhoto.values(old), SimulationPhoto.values(new))
    let version = versions.count - 1
    for photo in SimulationPhoto.all.indices where before[photo] != after[photo] {
      let edits = device.edits[photo]
      let isPending = try device.onConflict == .merge && remote.hasContentETags && device.hasChange(photo)
      let own = edits.lastIndex { $0.value == after[photo] && ($0.landed == nil || isPending) }
      guard let own, edits[(own + 1)...].allSatisfy({ $0.landed == nil }) else {
        if try rollBack(photo, to: after[photo], over: versions.dropLast()) { continue }
        throw SimulationViolation(
          description: "an update is lost: device \(device.number) makes photo \(photo) "
            + "\(after[photo] ?? "deleted") where it was \(before[photo] ?? "deleted"), without a change of its own"
        )
      }
      try forget(photo, over: versions.dropLast())
      device.edits[photo][own].landed = version
    }
  }

  /// A fault may leave exactly the bytes that a device was about to upload. The device takes them for its own upload,
  /// and announces them: they are its write, then.
  func recordArrived(_ device: SimulationDevice, _ shard: Shard.Index, _ bytes: [UInt8]) throws {
    let key = try key(shard)
    guard let last = remote.current(key), last.isDamaged, last.object.body == bytes else { return }
    stage.remote.change(key.text) { $0.isDamaged = false }
    try checkWrite(device, shard, new: bytes)
  }

  /// Changes in a version that was damaged before it was announced, and that are still pending,
  /// have not arrived.
  private func forget(_ photo: Int, over versions: ArraySlice<SimulatedRemote.Version>) throws {
    guard versions.last?.isDamaged == true else { return }
    let checksum = announced.checksum(of: SimulationPhoto.all[photo].shard)
    let last = versions.indices.last { !versions[$0].isDamaged && versions[$0].checksum == checksum } ?? -1
    for device in devices where try device.hasChange(photo) {
      for edit in device.edits[photo].indices where device.edits[photo][edit].landed ?? -1 > last {
        device.edits[photo][edit].landed = nil
      }
    }
  }

  /// A version that was damaged before it was announced may be replaced by the one before it; the changes that
  /// it contained have not arrived then. A version that was announced stays.
  private func rollBack(
    _ photo: Int, to value: String?, over versions: ArraySlice<SimulatedRemote.Version>
  ) throws -> Bool {
    guard versions.last?.isDamaged == true else { return false }
    let sound = versions.indices.filter { !versions[$0].isDamaged }
    let last = sound.last { SimulationPhoto.values(versions[$0].object.body)[photo] == value } ?? -1
    guard last >= 0 || value == nil else { return false }
    let shard = SimulationPhoto.all[photo].shard
    let checksum = announced.checksum(of: shard)
    let isAnnounced = sound.contains { $0 > last && versions[$0].checksum == checksum }
    let wasThere =
      checksum == Shard.emptyChecksum || sound.contains { $0 <= last && versions[$0].checksum == checksum }
    guard wasThere || !isAnnounced else {
      throw SimulationViolation(
        description: "photo \(photo) goes back to \(value ?? "deleted"), though a later version was announced"
      )
    }
    for device in devices {
      for edit in device.edits[photo].indices where device.edits[photo][edit].landed ?? -1 > last {
        device.edits[photo][edit].landed = nil
      }
    }
    return true
  }

  /// The manifest announces only versions that exist, and never an earlier one than before.
  private func checkManifest(_ bytes: [UInt8], _ old: SimulatedRemote.Version?) throws {
    let next = try Manifest(parsing: bytes)
    defer { announced = next }
    for shard in SimulationPhoto.shards {
      let (before, after) = (announced.checksum(of: shard), next.checksum(of: shard))
      guard before != after else { continue }
      let versions = remote.versions[try key(shard)] ?? []
      guard after == Shard.emptyChecksum || versions.contains(where: { $0.checksum == after }) else {
        throw SimulationViolation(description: "the manifest announces a shard \(shard) that was never there")
      }
      if let old, let current = versions.last, current.checksum == before, current.time < old.time {
        throw SimulationViolation(description: "the manifest reverts its entry of shard \(shard)")
      }
    }
  }

  /// No device parses bytes that no device wrote.
  func checkApplied(_ shard: Shard.Index, _ bytes: [UInt8], _ checksum: String) throws {
    if bytes.isEmpty, checksum == Shard.emptyChecksum { return }
    let versions = remote.versions[try key(shard)] ?? []
    let isSound = versions.contains { !$0.isDamaged && $0.object.body == bytes && $0.checksum == checksum }
    guard isSound else {
      stage.fail(
        SimulationViolation(description: "shard \(shard) is taken from bytes that were never written"))
      throw SatchelError(.internal, "a violation")
    }
  }

  /// A deletion of a photo that the remote does not have has no effect, unless the device's own upload arrived later.
  func recordApplied(_ device: SimulationDevice, _ shard: Shard.Index, _ bytes: [UInt8]) throws {
    let values = SimulationPhoto.values(bytes)
    let version =
      remote.versions[try key(shard)]?.lastIndex { !$0.isDamaged && $0.object.body == bytes } ?? -1
    for photo in SimulationPhoto.all.indices where SimulationPhoto.all[photo].shard == shard {
      let edits = device.edits[photo]
      guard values[photo] == nil, let last = edits.last, last.value == nil else { continue }
      if edits.allSatisfy({ $0.landed ?? -1 <= version }) {
        device.edits[photo][edits.count - 1].isMoot = true
      }
    }
  }

  /// No change of a device is lost: see `check(_:_:)`.
  func check(_ device: SimulationDevice) throws {
    for photo in SimulationPhoto.all.indices { try check(device, photo) }
  }

  /// The latest change of a photo is local, or reached the remote, or is in the conflict log.
  func check(_ device: SimulationDevice, _ photo: Int, isFinal: Bool = false) throws {
    guard let edit = device.edits[photo].last, !edit.isMoot else { return }
    if edit.value != nil, edit.landed != nil { return }
    if edit.value == nil, try hasGone(device, photo, edit) { return }
    if try !isFinal && device.value(photo) == edit.value { return }
    let isLogged = try device.conflicts(after: edit.conflict).contains {
      $0.md5 == SimulationPhoto.all[photo] && $0.localPhoto?.filename == edit.value
    }
    if isLogged { return }
    throw SimulationViolation(
      description:
        "device \(device.number) has lost its change of photo \(photo) to \(edit.value ?? "deleted")")
  }

  /// Whether the remote had no such photo after the device's own uploads before the deletion.
  private func hasGone(_ device: SimulationDevice, _ photo: Int, _ edit: SimulationEdit) throws -> Bool {
    let versions = remote.versions[try key(SimulationPhoto.all[photo].shard)] ?? []
    let landed = device.edits[photo].compactMap { $0.value == nil ? nil : $0.landed }.max() ?? -1
    // Before the first version the remote had no photos.
    let first = max(edit.versions - 1, landed + 1)
    if edit.versions == 0, landed < 0 { return true }
    return versions.dropFirst(first).contains {
      !$0.isDamaged && SimulationPhoto.values($0.object.body)[photo] == nil
    }
  }

  func check(_ report: SyncReport, of device: SimulationDevice, isCalm: Bool) throws {
    // A device without the bytes of a damaged shard reports it, until another one has repaired it.
    let failed = try report.failed.filter { failure in
      let isDamaged = remote.versions[try key(failure.shard)]?.last?.isDamaged == true
      if !isDamaged { return true }
      return try isCalm && !isBeyondRepair(failure.shard)
    }
    if let failure = failed.first {
      throw SimulationViolation(description: "a sync without faults failed: \(failure)")
    }
    if isCalm, report.failed.isEmpty, remote.current(manifestKey) != nil, report.requests != 1 {
      throw SimulationViolation(
        description: "device \(device.number) agrees, and needed \(report.requests) requests")
    }
  }

  /// Whether a shard is damaged, and no device has the bytes that the manifest names: its writer died
  /// before it wrote the manifest, and then the object was damaged as well.
  private func isBeyondRepair(_ shard: Shard.Index) throws -> Bool {
    guard remote.versions[try key(shard)]?.last?.isDamaged == true else { return false }
    let named = announced.checksum(of: shard)
    return try devices.allSatisfy { device in
      try device.catalogue.syncState().shards[shard.number].baseChecksum != named
    }
  }

  /// In the end all devices and the remote have the same content, and the manifest matches.
  func checkConvergence() throws {
    guard let current = remote.current(manifestKey) else {
      // No device has photos, or ever announced any.
      guard try remote.versions.isEmpty && devices.allSatisfy({ try $0.catalogue.count() == 0 }) else {
        throw SimulationViolation(description: "in the end there is no manifest")
      }
      return
    }
    if try SimulationPhoto.shards.contains(where: isBeyondRepair) { return }
    let manifest = try Manifest(parsing: current.object.body)
    var photos: Int64 = 0
    for shard in SimulationPhoto.shards {
      let object = remote.current(try key(shard))
      guard manifest.checksum(of: shard) == object?.checksum ?? Shard.emptyChecksum else {
        throw SimulationViolation(description: "in the end the manifest does not match shard \(shard)")
      }
      // An emptied object may equal a pending upload.
      guard object?.isDamaged != true || object?.checksum == Shard.emptyChecksum else {
        throw SimulationViolation(description: "in the end shard \(shard) is damaged in the remote")
      }
      let bytes = object?.object.body ?? []
      photos += Int64(SimulationPhoto.values(bytes).count)
      for device in devices where try device.catalogue.export(shard).bytes != bytes {
        throw SimulationViolation(
          description: "in the end device \(device.number) has another shard \(shard) than the remote")
      }
    }
    guard manifest.photoCount == photos else {
      throw SimulationViolation(
        description: "the manifest counts \(manifest.photoCount ?? -1) photos, and there are \(photos)")
    }
    for device in devices {
      guard try device.catalogue.syncState().shards.allSatisfy({ !$0.hasChanges && $0.pendingUpload == nil })
      else {
        throw SimulationViolation(
          description: "in the end device \(device.number) has something left to send")
      }
      for photo in SimulationPhoto.all.indices { try check(device, photo, isFinal: true) }
    }
  }
}
