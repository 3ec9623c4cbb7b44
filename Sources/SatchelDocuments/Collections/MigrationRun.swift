import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// Migrates the documents of a collection to another version, inside a transaction.
package final class MigrationRun {
  /// The migrations between two versions.
  package struct Path {
    /// In the order in which they are applied; `version` is the lower of the two.
    private(set) var steps: [(version: Int, migration: RecordMigration)] = []
    package let isUp: Bool
    private let collection: Int64
    private let name: String

    package var migrations: [RecordMigration] { steps.map(\.migration) }

    /// - Parameters:
    ///   - name: of the documents, for messages
    ///   - isEmpty: whether there are no documents, which need no migration
    /// - Throws: `.invalid` when a migration to the declared version is missing, `.newer` when the documents cannot be
    ///   migrated back to it
    init(
      _ row: CollectionState, _ name: String, to declared: Int, by migrations: [RecordMigration],
      callback: RecordCallback.Body?, isEmpty: Bool = false, connection: Connection
    ) throws {
      let stored = Int(row.version)
      (collection, self.name, isUp) = (row.id, name, declared > stored)
      // Not `map`, which would reserve capacity for all versions before it finds that the second migration is
      // missing.
      for version in stored..<max(stored, declared) {
        guard version > 0, version <= migrations.count else {
          if isEmpty { break }
          throw SatchelError(
            .invalid, "\(name): no migration from version \(version) to \(version + 1) is declared")
        }
        steps.append((version, migrations[version - 1]))
      }
      for version in (min(stored, declared)..<stored).reversed() {
        let step = try MigrationRun.step(to: Int64(version + 1), of: row.id, connection, callback: callback)
        guard let step, step.isInvertible else {
          throw SatchelError(
            .newer,
            "\(name): its documents have version \(stored), and cannot be migrated back to \(declared)")
        }
        steps.append((version, step))
      }
    }

    /// Migrates one document; the functions of migrations must not write to the store.
    ///
    /// - Parameter found: called with each step that finds a value, and the lower version
    func migrate(
      _ document: inout JSONObject, id: String, _ kept: KeptValues, in database: Database,
      found: ((_ version: Int, _ step: Int) -> Void)? = nil
    ) throws {
      for (version, migration) in steps {
        let before = isUp ? [] : try kept.values(of: version)
        var values: [KeptValue] = []
        try database.migrating("the migration of \(name) to version \(isUp ? version + 1 : version)") {
          if isUp {
            try migration.apply(to: &document, id: id, version: version, kept: &values) {
              found?(version, $0)
            }
          } else {
            try migration.invert(&document, id: id, version: version, kept: before)
          }
        }
        if isUp { try kept.keep(values, of: version) } else { try kept.forget(version) }
      }
    }

    /// Returns a warning for each step that has found no value in any document; probably its path is misspelled.
    func warnings(found: Set<[Int]>) -> [String] {
      guard isUp else { return [] }
      var warnings: [String] = []
      for (version, migration) in steps {
        guard case .steps(let steps) = migration else { continue }
        for (number, step) in steps.enumerated() {
          guard let source = step.source, !found.contains([version, number]) else { continue }
          warnings.append(
            "migration to version \(version + 1): step \(number + 1): no record has a value at \"\(source.pointer)\""
          )
        }
      }
      return warnings
    }

    /// Notes the migrations that the documents went through, or that were taken back.
    func note(_ connection: Connection) throws {
      for (version, migration) in steps {
        if isUp {
          try MigrationRun.note(migration, to: Int64(version + 1), of: collection, connection)
        } else {
          try connection.run(
            "DELETE FROM record_migration WHERE collection = ? AND version = ?", .integer(collection),
            .integer(Int64(version + 1)))
        }
      }
    }
  }

  private let row: CollectionState
  private let prepared: PreparedDeclaration
  private let work: RecordWork
  /// The fields that are sealed before and after the migration.
  private let sensitive: SensitiveFields
  private var connection: Connection { work.connection }

  init(
    _ row: CollectionState, _ prepared: PreparedDeclaration, work: RecordWork, sensitive: SensitiveFields
  ) {
    self.row = row
    self.sensitive = sensitive
    self.prepared = prepared
    self.work = work
  }

  /// - Throws: as `Path.init`
  static func path(_ row: CollectionState, _ prepared: PreparedDeclaration, connection: Connection) throws
    -> Path
  {
    try Path(
      row, row.name, to: prepared.version, by: prepared.declaration.migrations,
      callback: prepared.declaration.callback, connection: connection)
  }

  /// Returns the stored migration to a version.
  static func step(
    to version: Int64, of collection: Int64, _ connection: Connection, callback: RecordCallback.Body?
  ) throws -> RecordMigration? {
    try connection.first(
      "SELECT steps FROM record_migration WHERE collection = ? AND version = ?", .integer(collection),
      .integer(version)
    ) { try RecordMigration(json: try JSONValue(parsing: $0.bytes(0)), callback: callback) }
  }

  static func note(
    _ migration: RecordMigration, to version: Int64, of collection: Int64, _ connection: Connection
  ) throws {
    try connection.run(
      "INSERT OR REPLACE INTO record_migration(collection, version, steps) VALUES(?, ?, ?)",
      .integer(collection), .integer(version), .text(try migration.json.text))
  }

  /// - Returns: warnings of steps that have found no value
  func run() throws -> [String] {
    let path = try Self.path(row, prepared, connection: connection)
    let schema = try prepared.declaration.schema.flatMap { $0.isNull ? nil : try RecordSchemaCheck($0) }
    var last = RecordRow.base(of: row.id)
    var found: Set<[Int]> = []
    // In chunks: a statement must not iterate over rows that are being changed.
    while true {
      let part = try part(after: last)
      guard let newest = part.last?.row else { break }
      try RowOrder.check(newest, after: last, of: "record")
      for record in part {
        try locating(.record(row.name, record.key.utf8)) {
          try migrate(record, path, schema: schema) { found.insert([$0, $1]) }
        }
      }
      last = newest
    }
    try path.note(connection)
    return last > RecordRow.base(of: row.id) ? path.warnings(found: found) : []
  }

  private struct Item {
    var row: Int64
    var key: String
    var body: [UInt8]
    var isSealed: Bool
  }

  private func part(after last: Int64) throws -> [Item] {
    var part: [Item] = []
    try connection.each(
      "SELECT id, key, body, is_sealed FROM record WHERE id > ? AND id < ? ORDER BY id LIMIT 256",
      .integer(last),
      .integer(RecordRow.base(of: row.id + 1))
    ) {
      part.append(
        Item(row: $0.anyInteger(0), key: $0.text(1), body: Array($0.bytes(2)), isSealed: $0.flag(3)))
    }
    return part
  }

  private func migrate(
    _ record: Item, _ path: Path, schema: RecordSchemaCheck?, found: (_ version: Int, _ step: Int) -> Void
  ) throws {
    let location = "\(row.name)/\(record.key)"
    do {
      guard case .object(var document) = try JSONValue(parsing: plain(record)) else {
        throw JSONError("the document is not an object")
      }
      try withoutActuallyEscaping(found) {
        try path.migrate(&document, id: record.key, kept(of: record), in: work.store.database, found: $0)
      }
      let body = try JSONValue.object(document).serialized()
      try body.withUnsafeBytes { body in
        try schema?.check(body, location)
        try write(body, record)
        try work.setAssets(
          AssetReferences.mayContain(body) ? AssetReferences(in: body) : nil, of: record.row, isNew: false)
      }
    } catch let error as JSONError {
      throw SatchelError(.invalid, "\(location): \(error)", underlying: error)
    }
  }

  private func plain(_ record: Item) throws -> [UInt8] {
    guard record.isSealed else { return record.body }
    var key = record.key
    return try key.withUTF8 { key in
      try record.body.withUnsafeBytes {
        try sensitive.open($0, UnsafeRawBufferPointer(key), by: work.store.database.keyring.keys)
      }
    }
  }

  private func sealingKey(_ record: Item) throws -> EncryptionKey {
    try work.sealingKey(
      work.collection(row.id), "\(row.name)/\(record.key): \(sensitive.paths.first?.pointer ?? "")")
  }

  private func write(_ body: UnsafeRawBufferPointer, _ record: Item) throws {
    if row.isBound, !record.isSealed {
      var key = record.key
      try key.withUTF8 { key in
        try record.body.withUnsafeBytes {
          try SyncTracker.keepDocument($0, of: UnsafeRawBufferPointer(key), in: row.name, connection)
        }
      }
    }
    func update(_ body: UnsafeRawBufferPointer, isSealed: Int64) throws {
      try connection.run(
        "UPDATE record SET body = ?, is_sealed = ? WHERE id = ?", .blob(body), .integer(isSealed),
        .integer(record.row))
    }
    if sensitive.isEmpty { return try update(body, isSealed: 0) }
    var key = record.key
    let encryption = try sealingKey(record)
    let sealed = key.withUTF8 { sensitive.seal(body, UnsafeRawBufferPointer($0), by: encryption) }
    try sealed.withUnsafeBytes { try update($0, isSealed: 1) }
  }

  private func kept(of record: Item) -> KeptValues {
    KeptValues(
      connection, record.row, sealing: sensitive.isEmpty ? nil : { try self.sealingKey(record) },
      opening: record.isSealed ? work.store.database.keyring.keys : nil)
  }
}

