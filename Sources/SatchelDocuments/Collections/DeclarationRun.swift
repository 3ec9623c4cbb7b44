import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// Applies a declaration to a collection of the store, in one transaction.
struct DeclarationRun {
  private let store: RecordStore
  private let transaction: Transaction
  private let work: RecordWork
  private var connection: Connection { transaction.connection }

  init(_ store: RecordStore, _ transaction: Transaction) {
    self.store = store
    self.transaction = transaction
    work = store.work(in: transaction)
  }

  func declare(_ declared: PreparedDeclaration) throws -> RecordCollection {
    let name = declared.declaration.name
    let id = try CollectionState.id(of: name, connection) ?? CollectionState.make(name, connection)
    try work.flush()
    guard let row = try CollectionState.read(id, connection, of: store) else {
      throw SatchelError(
        .damaged, "\(name): the collection is in the store under its name, and not under its id")
    }
    let rules = try row.rules
    if rules.hasOutdatedIndex { try dropOutdated(row) }
    var known = try StoredDeclaration.read(of: id, named: name, connection)
    let before = known
    let isMigrated =
      !declared.declaration.isBare && row.version > 0 && row.version != Int64(declared.version)
    if isMigrated {
      let moves = MovedPaths(try MigrationRun.path(row, declared, connection: connection))
      try moves.check(declared, known)
      known = try moves.applied(to: known)
    }
    let stored = try known.joined(with: declared, version: row.version)
    var declaration = declared.declaration.declaring(stored)
    // A declaration with only a name does not change the version.
    if declared.declaration.isBare, row.version > 0 { declaration.version = Int(row.version) }
    let prepared = try PreparedDeclaration(declaration)
    try declared.checkPaths(prepared.schema)
    try checkRestrictions(prepared, id)
    var warnings: [String] = []
    if isMigrated {
      // Until the documents are migrated, the old and the new sensitive fields are sealed.
      let sensitive = rules.sensitive.paths
      let all = sensitive + prepared.sensitive.filter { rules.sensitive.overlapping($0) == nil }
      try seal(sensitive, as: all, row)
      warnings = try MigrationRun(
        row, prepared, work: work, sensitive: SensitiveFields(all, of: row.name, row.id)
      ).run()
      try seal(all, as: prepared.sensitive, row)
      // Every document may have changed: indexes and references are rebuilt.
      for index in rules.indexes { try drop(index) }
      for relation in rules.relations { try drop(relation) }
      try change([CollectionIndex](), to: prepared, row)
      try change([CollectionRelation](), to: prepared, row)
    } else {
      try seal(rules.sensitive.paths, as: prepared.sensitive, row)
      try change(rules.indexes, to: prepared, row)
      try change(rules.relations, to: prepared, row)
      if row.version == 0 { try storeMigrations(row.id, prepared) }
    }
    try RecordSearches.clear(id, declared: before, now: stored, isMigrated: isMigrated, connection)
    try stored.json.serialized().withUnsafeBytes {
      try connection.run(
        "UPDATE record_collection SET version = ?, shape = shape + 1, declaration = ? WHERE id = ?",
        .integer(Int64(prepared.version)), .textBytes($0), .integer(id))
    }
    // Migrated or not, queries of the collection may have another result, or none.
    transaction.note(subject: .records, keys: [name])
    try reconsiderWaiting(name, id)
    work.forget(id)
    store.forgetRules(of: id)
    transaction.onFailure { [store] in store.forgetRules(of: id) }
    return RecordCollection(
      store, id: id, version: prepared.version, stored.generation, declaration: declared.declaration,
      hasSensitive: !stored.sensitive.isEmpty, migrationWarnings: warnings)
  }

  /// Rejects a relation that would keep expired records from being deleted.
  private func checkRestrictions(_ prepared: PreparedDeclaration, _ id: Int64) throws {
    func fail(_ source: String, _ path: String, _ target: String) -> SatchelError {
      SatchelError(
        .invalid,
        "\(source): the relation \"\(path)\" would keep records of \(target) that expire (ttl): declare it with "
          + "on_delete cascade or nullify")
    }
    let name = prepared.declaration.name
    if prepared.declaration.ttl != nil {
      for relation in try CollectionRules.incoming(id, connection).values
      where relation.onDelete == .restrict && relation.source != id {
        let source = try CollectionState.read(relation.source, connection)?.name ?? ""
        throw fail(source, relation.path.text, name)
      }
    }
    for (path, relation) in prepared.relations where relation.onDelete == .restrict {
      guard let target = try CollectionState.id(of: relation.collection, connection),
        let state = try CollectionState.read(target, connection), try state.rules.expiry != nil
      else { continue }
      throw fail(name, path.text, relation.collection)
    }
  }

