import CSQLite
import Satchel
import SatchelCore

@testable import SatchelAssets
@testable import SatchelStorage

/// Deletes files as the library does, but for what a mutant leaves out.
extension AssetFolderSimulation {
  func prune(_ store: Store, _ process: AssetFolderProcess) throws {
    switch mutant {
    case .nowatermark, .norecheck, .collectunlocked, .nopin:
      try store.assets.write { table, transaction in
        var pruner = try AssetPruner(table, now: transaction.now)
        _ = try pruner.run(maxBytes: nil)
      }
      process.pause("has marked garbage")
      try collect(store, process)
    default: try store.assets.prune()
    }
  }

  func sweep(_ store: Store, _ process: AssetFolderProcess) throws {
    guard mutant == .sweepdirect, store.assets.folder.exists else {
      try store.assets.sweep()
      return
    }
    var files: [AssetDigest] = []
    try store.assets.folder.each { files.append($0) }
    let rows = try store.assets.read { table in try files.filter { try table.row($0)?.place == .file } } ?? []
    for digest in files where !rows.contains(digest) {
      process.pause("deletes what it has listed")
      try store.assets.folder.remove(digest)
    }
  }

  private func collect(_ store: Store, _ process: AssetFolderProcess) throws {
    let (database, folder) = (store.database, store.assets.folder)
    let newest = try database.read { try AssetGarbage($0).newest }
    guard newest > 0, folder.exists else { return }
    try database.sync(always: true)
    process.pause("has synced")
    let lock = try folder.lockExclusive()
    if lock == nil, mutant != .nopin { return }
    let last = mutant == .nowatermark ? Int64.max : newest
    func files() throws -> [AssetDigest] {
      try database.read { connection in
        if mutant != .norecheck { return try AssetGarbage(connection).files(through: last).map(\.digest) }
        var found: [AssetDigest] = []
        try connection.each("SELECT name FROM asset_garbage") {
          if let digest = AssetDigest(Array($0.bytes(0))) { found.append(digest) }
        }
        return found + garbageKept
      }
    }
    if mutant == .collectunlocked {
      for digest in try files() {
        process.pause("deletes without the write lock", isDeleting: true)
        try folder.remove(digest)
      }
    }
    try database.write { transaction in
      let garbage = AssetGarbage(transaction.connection)
      if mutant != .collectunlocked { for digest in try files() { try folder.remove(digest) } }
      // Its rows stay, as if a put did not remove them.
      if mutant == .norecheck {
        garbageKept.formUnion(try files())
      } else {
        try garbage.removeAll(through: last)
      }
    }
    withExtendedLifetime(lock) {}
  }
}
