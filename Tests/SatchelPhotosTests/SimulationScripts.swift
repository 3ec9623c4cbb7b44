import SatchelRemoteTesting

import SatchelPhotos

/// The scripts of schedules of photos.
enum SimulationScripts {
  /// An earlier version of a shard, which both devices know as such, is restored from a backup.
  static let restoredBackup = SimulationScript<SimulationWorld> { world in
    let key = try world.key(SimulationPhoto.shards[0])
    for _ in 0..<2 {
      try world.edit(world.devices[0], 0)
      for device in world.devices { try world.complete(device) }
    }
    world.stage.remote.restore(key, version: 0)
  }

  /// Another program overwrites a device's upload before the device writes the manifest, which another device
  /// then writes first.
  static let overwrittenUpload = SimulationScript<SimulationWorld> { world in
    let (one, other) = (world.devices[0], world.devices[1])
    let key = try world.key(SimulationPhoto.shards[0])
    try world.edit(one, 0)
    for device in world.devices { try world.complete(device) }
    try world.edit(one, 0)
    try world.begin(one, until: "PUT \(world.manifestKey)")
    world.stage.remote.damage(key, [0, 1, 2, 3], isInPlace: false)
    // A photo of the other shard.
    try world.edit(other, SimulationPhoto.all.count - 1)
    try world.complete(other)
  }
}
