import SatchelCore
import SatchelJSON
import SatchelStorage

extension RecordRepair {
  /// Restores the row of every collection, and the indexes and relations that it declares.
  mutating func repairCollections() throws {
    try connection.mend(RecordRules.declarations)
    for row in try collections() where row.id > 0 { try repairName(row) }
    for (id, name) in try lost() { try restore(id, name) }
    try restoreReserved()
    for row in try collections() where row.version > 0 && row.id > 0 { try repairDeclaration(row) }
  }

  /// Restores the row of the reserved collection; its version may be lost.
  private mutating func restoreReserved() throws {
    let (reserved, known) = (ReservedCollection.state, try CollectionState.read(0, connection))
    if let known, known.name == reserved.name, known.version > 0 { return }
    try connection.run("DELETE FROM record_collection WHERE id = 0 OR name = ?", .text(reserved.name))
    try insert(reserved.id, reserved.name, version: 1, declaration: "")
    report("record_collection", "\(reserved.name): the row of this collection was lost, and replaced")
  }

  private mutating func repairName(_ row: CollectionState) throws {
    if (try? RecordID.checkCollection(row.name)) != nil { return }
    let name = try freeName(row.id)
    try connection.run("UPDATE record_collection SET name = ? WHERE id = ?", .text(name), .integer(row.id))
    report("record_collection", "\(name): the name of this collection was lost, and replaced")
  }

  private func freeName(_ id: Int64) throws -> String {
    var name = "recovered_\(id)"
    while try CollectionState.id(of: name, connection) != nil { name += "_" }
    return name
  }

  // MARK: Lost collections

  /// Returns the collections whose own row was lost but that other rows belong to, with the names that
  /// relations give them.
  private func lost() throws -> [(id: Int64, name: String?)] {
    var names: [Int64: String] = [:]
    for row in try collections() {
      let declared = prepared(row)?.relations ?? []
      try connection.each("SELECT path, target FROM record_relation WHERE collection = ?", .integer(row.id)) {
        relation in
        let path = relation.text(0)
        names[relation.anyInteger(1)] = declared.first { $0.path.text == path }?.relation.collection
      }
    }
    var lost: [(Int64, String?)] = []
    try connection.each(
      """
      SELECT id FROM (SELECT id >> 40 AS id FROM record UNION SELECT target FROM record_relation
      UNION SELECT owner FROM conflict WHERE subject = 0) WHERE id > 0 AND id NOT IN (SELECT id FROM record_collection)
      ORDER BY id
      """
    ) { lost.append(($0.anyInteger(0), names[$0.anyInteger(0)])) }
    return lost
  }

  /// Creates a row for a lost collection: its declaration is unknown, but its records can be read and it can
  /// be declared again.
  private mutating func restore(_ id: Int64, _ known: String?) throws {
    var name = known ?? ""
    if try known == nil || CollectionState.id(of: name, connection) != nil { name = try freeName(id) }
    let hasRecords = try connection.number(
      "SELECT count(*) FROM (SELECT 1 FROM record WHERE id > ?1 << 40 AND id < (?1 + 1) << 40 LIMIT 1)",
      .integer(id))
    try insert(id, name, version: hasRecords, declaration: Self.nothingDeclared)
    report("record_collection", "\(name): the declaration of this collection was lost; declare it again")
  }

  private func insert(_ id: Int64, _ name: String, version: Int64, declaration: String) throws {
    try connection.run(
      """
      INSERT INTO record_collection(id, name, version, shape, count, next, revised, indexed_through, declaration)
      VALUES(?, ?, max(?, coalesce((SELECT max(version) FROM record_migration WHERE collection = ?1), 0)),
      1, 0, 1, 0, 0, ?)
      """, .integer(id), .text(name), .integer(version), .text(declaration))
  }

  private static var nothingDeclared: String {
    get throws { try StoredDeclaration().json.text }
  }

  // MARK: Declarations

  /// Returns the declaration of a collection; nil when it is damaged.
  private func prepared(_ row: CollectionState) -> PreparedDeclaration? {
    guard
      let text = try? connection.first(
        "SELECT declaration FROM record_collection WHERE id = ?", .integer(row.id),
        read: { Array($0.bytes(0)) }),
      let stored = try? text.withUnsafeBytes({ try StoredDeclaration($0, of: row.name) })
    else { return nil }
    return try? PreparedDeclaration(
      CollectionDeclaration(row.name, version: Int(row.version)).declaring(stored))
  }

  private mutating func repairDeclaration(_ row: CollectionState) throws {
    let prepared = prepared(row)
    if prepared == nil {
      try connection.run(
        "UPDATE record_collection SET declaration = ? WHERE id = ?", .text(try Self.nothingDeclared),
        .integer(row.id))
      report("record_collection", "\(row.name): its declaration was lost; declare it again")
    }
    try drop(
      "DELETE FROM record_index WHERE id = ?",
      ofAll: "SELECT id, definition FROM record_index WHERE collection = ?", row,
      except: prepared?.indexes.map(\.definition.text) ?? [])
    for index in prepared?.indexes ?? [] {
      try connection.run(
        """
        INSERT INTO record_index(collection, definition, is_unique) VALUES(?1, ?2, ?3)
        ON CONFLICT(collection, definition) DO UPDATE SET is_unique = ?3
        """, .integer(row.id), .text(index.definition.text), .integer(index.isUnique ? 1 : 0))
    }
    try drop(
      "DELETE FROM record_relation WHERE id = ?",
      ofAll: "SELECT id, path FROM record_relation WHERE collection = ?",
      row, except: prepared?.relations.map(\.path.text) ?? [])
    for (path, relation) in prepared?.relations ?? [] {
      let target =
        try CollectionState.id(of: relation.collection, connection)
        ?? CollectionState.make(relation.collection, connection)
      try connection.run(
        """
        INSERT INTO record_relation(collection, path, target, on_delete, is_many) VALUES(?1, ?2, ?3, ?4, ?5)
        ON CONFLICT(collection, path) DO UPDATE SET target = ?3, on_delete = ?4, is_many = ?5
        """, .integer(row.id), .text(path.text), .integer(target), .integer(relation.onDelete.number),
        .integer(relation.isMany ? 1 : 0))
    }
  }

  private func drop(
    _ deletion: StaticString, ofAll query: StaticString, _ row: CollectionState, except declared: [String]
  ) throws {
    var removed: [Int64] = []
    try connection.each(query, .integer(row.id)) {
      if !declared.contains($0.text(1)) { removed.append($0.anyInteger(0)) }
    }
    for id in removed { try connection.run(deletion, .integer(id)) }
  }
}