  /// Seals the fields of the existing records that are sensitive from now on, and opens those that no longer are.
  private func seal(_ before: [DocumentPath], as after: [DocumentPath], _ row: CollectionState) throws {
    guard before != after else { return }
    let old = SensitiveFields(before, of: row.name, row.id)
    let new = SensitiveFields(after, of: row.name, row.id)
    let keyring = store.database.keyring
    if !new.isEmpty, store.mirror(of: row.id) != nil { throw RecordStore.noMirror(row.name) }
    // A key is required only when there are fields to seal.
    let key =
      new.isEmpty || keyring.current == nil ? nil : try work.sealingKey(work.collection(row.id), row.name)
    try RecordSealing(connection: connection, row: row, old: old, new: new, keys: keyring.keys, key: key)
      .run()
    if !new.isEmpty, row.isBound { try SyncLogTables.protect(row.name, in: transaction, keyring) }
  }

  /// Makes the entries of the sync log undecided that may have waited for this declaration.
  private func reconsiderWaiting(_ name: String, _ id: Int64) throws {
    let conflicts = ConflictLog(connection)
    guard try conflicts.hasWaiting(), let tracker = try work.tracker() else { return }
    for waiting in try conflicts.waiting(forCollection: name, id) {
      guard let owner = try CollectionState.read(waiting.collection, connection) else { continue }
      var key = waiting.key
      try key.withUTF8 { try tracker.reconsider(UnsafeRawBufferPointer($0), in: owner.name) }
    }
  }

  /// Stores the migrations to the version that a new collection begins with: a sync may download documents of
  /// older versions, and older versions of the app may open the store.
  private func storeMigrations(_ id: Int64, _ prepared: PreparedDeclaration) throws {
    for (number, migration) in prepared.declaration.migrations.prefix(prepared.version - 1).enumerated() {
      try MigrationRun.note(migration, to: Int64(number + 2), of: id, connection)
    }
  }

  // MARK: Indexes

  private func change(
    _ known: [CollectionIndex], to prepared: PreparedDeclaration, _ row: CollectionState
  ) throws {
    for index in known
    where !prepared.indexes.contains(where: { $0.definition.text == index.definition.text }) {
      // Those of fields of the records were made for queries, which would make new ones.
      if index.isOfRecord { continue }
      try drop(index)
    }
    for index in prepared.indexes {
      if let same = known.first(where: { $0.definition.text == index.definition.text }) {
        if same.isUnique == index.isUnique { continue }
        try drop(same)
      }
      try IndexBuild.add(index.definition, isUnique: index.isUnique, to: row, connection)
    }
  }

  private func drop(_ index: CollectionIndex) throws { try drop(index: index.id) }

  private func drop(index id: Int64) throws {
    try connection.run("DELETE FROM record_value WHERE index_id = ?", .integer(id))
    try connection.run("DELETE FROM record_index WHERE id = ?", .integer(id))
  }

  /// Drops the indexes whose keys were made with other tables of Unicode.
  private func dropOutdated(_ row: CollectionState) throws {
    var outdated: [Int64] = []
    try connection.each("SELECT id, definition FROM record_index WHERE collection = ?", .integer(row.id)) {
      if try IndexDefinition(stored: $0.text(1)) == nil { outdated.append($0.anyInteger(0)) }
    }
    for id in outdated { try drop(index: id) }
  }

  // MARK: Relations

  private func change(
    _ known: [CollectionRelation], to prepared: PreparedDeclaration, _ row: CollectionState
  ) throws {
    var kept: Set<Int64> = []
    for (path, relation) in prepared.relations {
      let target =
        try CollectionState.id(of: relation.collection, connection)
        ?? CollectionState.make(relation.collection, connection)
      let same = known.first {
        $0.path.text == path.text && $0.target == target && $0.isMany == relation.isMany
      }
      if let same {
        kept.insert(same.id)
        try connection.run(
          "UPDATE record_relation SET on_delete = ? WHERE id = ?", .integer(relation.onDelete.number),
          .integer(same.id))
      }
    }
    for relation in known where !kept.contains(relation.id) { try drop(relation) }
    for (path, relation) in prepared.relations
    where !known.contains(where: { kept.contains($0.id) && $0.path.text == path.text }) {
      try add(path, relation, row: row)
    }
  }

  private func drop(_ relation: CollectionRelation) throws {
    try connection.run("DELETE FROM record_reference WHERE relation = ?", .integer(relation.id))
    try connection.run("DELETE FROM record_relation WHERE id = ?", .integer(relation.id))
  }

  private func add(_ path: DocumentPath, _ relation: RecordRelation, row: CollectionState) throws {
    guard let target = try CollectionState.id(of: relation.collection, connection) else { return }
    try connection.run(
      """
      INSERT INTO record_relation(collection, path, target, on_delete, is_many) VALUES(?, ?, ?, ?, ?)
      """, .integer(row.id), .text(path.text), .integer(target), .integer(relation.onDelete.number),
      .integer(relation.isMany ? 1 : 0))
    let added = CollectionRelation(
      id: connection.lastInsertedRow, source: row.id, path: path, target: target, onDelete: relation.onDelete,
      isMany: relation.isMany)
    let collection = try work.collection(row.id)
    try RecordFetch(connection, row).all { candidate in
      var changes = ReferenceChanges()
      changes.added = try RecordWork.targets(of: candidate.body, added, candidate.key, in: collection).map {
        (added, $0)
      }
      try work.apply(changes, candidate.row, in: collection)
      return true
    }
  }
}
