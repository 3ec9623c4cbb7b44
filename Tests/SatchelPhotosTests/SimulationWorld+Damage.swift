import SatchelRemoteTesting

@testable import SatchelPhotos
@testable import SatchelRemote

/// Damage by other programs.
extension SimulationWorld {
  /// Truncates a shard's object, overwrites it with garbage, empties or removes it.
  func damage(drawing draw: (Int) -> Int) throws {
    let key = try key(SimulationPhoto.shards[draw(SimulationPhoto.shards.count)])
    // A first write that is damaged before there is a manifest may be lost to another device's.
    guard remote.current(manifestKey) != nil, let current = remote.current(key), !current.isDamaged,
      !current.object.body.isEmpty
    else { return }
    let body = current.object.body
    let isAnnounced = announced.shardChecksums.values.contains(current.checksum)
    // An upload that was never announced and is then damaged may be replaced by the version before it; what
    // it contained is still pending on its device, which these checks cannot distinguish from what has arrived.
    guard isAnnounced else { return }
    let damaged: [UInt8]?
    switch draw(5) {
    case 0: damaged = Array(body.prefix(draw(body.count - 1) + 1))
    case 1:
      // Between rows.
      guard let end = body.lastIndex(of: UInt8(ascii: "\n")) else { return }
      damaged = Array(body[..<end])
    case 2: damaged = (0..<40).map { _ in UInt8(draw(256)) }
    case 3: damaged = []
    default: damaged = nil
    }
    // Not under an unchanged etag, which only verifying finds.
    stage.remote.damage(key, damaged, isInPlace: false)
    stage.note("damages \(key): \(damaged.map { "\($0.count)" } ?? "no") bytes of \(body.count)")
  }
}
