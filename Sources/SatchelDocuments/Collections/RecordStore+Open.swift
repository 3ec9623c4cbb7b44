import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

extension RecordStore {
  /// Opens a collection, and creates it when it does not exist. Declared indexes, relations and a schema that
  /// the store lacks are built in one transaction; only `redeclare` drops any.
  ///
  /// - Throws: `SatchelError` `.invalid` for an invalid declaration and for one that contradicts the store's;
  ///   `.constraint` for records that violate the declaration; `.newer`; `.notFound` and `.readOnly` in a
  ///   store opened read-only
  package func open(_ declaration: CollectionDeclaration) throws -> RecordCollection {
    try locating(.collection(declaration.name)) {
      let collection = try openLocated(declaration)
      if try read({ try state(of: collection.id, $0)?.rules.expiry }) != nil { try expiryJob.add(collection) }
      return collection
    }
  }

  private func openLocated(_ declaration: CollectionDeclaration) throws -> RecordCollection {
    let prepared = try PreparedDeclaration(declaration)
    try prepared.checkPaths(prepared.schema)
    let name = declaration.name
    let hasTables = try database.prepare(RecordSchema.subject)
    if hasTables, let known = try openUnchanged(prepared) {
      keepMigrations(of: known)
      return known
    }
    guard !database.options.isReadOnly else {
      guard hasTables, let row = try read({ try state(named: name, $0) }) else {
        throw SatchelError(
          .notFound, "\(database.path): has no collection \(name), and is opened read-only")
      }
      guard row.version == Int64(prepared.version) else {
        throw SatchelError(
          row.version > prepared.version ? .newer : .readOnly,
          "\(name): its records have version \(row.version); a store opened read-only cannot migrate them")
      }
      return RecordCollection(
        self, id: row.id, version: prepared.version, 0, declaration: declaration, hasSensitive: false)
    }
    let backup = try backUpBeforeMigrating(prepared)
    do {
      let isNew = try read { try state(named: name, $0) } == nil
      let collection = try transaction { transaction in
        // Another process may have opened the collection meanwhile.
        if let known = try openUnchanged(prepared) { return known }
        return try DeclarationRun(self, transaction).declare(prepared)
      }
      // Writes may have been spooled while the store was quarantined or its file was lost. An entry that
      // cannot be drained now stays rejected, and `check` reports it.
      if isNew { try? drainRejected(of: name) }
      keepMigrations(of: collection)
      try didDeclare()
      return collection
    } catch {
      // Nothing was changed: an app that fails at each start must not fill the disk with backups.
      if let backup { unlink(backup) }
      throw error
    }
  }

  private func openUnchanged(_ prepared: PreparedDeclaration) throws -> RecordCollection? {
    try read { connection in
      let name = prepared.declaration.name
      guard let row = try state(named: name, connection) else { return nil }
      let declaration = prepared.declaration
      if !declaration.isBare, row.version != Int64(prepared.version) { return nil }
      // Indexes, relations and the schema affect only writes.
      if database.options.isReadOnly {
        return RecordCollection(
          self, id: row.id, version: Int(row.version), 0, declaration: declaration, hasSensitive: false)
      }
      if try row.rules.hasOutdatedIndex { return nil }
      let stored = try StoredDeclaration.read(of: row.id, named: name, connection, expected: prepared)
      if !declaration.isBare || declaration.types != nil || declaration.redeclare {
        guard try stored.joined(with: prepared, version: row.version) == stored else { return nil }
      }
      return RecordCollection(
        self, id: row.id, version: Int(row.version), stored.generation, declaration: declaration,
        hasSensitive: !stored.sensitive.isEmpty)
    }
  }

  /// Backs the store up in its directory before records are migrated.
  ///
  /// - Returns: the path of the backup; nil when no records are migrated
  private func backUpBeforeMigrating(_ prepared: PreparedDeclaration) throws -> String? {
    let name = prepared.declaration.name
    guard !prepared.declaration.isBare, let row = try read({ try state(named: name, $0) }),
      row.version != Int64(prepared.version),
      try read({ try row.count($0) }) > 0
    else { return nil }
    // Throws before a backup is made when the migration is impossible.
    try read { _ = try MigrationRun.path(row, prepared, connection: $0) }
    guard !database.isMemory else { return nil }
    guard !database.isInTransaction else {
      throw SatchelError(
        .invalid,
        "\(name): its records must be migrated, which a transaction cannot contain: open the "
          + "collection before it"
      )
    }
    let time = database.clock.now()
    return try database.backup(to: "\(database.path).before-\(name)-\(row.version)-\(time)").path
  }
}
