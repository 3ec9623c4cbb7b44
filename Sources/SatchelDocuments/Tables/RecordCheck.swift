import SatchelAssets
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
      guard let row = try CollectionState.read(id, connection) else { continue }
      let rules = try row.rules
      try checkDeclaration(row, rules)
      try checkRecords(row, rules)
      try checkKeys(row)
      try rules.searches?.check(connection) { report($0, "\(row.name): \($1)") }
    }
    try checkLostKeys()
    for finding in try connection.findings(of: RecordRules.declarations + RecordRules.rows) {
      report(finding.code, finding.message)
    }
  }

  /// Checks that the indexes and relations of the tables are those of the declaration.
  private func checkDeclaration(_ row: CollectionState, _ rules: CollectionRules) throws {
    let declared: StoredDeclaration
    do {
      declared = try StoredDeclaration.read(of: row.id, named: row.name, connection)
    } catch let error as SatchelError where error.code == .damaged {
      return report("record_collection", error.message)
    }
    let types = try TypedPaths(declared.types)
    let indexes = try declared.indexes.map { "\(try IndexDefinition($0, types).text) \($0.isUnique)" }
    // Those of fields of the records were made for queries.
    let found = rules.indexes.map { (index: $0, text: "\($0.definition.text) \($0.isUnique)") }.filter {
      !$0.index.isOfRecord || indexes.contains($0.text)
    }
    // Those that other tables of Unicode made are built again when the collection is opened.
    if !rules.hasOutdatedIndex, Set(indexes) != Set(found.map(\.text)) {
      report("record_index", "\(row.name): its indexes differ from its declaration")
    }
    let relations = try declared.relations.map { path, relation in
      "\(try DocumentPath(path).text) \(relation.collection) \(relation.onDelete.rawValue) \(relation.isMany)"
    }
    let stored = try rules.relations.map {
      "\($0.path.text) \(try CollectionState.read($0.target, connection)?.name ?? "") \($0.onDelete.rawValue) \($0.isMany)"
    }
    if Set(relations) != Set(stored) {
      report("record_relation", "\(row.name): its relations differ from its declaration")
    }
  }

  private func checkRecords(_ row: CollectionState, _ rules: CollectionRules) throws {
    var references = 0
    var entries = [Int](repeating: 0, count: rules.indexes.count)
    try RecordFetch(connection, row).all { candidate in
      let name = "\(row.name)/\(String(decoding: candidate.key, as: UTF8.self))"
      do {
        try JSONScanner.check(candidate.body)
      } catch {
        report("record", "\(name): the document is damaged: \(error)")
        return true
      }
      checkSealed(candidate, rules, name: name)
      for (position, index) in rules.indexes.enumerated() {
        entries[position] += try check(candidate, index, name: name)
      }
      references += try check(candidate, row, rules: rules, name: name)
      try checkAssets(candidate, name: name)
      return true
    }
    for (position, index) in rules.indexes.enumerated() {
      let found = try connection.number(
        "SELECT count(*) FROM record_value WHERE index_id = ?", .integer(index.id))
      if found != entries[position] {
        report(
          "record_value",
          "\(row.name): the index of \(index.name) has \(found) entries; \(entries[position]) were expected")
      }
    }
    let stored = try connection.number(
      "SELECT count(*) FROM record_reference WHERE source > ? AND source < ?",
      .integer(RecordRow.base(of: row.id)), .integer(RecordRow.base(of: row.id + 1)))
    if stored != references {
      report("record_reference", "\(row.name): has \(stored) references; \(references) were expected")
    }
  }

  /// Reports a document whose assets are not recorded as it refers to them.
  private func checkAssets(_ candidate: borrowing Candidate, name: String) throws {
    guard AssetReferences.mayContain(candidate.body) else { return }
    let references = try AssetReferences(in: candidate.body)
    if references.found.isEmpty { return }
    guard try AssetTable.exists(in: connection),
      try AssetTable(connection).has(references, of: AssetOwner(.record, candidate.row))
    else { return report("asset_reference", "\(name): refers to assets that are not recorded for it") }
  }

  /// Reports sensitive fields that cannot be opened with the keys that are set.
  private func checkSealed(_ candidate: borrowing Candidate, _ rules: CollectionRules, name: String) {
    // In a reserved collection it is decided for each document.
    if rules.id == ReservedCollection.state.id { return }
    if candidate.isSealed != rules.isSensitive {
      return report(
        "record",
        "\(name): its fields are \(candidate.isSealed ? "sealed" : "not sealed"), and the declaration differs"
      )
    }
    guard candidate.isSealed, !keys.isEmpty else { return }
    do {
      _ = try rules.sensitive.open(candidate.body, candidate.key, by: keys)
    } catch let error as SatchelError where error.code == .damaged {
      report("record", error.message)
    } catch {}
  }

  /// Returns the number of entries of a record in an index, and reports missing ones.
  private func check(
    _ candidate: borrowing Candidate, _ index: CollectionIndex, name: String
  ) throws -> Int {
    var (bytes, keys): ([UInt8], [Range<Int>]) = ([], [])
    try index.eachKey(of: candidate.indexed, into: &bytes) { range, _ in keys.append(range) }
    let record = candidate.row
    for key in keys {
      let found = try bytes[key].withUnsafeBytes {
        try connection.number(
          "SELECT count(*) FROM record_value WHERE index_id = ? AND value = ? AND record = ?",
          .integer(index.id), .blob($0), .integer(record))
      }
      if found == 0 { report("record_value", "\(name): the index of \(index.name) lacks the record") }
    }
    return keys.count
  }

  /// Returns the number of references of a record, and reports missing ones.
  private func check(
    _ candidate: borrowing Candidate, _ row: CollectionState, rules: CollectionRules, name: String
  ) throws -> Int {
    var count = 0
    let table = ReferenceTable(connection: connection)
    for relation in rules.relations {
      let targets: Set<[UInt8]>
      do {
        targets = Set(
          try RecordWork.targets(of: candidate.body, relation, candidate.key, in: row))
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

  /// Checks that every id can be found, and that the index has no other entries.
  private func checkKeys(_ row: CollectionState) throws {
    let source = RecordIDs(collection: row.id)
    let base = RecordRow.base(of: row.id)
    try source.scan(connection, from: base, through: base + row.numbers.indexedThrough) { hash, record in
      var isFound = false
      try RecordIDs.keys.rows(of: hash, connection) { row in
        isFound = row == record
        return !isFound
      }
      if !isFound {
        report("record_key", "\(row.name): record \(record - base) is missing from the index of ids")
      }
    }
  }

  /// Counts the entries in the index of ids that have no record, or are in the wrong block.
  private func checkLostKeys() throws {
    var count: Int64 = 0
    let visit = { (entry: KeyBlocks.Entry) in
      count += try 1 - connection.number("SELECT count(*) FROM record WHERE id = ?", .integer(entry.row))
    }
    try RecordIDs.keys.all(connection, visit: visit) { _ in count += 1 }
    if count > 0 { report("record_key", "\(count) rows of record_key have no owner") }
  }
}

/// The rules about the rows of records that need no document. Counts and indexes are not mended, but built again.
enum RecordRules {
  /// The declarations of collections; mended before lost collections are restored.
  static let declarations = [
    owned("record_index", unless: "collection NOT IN (SELECT id FROM record_collection)"),
    owned("record_relation", unless: "collection NOT IN (SELECT id FROM record_collection)"),
  ]

  static let rows =
    [
      owned("record_migration", unless: "collection NOT IN (SELECT id FROM record_collection)"),
      owned("record_value", unless: "record NOT IN (SELECT id FROM record)"),
      // Those of state belong to no record.
      owned("record_kept", unless: "record > 0 AND record NOT IN (SELECT id FROM record)"),
      // Their collections are restored.
      owned("record", unless: "id >> 40 NOT IN (SELECT id FROM record_collection)", isMended: false),
      owned(
        "conflict",
        unless: """
          subject = 0 AND ((kind = 2) <> (side IS NOT NULL) OR owner NOT IN (SELECT id FROM record_collection))
          """, isMended: false),
      Invariant(
        "record_collection", each: "%",
        offenders: """
          SELECT name || ': its stored count is ' || count || ', but it has ' || found || ' records'
          FROM (SELECT name, count, (SELECT count(*) FROM record WHERE record.id > c.id << 40
          AND record.id < (c.id << 40) + c.next) AS found FROM record_collection AS c) WHERE count <> found
          """),
      Invariant(
        "record_collection", each: "%: its next row number is marked as indexed",
        offenders: """
          SELECT name FROM record_collection AS c WHERE indexed_through >= max(next, 1 + coalesce((SELECT max(id)
          FROM record WHERE id > c.id << 40 AND id < (c.id + 1) << 40), 0) - (c.id << 40))
          """),
    ]

  private static func owned(_ table: String, unless orphaned: String, isMended: Bool = true) -> Invariant {
    Invariant(
      table, counted: "% rows of \(table) have no owner",
      offenders: "SELECT 1 FROM \(table) WHERE \(orphaned)",
      mending: isMended ? "DELETE FROM \(table) WHERE \(orphaned)" : "")
  }
}

extension RecordCollection {
  /// Returns the findings in the tables of records. Reads every row.
  package static func check(_ database: Database) throws -> [StoreFinding] {
    guard try database.has(RecordSchema.subject) else { return [] }
    guard try database.has(named: SyncLogSchema.name) else {
      return [StoreFinding(code: "sync_log", message: "the tables of the sync log are missing")]
    }
    var findings: [StoreFinding] = []
    try database.read { connection in
      try RecordCheck(connection, database.keyring.keys) {
        findings.append(StoreFinding(code: $0, message: $1))
      }.run()
    }
    if let fault = try RecordTextIndex.fault(database) {
      findings.append(StoreFinding(code: "record_text", message: fault))
    }
    return findings
  }
}
