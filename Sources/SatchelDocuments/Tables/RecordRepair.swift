import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// Repairs the tables of records after rows of any of them were lost: counts, index entries and references
/// are rebuilt from the documents.
struct RecordRepair {
  let transaction: Transaction
  var connection: Connection { transaction.connection }
  /// Findings for data that could not be restored.
  private(set) var findings: [StoreFinding] = []

  init(_ transaction: Transaction) { self.transaction = transaction }

  mutating func run() throws {
    try dropDamaged()
    try repairCollections()
    // A lost name of a key keeps the key from being changed before the fields are declared again.
    try connection.run(
      """
      UPDATE record_collection SET sealed_by = x'' WHERE sealed_by IS NULL AND id > 0 AND EXISTS(SELECT 1 FROM record
      WHERE record.id > record_collection.id << 40 AND record.id < (record_collection.id + 1) << 40
      AND is_sealed = 1)
      """)
    var rows = try collections()
    try rebuildKeys(of: rows)
    rows = try collections()
    try connection.run("DELETE FROM record_value")
    try connection.run("DELETE FROM record_reference")
    for row in rows {
      let rules = try row.rules
      for index in rules.indexes {
        // Repairing must not fail: two records with the same value are reported when either is written again.
        let index = CollectionIndex(id: index.id, index.definition, isUnique: false)
        try IndexBuild(connection, row, index: index).run()
      }
      if !rules.relations.isEmpty { try rebuildReferences(of: row, rules) }
      try rebuildAssets(of: row)
    }
    try RecordSearches.removeAll(connection)
    try RecordRevisions.advance(connection)
    try connection.mend(RecordRules.rows)
    // The next sync decides open and waiting conflicts again; discarded versions stay.
    try ConflictLog(connection).endAll()
    try MirrorTable.forgetAll(connection)
  }

  mutating func report(_ table: String, _ message: String) {
    findings.append(StoreFinding(code: table, message: message))
  }

  func collections() throws -> [CollectionState] {
    var ids: [Int64] = []
    try connection.each("SELECT id FROM record_collection ORDER BY id") { ids.append($0.anyInteger(0)) }
    return try ids.compactMap { try CollectionState.read($0, connection) }
  }

  // MARK: Documents

  /// Deletes rows that are not valid documents or belong to no collection. They count as lost: the remote or
  /// a mirror may have them.
  private mutating func dropDamaged() throws {
    var damaged: [(row: Int64, key: String)] = []
    try connection.each("SELECT id, key, body FROM record ORDER BY id") { row in
      let hasCollection = RecordRow.collections.contains(RecordRow.collection(of: row.anyInteger(0)))
      let body = row.bytes(2)
      let isDocument =
        (try? JSONScanner.check(body)) != nil && body.first { $0 > 0x20 } == UInt8(ascii: "{")
      if !hasCollection || !isDocument { damaged.append((row.anyInteger(0), row.text(1))) }
    }
    for (row, key) in damaged {
      try RecordTable(connection: connection).delete(row)
      report("record", "the record \(key) was damaged, and was deleted")
    }
  }

  // MARK: Indexes

  /// Counts the records, and rebuilds the index of their ids.
  private func rebuildKeys(of rows: [CollectionState]) throws {
    try connection.run("DELETE FROM record_key")
    for row in rows {
      let source = RecordIDs(collection: row.id)
      let base = RecordRow.base(of: row.id)
      var entries: [(hash: Int64, row: Int64)] = []
      try source.scan(connection, from: base, through: RecordRow.base(of: row.id + 1) - 1) {
        entries.append(($0, $1))
      }
      // Row numbers are never reused.
      let next = max(row.numbers.next, (entries.last?.row ?? base) - base + 1)
      let count = Int64(entries.count)
      entries = entries.ordered { ($0.hash, $0.row) < ($1.hash, $1.row) }
      try RecordIDs.keys.add(entries, connection)
      try connection.run(
        """
        UPDATE record_collection SET count = ?2, next = ?3, indexed_through = ?3 - 1, shape = shape + 1 WHERE id = ?1
        """, .integer(row.id), .integer(count), .integer(next))
    }
  }

  /// Rebuilds the references of a collection's records. Their targets may be lost: `RecordCheck` reports
  /// that.
  private func rebuildReferences(of row: CollectionState, _ rules: CollectionRules) throws {
    let table = ReferenceTable(connection: connection)
    try RecordFetch(connection, row).all { candidate in
      for relation in rules.relations {
        let targets = try? RecordWork.targets(of: candidate.body, relation, candidate.key, in: row)
        for target in targets ?? [] { try table.insert(relation, target, source: candidate.row) }
      }
      return true
    }
  }
}

extension RecordRepair {
  /// Records again what the documents of a collection refer to. What sealed fields refer to is kept as it is.
  private func rebuildAssets(of row: CollectionState) throws {
    guard try AssetTable.exists(in: connection) else { return }
    let table = AssetTable(connection)
    try RecordFetch(connection, row).all { candidate in
      var references = AssetReferences()
      if AssetReferences.mayContain(candidate.body) {
        references.add(try AssetReferences(in: candidate.body))
      } else if candidate.isSealed {
        return true
      }
      try table.setReferences(
        of: AssetOwner(.record, candidate.row), to: references, now: transaction.now)
      return true
    }
  }
}

extension RecordCollection {
  /// Repairs the tables of records after rows of them were lost: counts, indexes and references are rebuilt
  /// from the documents. In synchronized collections the next sync downloads the records that were lost.
  ///
  /// - Returns: findings for data that could not be kept
  @discardableResult
  package static func repair(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(RecordSchema.subject) else { return [] }
    try database.prepare(SyncLogSchema.subject)
    return try database.write { transaction in
      var repair = RecordRepair(transaction)
      try repair.run()
      return repair.findings
    }
  }
}
