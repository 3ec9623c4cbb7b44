import SatchelAssets
import SatchelCore

@testable import SatchelSync

/// Sequences of steps in which the mistakes of some mutants matter, and which chance seldom brings together. Schedules
/// without a mutant have them as well.
extension AssetSimulation {
  /// Takes the sequence that this schedule has, now and then.
  ///
  /// - Returns: whether it was possible
  func steer() throws -> Bool {
    guard let steering, AssetMutant.steered.contains(steering), random.chance(6) else { return false }
    if steering == .ignorefence { return try sweepBeforeHead() }
    let idle = devices.filter(\.isIdle)
    guard idle.count > 1 else { return false }
    let (one, other) = (idle[0], idle[1])
    note("steering: \(steering)")
    switch steering {
    case .durableuploads, .trustshadow: try dropAndReturn(one)
    case .keepmark: try unreferTwice(one, other)
    case .blockall: try one.edit(Self.keys[0], [Self.contents[1]], isDamaged: true)
    case .eager: try waitForOne(one)
    case .believe404: try missObjects(one)
    case .sweepold: try loseHeadOfEvicted(one, other)
    case .pruneconflict: try pruneAfterConflict(one, other)
    default: return false
    }
    return true
  }

  /// So much time that the horizon passes what is there now.
  private func jump() { time += Int(sizes.retention / Self.step) + 2 }

  /// Another device sweeps between the uploads of a device and their head.
  private func sweepBeforeHead() throws -> Bool {
    let headWrite = "PUT \(remote.headKey)"
    for device in devices {
      guard let process = device.processes.first(where: { $0.waiting == headWrite }),
        let other = devices.first(where: { $0 !== device && $0.isIdle })
      else { continue }
      note("steering: a sweep before a head")
      try other.edit()
      try other.complete(sweeps: true)
      for _ in 0..<60 where process.isBusy { device.resume(process) }
      return true
    }
    // One gets there.
    guard let device = devices.first(where: \.isIdle) else { return false }
    let process = device.processes[0]
    try device.edit(random.pick(Self.keys.prefix(2).map { $0 }), [random.pick(Self.contents)])
    device.start(process, options(sweeps: false))
    for _ in 0..<40 where process.isBusy && process.waiting != headWrite { device.resume(process) }
    return true
  }

  /// An asset is dropped, and comes back.
  private func dropAndReturn(_ device: AssetSimulationDevice) throws {
    let content = random.pick(Array(Self.contents.prefix(3)))
    try device.edit(Self.keys[0], [content])
    for _ in 0..<2 { try device.complete() }
    for key in Self.keys where device.declared[key.collection] != nil {
      if try device.references(of: key)?.contains(content.digest) ?? false { try device.refer(key, []) }
    }
    for _ in 0..<3 {
      try device.complete()
      jump()
      try device.refer(Self.keys[1], [])
    }
    try device.edit(Self.keys[0], [content])
    try device.complete()
  }

  /// An asset loses its last reference twice, long after each other.
  private func unreferTwice(_ one: AssetSimulationDevice, _ other: AssetSimulationDevice) throws {
    let content = random.pick(Self.contents)
    for _ in 0..<2 {
      try one.edit(Self.keys[0], [content])
      for _ in 0..<3 { try one.complete() }
      try one.refer(Self.keys[0], [])
      try one.complete()
    }
    try one.edit(Self.keys[0], [content])
    for _ in 0..<3 { try one.complete() }
    for _ in 0..<2 {
      jump()
      try one.refer(Self.keys[1], [])
      try one.complete()
    }
    try other.complete()
    try one.refer(Self.keys[0], [])
    try one.complete()
  }

  /// A record has one asset that is here, and one whose bytes are damaged.
  private func waitForOne(_ device: AssetSimulationDevice) throws {
    try device.add(Self.contents[1], isDamaged: true)
    try device.edit(Self.keys[0], [Self.contents[0], Self.contents[1]])
    for _ in 0..<2 { try device.complete() }
  }

  /// No object seems to be there for a while.
  private func missObjects(_ device: AssetSimulationDevice) throws {
    hidesObjects = true
    defer { hidesObjects = false }
    try device.verify()
    try device.complete()
  }

  /// The store loses its head when a device has only records, and no bytes of them.
  private func loseHeadOfEvicted(_ one: AssetSimulationDevice, _ other: AssetSimulationDevice) throws {
    try one.edit(Self.keys[0], [random.pick(Self.contents)])
    for _ in 0..<2 { try one.complete() }
    try other.complete()
    time += 7
    try one.prune()
    loseHead()
    for device in [one, other] {
      try device.edit()
      try device.complete(sweeps: true)
    }
  }

  /// A version loses a conflict whose asset another record refers to.
  private func pruneAfterConflict(_ one: AssetSimulationDevice, _ other: AssetSimulationDevice) throws {
    for device in [one, other] { try device.complete() }
    for device in [one, other] {
      for key in Self.keys.prefix(2) { try device.edit(key, [random.pick(Self.contents)]) }
    }
    for device in [one, other, one] { try device.complete() }
    time += 7
    for device in [one, other] { try device.prune() }
  }
}

extension AssetSimulationDevice {
  /// Puts contents, and a record that refers to them.
  func edit(_ key: SyncKey, _ contents: [AssetContent], isDamaged: Bool = false) throws {
    for content in contents where isDamaged || !has(content.digest) { try add(content, isDamaged: isDamaged) }
    try refer(key, contents.map(\.digest))
  }
}
