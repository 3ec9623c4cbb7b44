import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// Checks the tables of records: counts, index entries and references are computed again from the documents.
struct RecordCheck {
  private let connection: Connection
  /// The keys that are set.
  private let keys: Keyring.Keys
  /// Receives each finding: a code and a message.
  private let report: (String, String) -> Void
  private let views: Views

  /// Indexes of ids, one for each collection, created on first use.
  private final class Views {
    private let connection: Connection
    private var known: [Int64: DeferredIndexView<RecordIDs>] = [:]

    init(_ connection: Connection) { self.connection = connection }

    func view(of collection: Int64) throws -> DeferredIndexView<RecordIDs> {
      if let view = known[collection] { return view }
      let view = try DeferredIndex(RecordIDs(collection: collection)).view(of: connection)
      known[collection] = view
      return view
    }
  }

  init(
    _ connection: Connection, _ keys: Keyring.Keys, report: @escaping (String, String) -> Void
  ) {
    self.connection = connection
    self.keys = keys
    views = Views(connection)
    self.report = report
  }

  func run() throws {
    var collections: [Int64] = []
    try connection.each("SELECT id FROM record_collection ORDER BY id") {
      collections.append($0.anyInteger(0))
    }
    for id in collections {
      guard let row = try CollectionRow.read(id, connection) else { continue }
      let shape = try CollectionShape(row, connection)
      try checkDeclaration(row, shape)
      try checkRecords(row, shape)
      try checkKeys(row)
    }
    try checkOrphans()
  }

  /// Checks that the indexes and relations of the tables are those of the declaration.
  private func checkDeclaration(_ row: CollectionRow, _ shape: CollectionShape) throws {
    let declared: StoredDeclaration
    do {
      declared = try StoredDeclaration.read(row, connection)
    } catch let error as SatchelError where error.code == .damaged {
      return report("record_collection", error.message)
    }
    let indexes = try declared.indexes.map { "\(try DocumentPath($0.path).text) \($0.isUnique)" }
    if Set(indexes) != Set(shape.indexes.map { "\($0.path.text) \($0.isUnique)" }) {
      report("record_index", "\(row.name): its indexes differ from its declaration")
    }
    let relations = try declared.relations.map { path, relation in
      "\(try DocumentPath(path).text) \(relation.collection) \(relation.onDelete.rawValue) \(relation.isMany)"
    }
    let stored = try shape.relations.map {
      "\($0.path.text) \(try CollectionRow.read($0.target, connection)?.name ?? "") \($0.onDelete.rawValue) \($0.isMany)"
    }
    if Set(relations) != Set(stored) {
      report("record_relation", "\(row.name): its relations differ from its declaration")
    }
  }

  private func checkRecords(_ row: CollectionRow, _ shape: CollectionShape) throws {
    var count: Int64 = 0
    var references = 0
    try RecordFetch(connection, row).all { candidate in
      count += 1
      let name = "\(row.name)/\(String(decoding: candidate.key, as: UTF8.self))"
      do {
        try JSONScanner.check(candidate.body)
      } catch {
        report("record", "\(name): the document is damaged: \(error)")
        return true
      }
      checkSealed(candidate, shape, name: name)
      for index in shape.indexes { try check(candidate, index, name: name) }
      references += try check(candidate, row, shape: shape, name: name)
      return true
    }
    let counted = try row.count(connection)
    if count != counted {
      report("record_collection", "\(row.name): its stored count is \(counted), but it has \(count) records")
    }
    try checkTotals(row, shape, count: count, references: references)
  }

  /// Reports sensitive fields that cannot be opened with the keys that are set.
  private func checkSealed(_ candidate: borrowing Candidate, _ shape: CollectionShape, name: String) {
    // In a reserved collection it is decided for each document.
    if shape.isReserved { return }
    if candidate.isSealed == shape.sensitive.isEmpty {
      return report(
        "record",
        "\(name): its fields are \(candidate.isSealed ? "sealed" : "not sealed"), and the declaration differs"
      )
    }
    guard candidate.isSealed, !keys.isEmpty else { return }
    do {
      _ = try shape.sensitive.open(candidate.body, candidate.key, by: keys)
    } catch let error as SatchelError where error.code == .damaged {
      report("record", error.message)
    } catch {}
  }

  /// Reports a record without its entry in an index.
  private func check(
    _ candidate: borrowing Candidate, _ index: CollectionShape.Index, name: String
  ) throws {
    var key: [UInt8] = []
    ValueKey.append(candidate.document.field(index.path), to: &key)
    let record = candidate.row
    let found = try key.withUnsafeBytes {
      try connection.number(
        "SELECT count(*) FROM record_value WHERE index_id = ? AND value = ? AND record = ?",
        .integer(index.id), .blob($0), .integer(record))
    }
    if found == 0 { report("record_value", "\(name): the index of \(index.path.text) lacks the record") }
  }

