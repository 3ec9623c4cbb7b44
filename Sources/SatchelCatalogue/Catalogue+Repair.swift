import SatchelCore
import SatchelStorage

extension Catalogue {
  /// Restores the consistency of the catalogue's tables after rows were lost or changed: recomputes counts
  /// and indexes from the sections and the entities' content.
  package func repair() throws {
    try database.write { transaction in
      let connection = transaction.connection
      try connection.mend(Self.rules)
      if try connection.has(table: "region") {
        try RegionTable(connection: connection).removeUnreadable()
        try connection.mend(RegionSchema.invariants)
      }
      try connection.run("DELETE FROM context_at WHERE context NOT IN (SELECT id FROM context)")
      let (references, counts) = try recount(connection)
      try connection.run("UPDATE entity SET reference_count = 0")
      for (row, count) in references {
        try connection.run(
          "UPDATE entity SET reference_count = ? WHERE id = ?", .integer(count), .integer(row))
      }
      for (section, counts) in counts {
        try connection.run(
          """
          UPDATE section SET in_global = ?, in_country = ?, in_adminarea = ?, in_locality = ?, in_sublocality = ?,
          in_coordinate = ? WHERE id = ?
          """, .integer(counts[0]), .integer(counts[1]), .integer(counts[2]), .integer(counts[3]),
          .integer(counts[4]), .integer(counts[5]), .integer(section))
      }
      try relist(in: transaction)
      try SearchIndex.remove(connection)
      try PositionIndex(connection: connection).clear()
      try PositionIndex.mergeIfNeeded(database, in: transaction)
      // The next write that finds many entities missing from the index merges them.
      try connection.run("DELETE FROM entity_index")
      try connection.run("DELETE FROM setting WHERE key = 'indexed_through'")
    }
  }

  /// Recomputes which sections can be inherited in each place.
  private func relist(in transaction: Transaction) throws {
    let connection = transaction.connection
    try connection.run("DELETE FROM section_at")
    try connection.run("DELETE FROM context_at WHERE place = 0")
    var sections: [(context: Int64, name: String, counts: [Int64])] = []
    try connection.each(
      """
      SELECT context, name, in_global, in_country, in_adminarea, in_locality, in_sublocality, in_coordinate
      FROM section
      """
    ) { row in
      sections.append((row.anyInteger(0), row.text(1), (2..<8).map { row.anyInteger($0) }))
    }
    let contexts = ContextTable(connection: connection)
    for section in sections {
      guard let chain = try contexts.chain(of: section.context) else { continue }
      try ContextTable.list(
        section.name, of: section.context, chain, counts: section.counts, before: nil, in: transaction)
    }
  }

  /// Returns the reference count of each entity, and for each section the number of its entities by scope.
  private func recount(_ connection: Connection) throws -> (
    references: [Int64: Int64], counts: [Int64: [Int64]]
  ) {
    var references: [Int64: Int64] = [:]
    var counts: [Int64: [Int64]] = [:]
    try connection.each("SELECT section, placeholders FROM section_content") { row in
      let targets = PlaceholderCoding.decodeSection(row.bytes(1)).map(\.target)
      for entity in Set(targets.map(\.entity)) { references[entity, default: 0] += 1 }
      counts[row.anyInteger(0)] = PlaceholderCoding.counts(targets)
    }
    return (references, counts)
  }
}

extension PlaceholderCoding {
  /// Returns the number of a section's entities by the broadest scope at which they are visible.
  static func counts(_ targets: [SectionTarget]) -> [Int64] {
    var scopes: [Int64: Scope] = [:]
    for target in targets {
      scopes[target.entity] = min(scopes[target.entity] ?? target.scope, target.scope)
    }
    var counts = [Int64](repeating: 0, count: Scope.allCases.count)
    for scope in scopes.values { counts[scope.rawValue] += 1 }
    return counts
  }
}
