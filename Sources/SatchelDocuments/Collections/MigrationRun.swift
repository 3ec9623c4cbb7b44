import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// Migrates the documents of a collection to another version, inside a transaction.
struct MigrationRun {
  /// The migrations between two versions, and their direction.
  struct Path {
    /// In the order in which they are applied; `version` is the lower of the two.
    var steps: [(version: Int, migration: RecordMigration)]
    var isUp: Bool
  }

  private let row: CollectionRow
  private let prepared: PreparedDeclaration
  private let work: RecordWork
  /// The fields that are sealed before and after the migration.
  private let sensitive: SensitiveFields
  private var connection: Connection { work.connection }

  init(
    _ row: CollectionRow, _ prepared: PreparedDeclaration, work: RecordWork, sensitive: SensitiveFields
  ) {
    self.row = row
    self.sensitive = sensitive
    self.prepared = prepared
    self.work = work
  }

  /// - Throws: `.invalid` when a migration to the declared version is missing, `.newer` when the records
  ///   cannot be migrated back to it
  static func path(_ row: CollectionRow, _ prepared: PreparedDeclaration, connection: Connection) throws
    -> Path
  {
    let declared = prepared.version
    let stored = Int(row.version)
    if declared > stored {
      // Not `map`, which would reserve capacity for all versions before it finds that the second migration is
      // missing.
      var steps: [(version: Int, migration: RecordMigration)] = []
      for version in stored..<declared {
        guard version > 0, version <= prepared.declaration.migrations.count else {
          throw SatchelError(
            .invalid, "\(row.name): no migration from version \(version) to \(version + 1) is declared")
        }
        steps.append((version, prepared.declaration.migrations[version - 1]))
      }
      return Path(steps: steps, isUp: true)
    }
    var steps: [(version: Int, migration: RecordMigration)] = []
    for version in (declared..<stored).reversed() {
      guard
        let migration = try step(
          to: Int64(version + 1), of: row.id, connection, callback: prepared.declaration.callback),
        migration.isInvertible
      else {
        throw SatchelError(
          .newer,
          "\(row.name): its records have version \(stored), and cannot be migrated back to \(declared)"
        )
      }
      steps.append((version, migration))
    }
    return Path(steps: steps, isUp: false)
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

  func run() throws {
    let path = try Self.path(row, prepared, connection: connection)
    let schema = try prepared.declaration.schema.flatMap { $0.isNull ? nil : try RecordSchemaCheck($0) }
    var last = RecordRow.base(of: row.id)
    // In chunks: a statement must not iterate over rows that are being changed.
    while true {
      let part = try part(after: last)
      guard let newest = part.last?.row else { break }
      try RowOrder.check(newest, after: last, of: "record")
      for record in part {
        try locating(.record(row.name, record.key.utf8)) { try migrate(record, path, schema: schema) }
      }
      last = newest
    }
    for (version, migration) in path.steps {
      if path.isUp {
        try Self.note(migration, to: Int64(version + 1), of: row.id, connection)
      } else {
        try connection.run(
          "DELETE FROM record_migration WHERE collection = ? AND version = ?", .integer(row.id),
          .integer(Int64(version + 1)))
      }
    }
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

  private func migrate(_ record: Item, _ path: Path, schema: RecordSchemaCheck?) throws {
    let location = "\(row.name)/\(record.key)"
    do {
      guard case .object(var document) = try JSONValue(parsing: plain(record)) else {
        throw JSONError("the document is not an object")
      }
      for (version, migration) in path.steps {
        if path.isUp {
          var kept: [KeptValue] = []
          try running(version + 1) {
            try migration.apply(to: &document, id: record.key, version: version, kept: &kept)
          }
          try keep(kept, record, version: version)
        } else {
          let kept = try kept(record, version)
          try running(version) {
            try migration.invert(&document, id: record.key, version: version, kept: kept)
          }
          try connection.run(
            "DELETE FROM record_kept WHERE record = ? AND version = ?", .integer(record.row),
            .integer(Int64(version)))
        }
      }
      let body = try JSONValue.object(document).serialized()
      try body.withUnsafeBytes { body in
        try schema?.check(body, location)
        try write(body, record)
      }
    } catch let error as JSONError {
      throw SatchelError(.invalid, "\(location): \(error)", underlying: error)
    }
  }

  /// Runs a migration, whose function must not write to the store.
  private func running(_ version: Int, _ body: () throws -> Void) rethrows {
    try work.store.database.migrating("the migration of \(row.name) to version \(version)", body)
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

  private func keep(_ values: [KeptValue], _ record: Item, version: Int) throws {
    for value in values {
      var bytes = try value.bytes()
      if !sensitive.isEmpty {
        let location = RecordSealing.KeptLocation(
          record: record.row, version: Int64(version), path: value.path)
        bytes = location.seal(bytes, by: try sealingKey(record))
      }
      try bytes.withUnsafeBytes {
        try connection.run(
          "INSERT OR REPLACE INTO record_kept(record, version, path, value) VALUES(?, ?, ?, ?)",
          .integer(record.row), .integer(Int64(version)), .text(value.path), .blob($0))
      }
    }
  }

  private func kept(_ record: Item, _ version: Int) throws -> [KeptValue] {
    var values: [KeptValue] = []
    let keys = work.store.database.keyring.keys
    try connection.each(
      "SELECT path, value FROM record_kept WHERE record = ? AND version = ?", .integer(record.row),
      .integer(Int64(version))
    ) {
      var bytes = Array($0.bytes(1))
      if record.isSealed {
        let location = RecordSealing.KeptLocation(
          record: record.row, version: Int64(version), path: $0.text(0))
        bytes = try location.open(bytes, by: keys)
      }
      values.append(try KeptValue(path: $0.text(0), bytes: bytes))
    }
    return values
  }
}