  /// Returns the number of references of a record, and reports missing ones.
  private func check(
    _ candidate: borrowing Candidate, _ row: CollectionRow, shape: CollectionShape, name: String
  ) throws -> Int {
    var count = 0
    let table = ReferenceTable(connection: connection)
    let collection = WorkingCollection(row, shape, keys: DeferredIndex(RecordIDs(collection: row.id)))
    for relation in shape.relations {
      let targets: Set<[UInt8]>
      do {
        targets = Set(
          try RecordWork.targets(of: candidate.body, relation, candidate.key, in: collection))
      } catch let error as SatchelError {
        report("record_reference", error.message)
        continue
      }
      count += targets.count
      for target in targets {
        if try !table.has(relation, target, source: candidate.row) {
          report(
            "record_reference", "\(name): the reference at \(relation.path.pointer) is missing from the table"
          )
        }
        if try !exists(target, in: relation.target) {
          report("record_reference", "\(name): the reference at \(relation.path.pointer) has no target")
        }
      }
    }
    return count
  }

  private func exists(_ target: [UInt8], in collection: Int64) throws -> Bool {
    try target.withUnsafeBytes { try views.view(of: collection).find($0) } != nil
  }

  private func checkTotals(
    _ row: CollectionRow, _ shape: CollectionShape, count: Int64, references: Int
  ) throws {
    for index in shape.indexes {
      let stored = try connection.number(
        "SELECT count(*) FROM record_value WHERE index_id = ?", .integer(index.id))
      if stored != count {
        report(
          "record_value",
          "\(row.name): the index of \(index.path.text) has \(stored) entries; \(count) were expected")
      }
    }
    let stored = try connection.number(
      "SELECT count(*) FROM record_reference WHERE source > ? AND source < ?",
      .integer(RecordRow.base(of: row.id)), .integer(RecordRow.base(of: row.id + 1)))
    if stored != references {
      report("record_reference", "\(row.name): has \(stored) references; \(references) were expected")
    }
  }

  /// Checks that every id can be found, and that the index has no other entries.
  private func checkKeys(_ row: CollectionRow) throws {
    let source = RecordIDs(collection: row.id)
    let base = RecordRow.base(of: row.id)
    try source.scan(connection, from: base, through: base + row.indexedThrough) { hash, record in
      var isFound = false
      try RecordIDs.keys.rows(of: hash, connection) { row in
        isFound = row == record
        return !isFound
      }
      if !isFound {
        report("record_key", "\(row.name): record \(record - base) is missing from the index of ids")
      }
    }
    if row.indexedThrough >= row.next {
      report("record_collection", "\(row.name): its next row number is marked as indexed")
    }
  }

  /// Returns the number of entries in the index of ids that have no record, or are in the wrong block.
  private func lostKeys() throws -> Int64 {
    var count: Int64 = 0
    let visit = { (entry: KeyBlocks.Entry) in
      count += try 1 - connection.number("SELECT count(*) FROM record WHERE id = ?", .integer(entry.row))
    }
    try RecordIDs.keys.all(connection, visit: visit) { _ in count += 1 }
    return count
  }

  private func checkOrphans() throws {
    let orphans: [(String, Int64)] = [
      ("record_key", try lostKeys()),
      (
        "record_value",
        try connection.number("SELECT count(*) FROM record_value WHERE record NOT IN (SELECT id FROM record)")
      ),
      (
        "record_kept",
        try connection.number("SELECT count(*) FROM record_kept WHERE record NOT IN (SELECT id FROM record)")
      ),
      (
        "record",
        try connection.number(
          "SELECT count(*) FROM record WHERE id >> 40 NOT IN (SELECT id FROM record_collection)")
      ),
      (
        "record_index",
        try connection.number(
          "SELECT count(*) FROM record_index WHERE collection NOT IN (SELECT id FROM record_collection)")
      ),
      (
        "record_relation",
        try connection.number(
          "SELECT count(*) FROM record_relation WHERE collection NOT IN (SELECT id FROM record_collection)")
      ),
      (
        "conflict",
        try connection.number(
          """
          SELECT count(*) FROM conflict WHERE subject = 0
          AND ((kind = 2) <> (side IS NOT NULL) OR owner NOT IN (SELECT id FROM record_collection))
          """)
      ),
      (
        "record_migration",
        try connection.number(
          "SELECT count(*) FROM record_migration WHERE collection NOT IN (SELECT id FROM record_collection)")
      ),
    ]
    for (table, count) in orphans where count > 0 {
      report(table, "\(count) rows of \(table) have no owner")
    }
  }
}

extension RecordCollection {
  /// Returns the findings in the tables of records. Reads every row.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(RecordSchema.subject) else { return [] }
    guard try database.has(named: SyncLogSchema.name) else {
      return [StoreFinding(code: "sync_log", message: "the tables of the sync log are missing")]
    }
    return try database.read { connection in
      var findings: [StoreFinding] = []
      try RecordCheck(connection, database.keyring.keys) {
        findings.append(StoreFinding(code: $0, message: $1))
      }.run()
      return findings
    }
  }
}
