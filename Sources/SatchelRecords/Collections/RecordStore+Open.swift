import SatchelJSON
import SatchelStorage

extension RecordStore {
  /// Opens a collection, making it when there is none; what is declared beyond what the store has is built, in one
  /// transaction, and only `redeclare` drops anything.
  ///
  /// - Throws: `SatchelError` `.invalid` for a declaration that is none, and for records that violate what is
  ///   declared; `.newer`, `.notFound` and `.readOnly` in a store opened to read only
  package func open(_ declaration: CollectionDeclaration) throws -> RecordCollection {
    let prepared = try PreparedDeclaration(declaration)
    let name = declaration.name
    let hasTables = try database.prepare(RecordSchema.subject)
    if hasTables, let known = try openAsItIs(prepared) { return known }
    guard !database.options.isReadOnly else {
      guard hasTables, let row = try row(named: name), row.version > 0 else {
        throw SatchelError(
          .notFound, "\(database.path): has no collection \(name), and is opened to read only")
      }
      guard row.version == Int64(prepared.version) else {
        throw SatchelError(
          row.version > prepared.version ? .newer : .readOnly,
          "\(name): its records are of version \(row.version), which opening to read only cannot change")
      }
      return RecordCollection(self, id: row.id, version: prepared.version, 0, declaration)
    }
    let backup = try backUpBeforeMigrating(prepared)
    do {
      let isNew = try row(named: name).map { $0.version == 0 } ?? true
      let collection = try transaction { transaction in
        // Another process may have been faster.
        if let known = try openAsItIs(prepared) { return known }
        return try Declaring(self, transaction).declare(prepared)
      }
      // Spilled beside a store that has been set aside since, or has lost its file. What cannot be taken in now stays
      // where `check` names it.
      if isNew { try? takeInRefused(of: name) }
      return collection
    } catch {
      // Nothing was changed: an app that fails each time it starts must not fill the disk.
      if let backup { unlink(backup) }
      throw error
    }
  }

  private func openAsItIs(_ prepared: PreparedDeclaration) throws -> RecordCollection? {
    try read { connection in
      let name = prepared.declaration.name
      guard let id = try CollectionRow.id(of: name, connection),
        let row = try CollectionRow.read(id, connection), row.version > 0
      else { return nil }
      let declaration = prepared.declaration
      if !declaration.isBare, row.version != Int64(prepared.version) { return nil }
      // Indexes, relations and the schema concern only writes.
      if database.options.isReadOnly {
        return RecordCollection(self, id: id, version: Int(row.version), 0, declaration)
      }
      let stored = try StoredDeclaration.read(row, connection, expected: prepared)
      if !declaration.isBare || declaration.redeclare {
        guard try stored.joined(with: prepared, version: row.version) == stored else { return nil }
      }
      return RecordCollection(self, id: id, version: Int(row.version), stored.generation, declaration)
    }
  }

  /// Keeps the store as it was, beside it, when records are about to be migrated.
  ///
  /// - Returns: where; nil when they are not
  private func backUpBeforeMigrating(_ prepared: PreparedDeclaration) throws -> String? {
    let name = prepared.declaration.name
    guard !prepared.declaration.isBare, let row = try row(named: name), row.version > 0,
      row.version != Int64(prepared.version),
      try read({ try row.count($0) }) > 0
    else { return nil }
    // Nothing is kept of what cannot be done anyway.
    try read { _ = try MigrationRun.way(row, prepared, $0) }
    guard !database.isMemory else { return nil }
    guard !database.isInTransaction else {
      throw SatchelError(
        .invalid,
        "\(name): its records must be migrated, which cannot be a part of a transaction: open it before")
    }
    let time = database.clock.now()
    return try database.backup(to: "\(database.path).before-\(name)-\(row.version)-\(time)").path
  }

  private func row(named name: String) throws -> CollectionRow? {
    try read { connection in
      try CollectionRow.id(of: name, connection).flatMap { try CollectionRow.read($0, connection) }
    }
  }
}
