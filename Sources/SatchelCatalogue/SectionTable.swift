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
      in_locality, in_sublocality, in_coordinate, extra, fetched_at, etag, time_to_live, expires_at FROM section WHERE context = ?
      """, .integer(context)
    ) { records.append(try Self.read($0)) }
    // Sorting moves each element many times, so it sorts indices and moves each record once.
    let order = orderOfIndices(records.count) { records[$0].id < records[$1].id }
    return order.map { records[$0] }
  }

  func record(_ name: String, of context: Int64) throws -> SectionRecord? {
    try connection.first(
      """
      SELECT id, name, display_title, config, updated_at, in_global, in_country, in_adminarea,
      in_locality, in_sublocality, in_coordinate, extra, fetched_at, etag, time_to_live, expires_at FROM section WHERE context = ? AND name = ?
      """, .integer(context), .text(name), read: Self.read)
  }

  /// Returns one of a context's headers, if it has it, or all.
  ///
  /// - Parameter name: nil for all
  func records(_ name: String?, of context: Int64) throws -> [SectionRecord] {
    try name.map { try record($0, of: context).map { [$0] } ?? [] } ?? records(of: context)
  }

  private static func read(_ row: Statement) throws -> SectionRecord {
    try SectionRecord(
      id: row.anyInteger(0), name: row.text(1), displayTitle: row.textIfAny(2), config: row.textIfAny(3),
      updatedAt: row.integer(4), counts: (5..<11).map { try row.integer($0, in: SectionTable.counts) },
      extra: row.textIfAny(11), fetchedAt: row.integer(12), etag: row.textIfAny(13),
      timeToLive: row.integerIfAny(14, in: StoredRange.time),
      expiresAt: row.integerIfAny(15, in: StoredRange.time))
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

  /// Writes a section's header and content, and returns its id.
  ///
  /// - Parameters:
  ///   - content: nil for that of the replaced section
  ///   - before: the section that it replaces; nil for a new one
  static func write(
    _ section: SectionPayload, content: Template<SectionTarget>?, counts: [Int64], etag: String?,
    replacing before: SectionRecord?, of context: Int64, in transaction: Transaction
  ) throws -> Int64 {
    let connection = transaction.connection
    let id = try content.map { try write($0, replacing: before, connection) } ?? before?.id ?? 0
    try connection.run(
      """
      INSERT OR REPLACE INTO section(context, name, id, display_title, config, extra, updated_at, fetched_at, etag,
      time_to_live, expires_at, in_global, in_country, in_adminarea, in_locality, in_sublocality, in_coordinate)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(context), .text(section.name), .integer(id),
      section.displayTitle.map { .text($0) } ?? .null, section.config.map { .text($0) } ?? .null,
      section.extra.map { .text($0) } ?? .null, .integer(transaction.now),
      .integer(transaction.now), Binding(etag),
      Binding(section.timeToLive),
      Binding(section.timeToLive.map { transaction.now + $0 }), .integer(counts[0]),
      .integer(counts[1]), .integer(counts[2]),
      .integer(counts[3]), .integer(counts[4]), .integer(counts[5]))
    return id
  }

  /// Records that a section was fetched again, without a change of its content.
  static func noteFetch(
    _ name: String, etag: String?, timeToLive: Int64?, of context: Int64, in transaction: Transaction
  ) throws {
    try transaction.connection.run(
      """
      UPDATE section SET fetched_at = ?, etag = ?, time_to_live = ?, expires_at = ?
      WHERE context = ? AND name = ?
      """, .integer(transaction.now), Binding(etag),
      Binding(timeToLive),
      Binding(timeToLive.map { transaction.now + $0 }), .integer(context), .text(name))
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

/// The metadata of a section, which can be shown before its content is read.
public struct SectionHeader: Sendable, Equatable, JSONCodable {
  /// The section's name.
  public var section: String
  public var displayTitle: String?
  /// The config as delivered; `.null` when none was delivered.
  public var config: JSONValue
  /// The members of the delivered section that the library does not know.
  public var extra: JSONObject
  /// The number of entities that are visible from the requested location.
  public var entityCount: Int
  /// When its content changed last, in Unix milliseconds.
  public var updatedAt: Int64
  /// When it was last delivered or renewed, in Unix milliseconds.
  public var fetchedAt: Int64
  /// The entity tag of the last delivery (RFC 9110); nil when it had none.
  public var etag: String?
  /// Whether the time to live of the section has passed; false for a section without one.
  public var isStale: Bool
  /// The level at which it was found; `global` when only its global content covers the location.
  public var level: Scope
  /// The levels by which the location sees it and which were resolved by distance, the most specific first; empty
  /// where its own names do.
  public var resolved: [ResolvedLevel]

  public init(
    section: String, displayTitle: String? = nil, config: JSONValue = .null, extra: JSONObject = JSONObject(),
    entityCount: Int,
    updatedAt: Int64, fetchedAt: Int64 = 0, etag: String? = nil, isStale: Bool = false, level: Scope,
    resolved: [ResolvedLevel] = []
  ) {
    self.section = section
    self.displayTitle = displayTitle
    self.config = config
    self.extra = extra
    self.entityCount = entityCount
    self.updatedAt = updatedAt
    (self.fetchedAt, self.etag, self.isStale) = (fetchedAt, etag, isStale)
    self.level = level
    self.resolved = resolved
  }

  /// Whether a screen would show both alike.
  func isShownAs(_ other: SectionHeader) -> Bool {
    var other = other
    other.updatedAt = updatedAt
    return self == other
  }

  /// Creates a header from the JSON object that the C interface returns, of a header or of a section.
  public init(json: JSONValue) throws { try self.init(MemberReader("a section's header", json)) }

  init(_ members: MemberReader) throws {
    self.init(
      section: try members.required("section", members.string("section")),
      displayTitle: try members.string("display_title"), config: members["config"] ?? .null,
      extra: members["extra"]?.objectValue ?? JSONObject(),
      entityCount: try Int(clamping: members.required("entity_count", members.integer("entity_count"))),
      updatedAt: try members.required("updated_at", members.integer("updated_at")),
      fetchedAt: try members.integer("fetched_at") ?? 0,
      etag: try members.string("etag"), isStale: members["stale"]?.boolValue ?? false,
      level: try members.required("level", members.value("level", as: Scope.self)),
      resolved: try ResolvedLevel.all(members["resolved"]))
  }

  /// The JSON object that the C interface returns.
  public var json: JSONValue { .object(members) }

  var members: JSONObject {
    [
      "section": .string(section), "display_title": displayTitle.map { .string($0) } ?? .null,
      "config": config, "extra": .object(extra),
      "entity_count": .int(Int64(entityCount)), "updated_at": .int(updatedAt),
      "fetched_at": .int(fetchedAt), "etag": etag.map { .string($0) } ?? .null, "stale": .bool(isStale),
      "level": level.json,
      "resolved": ResolvedLevel.json(resolved),
    ]
  }
}

/// A row of `section`.
struct SectionRecord {
  var id: Int64
  var name: String
  var displayTitle: String?
  /// The config as JSON text.
  var config: String?
  var updatedAt: Int64
  /// The number of entities by scope.
  var counts: [Int64]
  /// The members of the delivered section that are not known, as the JSON text of an object.
  var extra: String?
  var fetchedAt: Int64
  var etag: String?
  /// Of the content without entities; nil where it does not expire.
  var timeToLive: Int64?
  var expiresAt: Int64?

  /// Whether its time to live has passed; also when a clock that was ahead has dated it, which a write corrects.
  func isStale(at now: Int64) -> Bool {
    guard let expiresAt else { return false }
    return expiresAt <= now || StoreClock.isAhead(expiresAt - (timeToLive ?? 0), of: now)
  }

  /// Whether a delivered section has the same title and config.
  func hasHeader(of payload: SectionPayload) -> Bool {
    let isSameTitle =
      displayTitle.map { title in payload.displayTitle?.hasSameBytes(as: title) == true }
      ?? (payload.displayTitle == nil)
    return isSameTitle && ContentEquality.equal(config, payload.config)
      && ContentEquality.equal(extra, payload.extra)
  }

  func entityCount(_ coverage: Coverage) -> Int {
    Int(Scope.allCases.reduce(0) { coverage.contains($1) ? $0 + counts[$1.rawValue] : $0 })
  }

}

extension VisibleSection {
  func header(at now: Int64) throws -> SectionHeader {
    SectionHeader(
      section: record.name, displayTitle: record.displayTitle,
      config: try record.config.map { try JSONValue(parsing: $0) } ?? .null,
      extra: try record.extra.flatMap { try JSONValue(parsing: $0).objectValue } ?? JSONObject(),
      entityCount: record.entityCount(context.coverage), updatedAt: record.updatedAt,
      fetchedAt: record.fetchedAt, etag: record.etag, isStale: record.isStale(at: now), level: context.level,
      resolved: resolved)
  }

  /// Appends the members of the header's JSON object, without braces. The config's text is validated and
  /// copied: parsing and serializing a hundred configs would delay a hundred headers.
  func writeHeader(at now: Int64, into text: inout [UInt8]) throws {
    for (name, text) in [("config", record.config), ("extra", record.extra)] {
      guard let text else { continue }
      do {
        try Array(text.utf8).withUnsafeBytes { try JSONScanner.check($0) }
      } catch {
        throw SatchelError(
          .damaged, "section \(record.name): its \(name) is not valid JSON: \(error)", underlying: error)
      }
    }
    text.append(contentsOf: "\"section\":".utf8)
    JSONValue.write(record.name, into: &text)
    text.append(contentsOf: ",\"display_title\":".utf8)
    if let displayTitle = record.displayTitle {
      JSONValue.write(displayTitle, into: &text)
    } else {
      text.append(contentsOf: "null".utf8)
    }
    text.append(contentsOf: ",\"config\":".utf8)
    text.append(contentsOf: (record.config ?? "null").utf8)
    text.append(contentsOf: ",\"extra\":".utf8)
    text.append(contentsOf: (record.extra ?? "{}").utf8)
    text.append(contentsOf: ",\"entity_count\":".utf8)
    text.append(contentsOf: String(record.entityCount(context.coverage)).utf8)
    text.append(contentsOf: ",\"updated_at\":".utf8)
    text.append(contentsOf: String(record.updatedAt).utf8)
    text.append(contentsOf: ",\"fetched_at\":".utf8)
    text.append(contentsOf: String(record.fetchedAt).utf8)
    text.append(contentsOf: ",\"etag\":".utf8)
    if let etag = record.etag {
      JSONValue.write(etag, into: &text)
    } else {
      text.append(contentsOf: "null".utf8)
    }
    text.append(contentsOf: (record.isStale(at: now) ? ",\"stale\":true" : ",\"stale\":false").utf8)
    text.append(contentsOf: ",\"level\":\"".utf8)
    text.append(contentsOf: context.level.name.utf8)
    text.append(contentsOf: "\",\"resolved\":".utf8)
    if resolved.isEmpty {
      text.append(contentsOf: "{}".utf8)
    } else {
      try ResolvedLevel.json(resolved).write(into: &text)
    }
  }
}
