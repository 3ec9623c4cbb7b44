import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads and writes the tables `section` and `section_content`.
struct SectionTable {
  let connection: Connection

  /// The valid range of a section's entity counts.
  static var counts: ClosedRange<Int64> { 0...1 << 32 }

  /// Returns a context's headers, in the order of first delivery.
  func records(of context: Int64) throws -> [SectionRecord] {
    var records: [SectionRecord] = []
    try connection.each(
      """
      SELECT id, name, display_title, config, updated_at, in_global, in_country, in_adminarea,
      in_locality, in_sublocality, in_coordinate, extra FROM section WHERE context = ?
      """, .integer(context)
    ) { records.append(try Self.read($0)) }
    // Sorting moves each element many times, so it sorts indices and moves each record once.
    let order = records.indices.sorted { records[$0].id < records[$1].id }
    return order.map { records[$0] }
  }

  func record(_ name: String, of context: Int64) throws -> SectionRecord? {
    try connection.first(
      """
      SELECT id, name, display_title, config, updated_at, in_global, in_country, in_adminarea,
      in_locality, in_sublocality, in_coordinate, extra FROM section WHERE context = ? AND name = ?
      """, .integer(context), .text(name), read: Self.read)
  }

  private static func read(_ row: Statement) throws -> SectionRecord {
    try SectionRecord(
      id: row.anyInteger(0), name: row.text(1), displayTitle: row.textIfAny(2), config: row.textIfAny(3),
      updatedAt: row.integer(4), counts: (5..<11).map { try row.integer($0, in: SectionTable.counts) },
      extra: row.textIfAny(11))
  }

  func content(_ id: Int64) throws -> Template<SectionTarget>? {
    try connection.first("SELECT template, placeholders FROM section_content WHERE section = ?", .integer(id))
    {
      Template(bytes: Array($0.bytes(0)), placeholders: PlaceholderCoding.decodeSection($0.bytes(1)))
    }
  }

  func placeholders(_ id: Int64) throws -> [Template<SectionTarget>.Placeholder] {
    try connection.first("SELECT placeholders FROM section_content WHERE section = ?", .integer(id)) {
      PlaceholderCoding.decodeSection($0.bytes(0))
    } ?? []
  }

  // MARK: Writing

  /// Writes a section's header and content.
  ///
  /// - Parameters:
  ///   - content: nil for that of the replaced section
  ///   - before: the section that it replaces; nil for a new one
  static func write(
    _ section: SectionPayload, content: Template<SectionTarget>?, counts: [Int64],
    replacing before: SectionRecord?, of context: Int64, in transaction: Transaction
  ) throws {
    let connection = transaction.connection
    let id = try content.map { try write($0, replacing: before, connection) } ?? before?.id ?? 0
    try connection.run(
      """
      INSERT OR REPLACE INTO section(context, name, id, display_title, config, extra, updated_at, in_global,
      in_country, in_adminarea, in_locality, in_sublocality, in_coordinate)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(context), .text(section.name), .integer(id),
      section.displayTitle.map { .text($0) } ?? .null, section.config.map { .text($0) } ?? .null,
      section.extra.map { .text($0) } ?? .null, .integer(transaction.now), .integer(counts[0]),
      .integer(counts[1]), .integer(counts[2]),
      .integer(counts[3]), .integer(counts[4]), .integer(counts[5]))
  }

  /// Writes a section's content, and returns its id.
  private static func write(
    _ content: Template<SectionTarget>, replacing before: SectionRecord?, _ connection: Connection
  ) throws -> Int64 {
    let placeholders = PlaceholderCoding.encode(content.placeholders)
    return try content.bytes.withUnsafeBytes { template in
      try placeholders.withUnsafeBytes { placeholders -> Int64 in
        if let before {
          try connection.run(
            "UPDATE section_content SET template = ?, placeholders = ? WHERE section = ?", .blob(template),
            .blob(placeholders),
            .integer(before.id))
          return before.id
        }
        try connection.run(
          "INSERT INTO section_content(template, placeholders) VALUES(?, ?)", .blob(template),
          .blob(placeholders))
        return connection.lastInsertedRow
      }
    }
  }

  /// Removes a section, and decrements the reference counts of its entities. Its context is no longer
  /// complete.
  static func remove(_ name: String, of context: Int64, in transaction: Transaction) throws {
    let connection = transaction.connection
    let table = SectionTable(connection: connection)
    guard let record = try table.record(name, of: context) else { return }
    let entities = EntityTable(connection: connection)
    for row in Set(try table.placeholders(record.id).map(\.target.entity)) {
      try entities.changeReferenceCount(of: row, by: -1)
    }
    if let chain = try ContextTable(connection: connection).chain(of: context) {
      try ContextTable.list(name, of: context, chain, counts: nil, before: record.counts, in: transaction)
      try ContextTable.setComplete(context, false, in: transaction)
    }
    try connection.run("DELETE FROM section_content WHERE section = ?", .integer(record.id))
    try connection.run(
      "DELETE FROM section WHERE context = ? AND name = ?", .integer(context), .text(name))
  }
}
