import SatchelCore

extension Database {
  /// The store, for all handles of its file.
  private var migrated: HostWork.Resource {
    isMemory
      ? HostWork.Resource(ObjectIdentifier(self)) : HostWork.Resource(ObjectIdentifier(Database.self), path)
  }

  /// Runs a migration function of the host, in which calls that write to the store are refused.
  ///
  /// - Parameter name: the migration's name, for messages
  package func migrating<Result>(_ name: @autoclosure () -> String, _ body: () throws -> Result) rethrows
    -> Result
  {
    try HostWork.migrating(migrated, name: name(), body)
  }

  /// Throws inside a migration function of the host.
  ///
  /// - Throws: `.invalid`
  package func refuseWhileMigrating() throws { try HostWork.refuseWhileMigrating(path, migrated) }
}