/// The values that migrations have removed from or replaced in one record, to migrate back.
struct KeptValues {
  private let connection: Connection
  private let record: Int64
  /// The key that seals them; nil where they are not sealed.
  private let sealing: (() throws -> EncryptionKey)?
  /// The keys that open them; nil where they are not sealed.
  private let opening: Keyring.Keys?

  /// - Parameter record: its row
  init(
    _ connection: Connection, _ record: Int64, sealing: (() throws -> EncryptionKey)? = nil,
    opening: Keyring.Keys? = nil
  ) {
    (self.connection, self.record, self.sealing, self.opening) = (connection, record, sealing, opening)
  }

  private func location(_ version: Int, _ path: String) -> RecordSealing.KeptLocation {
    RecordSealing.KeptLocation(record: record, version: Int64(version), path: path)
  }

  func keep(_ values: [KeptValue], of version: Int) throws {
    for value in values {
      var bytes = try value.bytes()
      if let sealing { bytes = location(version, value.path).seal(bytes, by: try sealing()) }
      try bytes.withUnsafeBytes {
        try connection.run(
          "INSERT OR REPLACE INTO record_kept(record, version, path, value) VALUES(?, ?, ?, ?)",
          .integer(record), .integer(Int64(version)), .text(value.path), .blob($0))
      }
    }
  }

  func values(of version: Int) throws -> [KeptValue] {
    var values: [KeptValue] = []
    try connection.each(
      "SELECT path, value FROM record_kept WHERE record = ? AND version = ?", .integer(record),
      .integer(Int64(version))
    ) {
      let (path, bytes) = ($0.text(0), Array($0.bytes(1)))
      let plain = try opening.map { try location(version, path).open(bytes, by: $0) } ?? bytes
      values.append(try KeptValue(path: path, bytes: plain))
    }
    return values
  }

  func forget(_ version: Int) throws {
    try connection.run(
      "DELETE FROM record_kept WHERE record = ? AND version = ?", .integer(record), .integer(Int64(version)))
  }
}
