import SatchelStorage

@testable import SatchelSync

/// Sequences of steps in which the mistakes of some mutants matter, and which chance seldom brings together. Schedules
/// without a mutant have them as well.
extension SyncSimulation {
  /// Takes the sequence that this schedule has, now and then.
  ///
  /// - Returns: whether it was possible
  func steer() throws -> Bool {
    guard let steering, random.chance(10) else { return false }
    switch steering {
    case .newbytes: return try editAfterLateHead()
    case .ignoregc: return try sweepBeforeHead()
    case .plaintake: return try forkAfterLoss()
    case .oldname: return try editAfterRestore()
    case .nodamagetag: return try mendTwice()
    default: return false
    }
  }

  /// A device whose sync is about to write the head.
  private func deviceAtHead(_ isSuitable: (SyncSimulationDevice.Sync) -> Bool) -> SyncSimulationDevice? {
    devices.first { device in
      device.sync.map { $0.waiting == "PUT \(remote.headKey)" && !$0.isCrashed && isSuitable($0) } ?? false
    }
  }

  private func idle(_ count: Int) -> [SyncSimulationDevice]? {
    let idle = devices.filter { !$0.isBusy }
    return idle.count < count ? nil : Array(idle.prefix(count))
  }

  private func complete(_ device: SyncSimulationDevice, sweeps: Bool = false) throws {
    _ = try device.complete(self, sweeps: sweeps, acceptsLoss: false)
  }

  /// The answer about a head is lost, its change is edited, and the head arrives before the next one.
  private func editAfterLateHead() throws -> Bool {
    guard let device = deviceAtHead({ _ in true }), let key = try device.keyInFlight() else { return false }
    note("steering: a late head, and an edit")
    device.sync?.hasLateWrite = true
    device.resume(self)
    try device.edit(self, key)
    for _ in 0..<40 where device.sync.map({ $0.waiting != "PUT \(remote.headKey)" }) ?? false {
      device.resume(self)
    }
    remote.takeLate(self)
    return true
  }

  /// Another device sweeps between a device's segments and their head.
  private func sweepBeforeHead() throws -> Bool {
    guard let device = deviceAtHead({ $0.hasUploaded }), let other = idle(1)?.first else { return false }
    note("steering: a sweep before a head")
    try other.edit(self)
    try complete(other, sweeps: true)
    for _ in 0..<40 where device.isBusy { device.resume(self) }
    return true
  }

  /// The store goes back by one commit, and another device commits the same key twice: the first device finds an entry
  /// that was not built on its own.
  private func forkAfterLoss() throws -> Bool {
    guard let pair = idle(2) else { return false }
    note("steering: a loss, and two commits")
    let key = random.pick(
      Self.keys.filter { key in pair.allSatisfy { $0.client.declared.contains(key.collection) } })
    for device in [pair[0], pair[1], pair[0]] { try complete(device) }
    let before = remote.objects
    try pair[0].edit(self, key)
    try complete(pair[0])
    remote.objects = before
    (hasLost, mayGiveUp) = (true, true)
    for device in [pair[1], pair[1], pair[0]] {
      if device !== pair[0] { try device.edit(self, key) }
      try complete(device)
    }
    return true
  }

  /// A device sends a change, goes back to before it, and sends another one.
  private func editAfterRestore() throws -> Bool {
    guard let device = idle(1)?.first else { return false }
    note("steering: an edit before and after a restoration")
    let key = random.pick(Self.keys.filter { device.client.declared.contains($0.collection) })
    try complete(device)
    if !device.isBackedUp { try device.backUpOrRestore(self) }
    try device.edit(self, key)
    try complete(device)
    try device.backUpOrRestore(self)
    try device.edit(self, key)
    try complete(device)
    return true
  }

  /// Two devices find a damaged head, and both are about to make the log again.
  private func mendTwice() throws -> Bool {
    guard let pair = idle(2), pair.allSatisfy({ (try? $0.ledger.state().position) != nil }),
      remote.objects[remote.headKey] != nil
    else { return false }
    note("steering: a damaged head, and two devices")
    try pair[0].edit(self)
    damageHead()
    for device in pair {
      device.start(self, sweeps: false)
      for _ in 0..<80 where device.sync.map({ $0.waiting != "PUT \(remote.headKey)" }) ?? false {
        device.resume(self)
      }
    }
    for device in pair { while device.isBusy { device.resume(self) } }
    return true
  }
}
