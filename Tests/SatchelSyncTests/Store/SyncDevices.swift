import Foundation
import Satchel
import SatchelTesting

/// Stores of several devices, and the object store that they share.
final class SyncDevices {
  let directory: TemporaryDirectory
  let remote: DirectoryStore
  let user: UserID

  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.path + "/remote", withIntermediateDirectories: true)
    remote = try DirectoryStore(path: directory.path + "/remote")
    user = try UserID("anna")
  }

  func path(_ name: String) -> String { directory.path + "/\(name).satchel" }

  func store(_ name: String) throws -> Store {
    var options = StoreOptions()
    options.durability = .relaxed
    return try Store(path: path(name), options: options)
  }

  @discardableResult
  func sync(_ store: Store, dryRun: Bool = false) throws -> StoreSyncReport {
    var options = StoreSyncOptions()
    options.isDryRun = dryRun
    return try store.sync(with: remote, user: user, options: options)
  }

  /// Synchronizes stores until nothing changes any more.
  func syncAll(_ stores: Store...) throws {
    for _ in 0..<8 {
      var isQuiet = true
      for store in stores where try !sync(store).isUnchanged { isQuiet = false }
      if isQuiet { return }
    }
    throw SatchelError(.internal, "the stores do not agree")
  }
}

extension RecordCollection {
  /// The documents by id.
  var documents: [String: JSONValue] {
    get throws {
      Dictionary(uniqueKeysWithValues: try list().map { ($0.id, try $0.document) })
    }
  }

  func status(_ id: String) throws -> SyncStatus? { try get(id)?.syncStatus }
}

extension SyncDevices {
  /// Synchronizes a store with an encrypted log; without a key with a plain one.
  @discardableResult
  func sync(_ store: Store, _ key: [UInt8]?, isDryRun: Bool = false) throws -> StoreSyncReport {
    var options = StoreSyncOptions()
    options.key = key
    options.isDryRun = isDryRun
    return try store.sync(with: remote, user: user, options: options)
  }
}
