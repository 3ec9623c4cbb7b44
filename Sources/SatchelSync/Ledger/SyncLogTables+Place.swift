import SatchelCore
import SatchelRemote

/// Recognises the directory that a store was synchronized with.
extension SyncLogTables {
  /// Refuses a directory that is not the one the store was synchronized with: another disk may be mounted at its path,
  /// or none.
  ///
  /// - Parameter recreates: whether an empty one is written again
  /// - Throws: `SatchelError` `.unavailable` for one that is absent or empty, `.foreign` for another one
  package func checkPlace(of remote: any ObjectStore, recreates: Bool) throws {
    guard let remote = remote as? any PlacedStore, let known = try remoteID() else { return }
    try Self.check(remote, known: known, recreates: recreates)
  }

  /// Compares what is at the place of a remote with the id that it had.
  package static func check(_ remote: any PlacedStore, known: String, recreates: Bool) throws {
    let identity = remote.identity ?? "the remote"
    switch try remote.place() {
    case .named(known): return
    case .named:
      throw SatchelError(
        .foreign, "\(identity) is another directory than the one that was synchronized with: its id differs")
    case .unnamed: remote.setID(known)
    case .absent, .empty:
      guard recreates else {
        throw SatchelError(
          .unavailable,
          "the remote is empty: \(identity) has no files, although this device has synchronized with it before; "
            + "mount its disk, or, if it really lost everything, recreate sends everything again")
      }
      remote.setID(known)
    }
  }

  /// Remembers the directory that the store was synchronized with.
  package func notePlace(of remote: any ObjectStore) throws {
    guard let remote = remote as? any PlacedStore, case .named(let id) = try remote.place(),
      try remoteID() != id
    else { return }
    try database.write { try $0.connection.run("UPDATE sync_owner SET remote_id = ?", .text(id)) }
  }

  private func remoteID() throws -> String? {
    guard try database.has(SyncLogSchema.subject) else { return nil }
    return try database.read { try $0.first("SELECT remote_id FROM sync_owner") { $0.textIfAny(0) } ?? nil }
  }
}
