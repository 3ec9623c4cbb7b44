import SatchelCore
import SatchelStorage

/// The state of the indexes of texts and of positions of a collection: records with rows up to `through`, by the paths that
/// were declared. Records after it are added by the next search, so that putting new ones costs nothing.
package struct RecordSearchState: Sendable {
  /// The kinds of indexes.
  package enum Kind: Int64, Sendable {
    case text
    case position
  }

  package static let subject = SubjectSchema(
    name: "searched", migrations: [Migration(version: 1, sql: schema)],
    rules: StoredRules(
      bounds: [
        "record_searched.collection": RecordRow.collections, "record_searched.kind": 0...1,
        "record_searched.through": 0...RecordRow.rows.upperBound,
      ]))

  private static let schema = """
    -- Which records of a collection are in record_text (kind 0) or record_position (kind 1): those with rows up to
    -- `through`. `paths` are the declared ones, separated by line feeds.
    CREATE TABLE record_searched(
      collection INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      paths TEXT NOT NULL,
      through INTEGER NOT NULL,
      PRIMARY KEY(collection, kind)
    ) STRICT, WITHOUT ROWID;
    """

  /// The number of records that are added in one transaction: others can write in between.
  static let chunk: Int64 = 4096

  let collection: Int64
  let kind: Kind
  let paths: String

  init(_ collection: Int64, _ kind: Kind, _ paths: [DocumentPath]) {
    (self.collection, self.kind) = (collection, kind)
    self.paths = paths.map(\.text).joined(separator: "\n")
  }

  var first: Int64 { RecordRow.base(of: collection) }
  /// The last possible row.
  var last: Int64 { RecordRow.base(of: collection + 1) - 1 }

  static func exists(_ connection: Connection) throws -> Bool { try connection.has(table: "record_searched") }

  /// Returns the last row that the index has; nil when there is no index for these paths.
  ///
  /// - Parameter isKnown: whether the table is known to exist
  func through(_ connection: Connection, isKnown: Bool = false) throws -> Int64? {
    guard try isKnown || Self.exists(connection) else { return nil }
    return try connection.first(
      "SELECT through FROM record_searched WHERE collection = ? AND kind = ? AND paths = ?",
      .integer(collection), .integer(kind.rawValue), .text(paths)
    ) { try $0.integer(0, in: 0...RecordRow.rows.upperBound) }
  }

  /// Whether the index has all records.
  func isCurrent(_ connection: Connection) throws -> Bool {
    guard let through = try through(connection) else { return false }
    return try !lacks(1, after: through, connection)
  }

  /// Whether there are so many records after a row.
  func lacks(_ count: Int64, after row: Int64, _ connection: Connection) throws -> Bool {
    try connection.numberIfAny(
      "SELECT 1 FROM record WHERE id > ? AND id <= ? LIMIT 1 OFFSET ?", .integer(row), .integer(last),
      .integer(count - 1)) != nil
  }

  func set(through: Int64, _ connection: Connection) throws {
    try connection.run(
      "INSERT OR REPLACE INTO record_searched(collection, kind, paths, through) VALUES(?, ?, ?, ?)",
      .integer(collection), .integer(kind.rawValue), .text(paths), .integer(through))
  }

  /// Forgets that the index has something; the next search remakes it.
  func clear(_ connection: Connection) throws { try Self.clear(collection, kind, connection) }

  static func clear(_ collection: Int64, _ kind: Kind, _ connection: Connection) throws {
    guard try exists(connection) else { return }
    try connection.run(
      "DELETE FROM record_searched WHERE collection = ? AND kind = ?", .integer(collection),
      .integer(kind.rawValue))
  }

  /// Whether there is an index of a kind for any collection.
  static func hasAny(_ kind: Kind, _ connection: Connection) throws -> Bool {
    guard try exists(connection) else { return false }
    return try connection.numberIfAny(
      "SELECT 1 FROM record_searched WHERE kind = ? LIMIT 1", .integer(kind.rawValue)) != nil
  }

  /// Forgets all indexes of a kind.
  static func clearAll(_ kind: Kind, _ connection: Connection) throws {
    guard try exists(connection) else { return }
    try connection.run("DELETE FROM record_searched WHERE kind = ?", .integer(kind.rawValue))
  }

  /// Adds all records that an index lacks.
  ///
  /// - Parameters:
  ///   - chunk: adds a number of them; returns whether there may be more
  ///   - remake: makes the index again, empty: all of it is derived from the documents
  static func update(
    _ database: Database, by chunk: (Connection) throws -> Bool, remaking remake: (Connection) throws -> Void
  ) throws {
    func addAll() throws { while try database.write(isSynced: false, { try chunk($0.connection) }) {} }
    do {
      try addAll()
    } catch let error as SatchelError where error.mayBeAboutIndex {
      try database.write(isSynced: false) { try remake($0.connection) }
      try addAll()
    }
  }

  /// Visits the next records that the index lacks, and stores that it has them.
  ///
  /// - Returns: whether there may be more
  func advance(
    _ connection: Connection, add: (_ row: Int64, _ document: UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    let through = try through(connection) ?? first
    var (rows, newest) = ([Int64](), through)
    try connection.each(
      "SELECT id FROM record WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", .integer(through), .integer(last),
      .integer(Self.chunk)
    ) {
      let row = try $0.integer(0, in: RecordRow.rows)
      rows.append(row)
      newest = max(newest, row)
    }
    for row in rows {
      guard let body = try RecordTable(connection: connection).body(row) else { continue }
      try body.withUnsafeBytes { try add(row, $0) }
    }
    try set(through: newest, connection)
    return rows.count == Int(Self.chunk)
  }
}

extension SatchelError {
  /// Whether an index may be damaged: making it again mends it, or fails in the same way.
  var mayBeAboutIndex: Bool { code == .damaged || code == .internal }
}
