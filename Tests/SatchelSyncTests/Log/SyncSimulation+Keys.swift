import SatchelCore

@testable import SatchelSync

/// The keys that devices of a simulation may encrypt with.
struct SyncSimulationKeys {
  /// The first is no key.
  let all: [EncryptionKey?]
  private let logKeys: [SyncLogKey?]

  init() throws {
    all = [nil, try EncryptionKey(SyncTestDevice.key), try EncryptionKey([UInt8](1...32))]
    logKeys = try all.map { try $0.map { try SyncLogKey($0) } }
  }

  /// The key of a head.
  func key(of head: SyncHead) -> EncryptionKey? {
    logKeys.firstIndex { $0?.name == head.key }.flatMap { all[$0] }
  }

  func logKey(of head: SyncHead) -> SyncLogKey? { logKeys.first { $0?.name == head.key } ?? nil }

  /// The key that a damaged head shows; nil when it shows none for certain.
  func key(ofDamaged body: [UInt8]) -> EncryptionKey?? {
    zip(all, logKeys).first { SyncHeadChecksum.owner(of: body, key: $1?.name) == .own }.map(\.0)
  }
}

/// Devices change the key of the log, and receive the keys of other devices later.
extension SyncSimulation {
  /// The head in the remote.
  private var presentHead: SyncHead? {
    guard let body = remote.objects[remote.headKey]?.body, SyncHeadChecksum.isRight(body) else { return nil }
    return try? SyncHead(parsing: body)
  }

  /// The key that devices need: that of the head or, where that is lost, of the device that has read most.
  private func neededKey() throws -> EncryptionKey? {
    if let head = presentHead { return keys.key(of: head) }
    if let body = remote.objects[remote.headKey]?.body, let key = keys.key(ofDamaged: body) { return key }
    let heads = try devices.compactMap { try $0.ledger.state().head }
    let latest = heads.max {
      ($0.position.epoch, $0.position.number) < ($1.position.epoch, $1.position.number)
    }
    return latest.map(keys.key) ?? devices[0].key
  }

  /// A device is given the present key, or makes another one the key.
  func changeKey(of device: SyncSimulationDevice) throws {
    if device.isBusy { return }
    switch random.below(3) {
    case 0:
      note("device \(device.number): is given the key")
      try give(device, neededKey())
    case 1: try checkOldKey(of: device)
    default:
      hasRekeyed = true
      let key = random.pick(hasSensitive ? Array(keys.all.dropFirst()) : keys.all)
      device.start(self, sweeps: false, rekey: SyncSimulationDevice.Rekey(to: key))
    }
  }

  /// All devices are given the present key.
  func handOutKey() throws {
    let key = try neededKey()
    for device in devices where !device.isBusy { try give(device, key) }
  }

  /// A device whose log is decrypted follows on purpose.
  private func give(_ device: SyncSimulationDevice, _ key: EncryptionKey?) throws {
    device.key = key
    guard key == nil else { return }
    try device.database.write { try $0.connection.run("UPDATE sync_log SET key = NULL") }
  }

  // MARK: Checks

  /// A device with another key than the log has is refused, and nothing changes, neither here nor there.
  private func checkOldKey(of device: SyncSimulationDevice) throws {
    // It may complete a sync that it began with its own key.
    guard let head = presentHead, head.key != device.key?.name.hexadecimal, !device.isBusy,
      try device.ledger.state().phase == nil
    else { return }
    let (rate, before, objects) = (rate, try device.dump(), remote.objects.mapValues(\.etag))
    self.rate = 0
    defer { self.rate = rate }
    note("device \(device.number): has another key")
    let sync = device.start(self, sweeps: true, purges: true, acceptsLoss: head.key != nil)
    while device.isBusy { device.resume(self) }
    guard case .failure(let error as SatchelError) = sync.outcome, error.code == .unauthorized else {
      throw SyncViolation("S10: device \(device.number) synchronizes without the key of the log")
    }
    guard try device.dump() == before, remote.objects.mapValues(\.etag) == objects else {
      throw SyncViolation("S10: device \(device.number) changes something without the key of the log")
    }
  }

  func checkOldKeys() throws { for device in devices { try checkOldKey(of: device) } }

  /// A head is replaced by one of another key only on purpose.
  func checkKey(_ new: SyncHead, _ old: SyncHead?, isRekey: Bool, _ device: Int) throws {
    guard let old, !isRekey, old.key != new.key else { return }
    throw SyncViolation("S10: device \(device) replaces a head of another key")
  }
}
