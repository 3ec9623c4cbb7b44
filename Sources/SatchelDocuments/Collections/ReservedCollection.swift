import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// A collection in which another subject keeps its documents, under a name that no app can give.
///
/// It has no indexes, relations and schema. The subject seals its documents itself, and notes its changes for observers
/// and for the sync log.
package struct ReservedCollection: Sendable {
  package let id: Int64
  package let name: String

  /// The collection of state. Its id is that of no other collection, so that documents are known to be state where the
  /// row of the collection was lost.
  package static let state = ReservedCollection(id: 0, name: "@state")
}

/// Identifies the content of a document of a reserved collection, of what is committed.
package struct ReservedVersion: Sendable, Equatable {
  /// Grows with each write; 0 for a document that was not written yet.
  package var revision: Int64
  /// Unix milliseconds; it changes without a write where the clock was ahead.
  package var modified: Int64
}

/// A document of a reserved collection.
package struct ReservedDocument: Sendable, Equatable {
  package var version: ReservedVersion
  package var isSealed: Bool
  /// A JSON object. If it is sealed, only the subject knows which member is.
  package var body: [UInt8]

  /// A document to be written.
  package init(modified: Int64, isSealed: Bool, body: [UInt8]) {
    self.init(version: ReservedVersion(revision: 0, modified: modified), isSealed: isSealed, body: body)
  }

  init(version: ReservedVersion, isSealed: Bool, body: [UInt8]) {
    (self.version, self.isSealed, self.body) = (version, isSealed, body)
  }

  package var modified: Int64 { version.modified }
}

extension RecordStore {
  /// Creates the tables that reserved documents need.
  ///
  /// - Returns: whether the store has them; false only for a store opened read-only
  /// - Throws: `.newer`, `.readOnly`; see `Database.prepare`
  @discardableResult
  package func prepareReserved() throws -> Bool {
    try database.prepare(RecordSchema.subject)
  }

  package var hasReserved: Bool { get throws { try database.has(RecordSchema.subject) } }

  /// Reads the documents of state in one snapshot of the store; inside a transaction of the same thread, including its
  /// writes. The tables must exist.
  package func readReserved<Result>(_ body: (ReservedReader) throws -> Result) throws -> Result {
    try snapshot { try body(ReservedReader($0, self)) }
  }

  /// Returns the documents of state in a transaction. The tables must exist.
  package func reserved(in transaction: Transaction) -> ReservedWriter {
    ReservedWriter(work(in: transaction))
  }
}

/// Reads documents of the reserved collection by their keys.
package protocol ReservedDocuments {
  var connection: Connection { get }

  /// Calls `read` with the rows that may be that of a key, until it returns something.
  func first<Found>(
    _ key: String, _ read: (_ record: Int64, _ key: UnsafeRawBufferPointer) throws -> Found?
  ) throws -> Found?
}

extension ReservedDocuments {
  package func document(_ key: String) throws -> ReservedDocument? {
    try first(key) { try ReservedDocument.read($0, of: $1, connection) }
  }

  /// Returns the version of a document without reading it; nil when it does not exist.
  package func version(of key: String) throws -> ReservedVersion? {
    try first(key) { try ReservedVersion.read($0, of: $1, connection) }
  }
}

/// Reads the documents of the reserved collection in one snapshot of the store.
package struct ReservedReader: ReservedDocuments {
  package let connection: Connection
  private let collection: CollectionState

  package init(_ connection: Connection, _ store: RecordStore) throws {
    self.connection = connection
    let id = ReservedCollection.state.id
    guard let collection = try store.state(of: id, connection) else {
      throw SatchelError(.damaged, "record_collection: \(ReservedCollection.state.name) is missing")
    }
    self.collection = collection
  }

  /// The version of the documents.
  package var version: Int64 { collection.version }

  /// Returns the migrations to another version.
  ///
  /// - Parameters:
  ///   - isEmpty: whether nothing needs to be migrated
  /// - Throws: as `MigrationRun.Path.init`
  package func migrations(
    to version: Int, by migrations: [RecordMigration], callback: RecordCallback.Body?, isEmpty: Bool
  ) throws -> MigrationRun.Path {
    try MigrationRun.Path(
      collection, Change.Subject.state.rawValue, to: version, by: migrations, callback: callback,
      isEmpty: isEmpty,
      connection: connection)
  }

  package func first<Found>(
    _ key: String, _ read: (_ record: Int64, _ key: UnsafeRawBufferPointer) throws -> Found?
  ) throws -> Found? {
    var key = key
    return try key.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      return try collection.first(key, connection) { try read($0, key) }
    }
  }

  /// Visits all documents, in the order in which they were first written. `visit` must not write any.
  package func each(_ visit: (_ key: String, ReservedDocument) throws -> Void) throws {
    try ReservedReader.each(connection, visit)
  }

  /// Visits all documents of a store that has the tables of records.
  package static func each(
    _ connection: Connection, _ visit: (_ key: String, ReservedDocument) throws -> Void
  ) throws {
    let id = ReservedCollection.state.id
    try connection.each(
      """
      SELECT key, revision, modified, is_sealed, body FROM record WHERE id > ? AND id < ? ORDER BY id
      """, .integer(RecordRow.base(of: id)), .integer(RecordRow.base(of: id + 1))
    ) { try visit($0.text(0), ReservedDocument($0)) }
  }

  /// Visits the keys of the documents that have a member or are damaged, in the order in which they were first written.
  ///
  /// - Parameters:
  ///   - prefix: of the keys
  ///   - member: its name
  package func keys(prefix: String, having member: String, _ visit: (String) -> Void) throws {
    let (prefix, path) = (Array(prefix.utf8), try DocumentPath("/\(member)"))
    try connection.each(
      "SELECT key, body FROM record WHERE id > ? AND id < ? ORDER BY id",
      .integer(collection.base), .integer(RecordRow.base(of: collection.id + 1))
    ) { found in
      guard found.bytes(0).starts(with: prefix) else { return }
      let body = found.bytes(1)
      // One that is damaged is visited: reading it says so.
      if DocumentReader(body).find(path) == nil, (try? JSONScanner.check(body)) != nil { return }
      visit(found.text(0))
    }
  }

  /// Visits the documents that are sealed, of a store that has the tables of records.
  package static func eachSealed(
    _ connection: Connection, _ visit: (_ key: String, ReservedDocument) throws -> Void
  ) throws {
    try connection.each(
      """
      SELECT key, revision, modified, is_sealed, body FROM record INDEXED BY record_sealed
      WHERE is_sealed = 1 AND id < 1099511627776 ORDER BY id
      """
    ) { try visit($0.text(0), ReservedDocument($0)) }
  }

  /// Whether a store has the tables of records.
  package static func exist(_ connection: Connection) throws -> Bool {
    try connection.has(table: "record_collection")
  }
}

extension ReservedDocument {
  /// - Parameter row: `key, revision, modified, is_sealed, body`
  fileprivate init(_ row: Statement) throws {
    self.init(version: try ReservedVersion(row), isSealed: row.flag(3), body: Array(row.bytes(4)))
  }

  /// Returns the document of a row; nil when there is no such row, or it has another key.
  fileprivate static func read(
    _ record: Int64, of key: UnsafeRawBufferPointer, _ connection: Connection
  ) throws -> ReservedDocument? {
    try connection.first(
      "SELECT key, revision, modified, is_sealed, body FROM record WHERE id = ?", .integer(record)
    ) { $0.bytes(0).order(against: key) == 0 ? try ReservedDocument($0) : nil } ?? nil
  }
}

extension ReservedVersion {
  /// - Parameter row: `key, revision, modified`
  fileprivate init(_ row: Statement) throws {
    self.init(revision: try row.integer(1, in: RecordRow.revisions), modified: try row.integer(2))
  }

  /// Returns the version of a row's document; nil when there is no such row, or it has another key.
  fileprivate static func read(
    _ record: Int64, of key: UnsafeRawBufferPointer, _ connection: Connection
  ) throws -> ReservedVersion? {
    try connection.first("SELECT key, revision, modified FROM record WHERE id = ?", .integer(record)) {
      $0.bytes(0).order(against: key) == 0 ? try ReservedVersion($0) : nil
    } ?? nil
  }
}

/// Reads and writes the documents of the reserved collection in a transaction.
package struct ReservedWriter: ReservedDocuments {
  private let work: RecordWork
  private var collection: CollectionState {
    get throws { try work.collection(ReservedCollection.state.id) }
  }

  fileprivate init(_ work: RecordWork) { self.work = work }

  package var connection: Connection { work.connection }

  package func first<Found>(
    _ key: String, _ read: (_ record: Int64, _ key: UnsafeRawBufferPointer) throws -> Found?
  ) throws -> Found? {
    var key = key
    return try key.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      return try work.find(key, in: collection).row.flatMap { try read($0, key) }
    }
  }

  /// Writes a document as it is stored. An error makes the transaction fail.
  @discardableResult
  package func put(_ key: String, _ document: ReservedDocument) throws -> ReservedVersion {
    var key = key
    return try key.withUTF8 { key in
      let (key, collection) = (UnsafeRawBufferPointer(key), try collection)
      let (row, hash) = try work.find(key, in: collection)
      return try work.changing {
        let old = try row.flatMap { try RecordTable(connection: connection).head($0, withBody: false) }
        var write = RecordWork.RowWrite(key: key, hash: hash, row: row, old: old, isSealed: document.isSealed)
        write.modified = document.modified
        let revision = try document.body.withUnsafeBytes { body in
          let assets = try work.assetReferences(in: body, of: row, key, isStrict: false, in: collection)
          let (record, revision) = try work.write(body, write, in: collection)
          try work.setAssets(assets, of: record, isNew: old == nil)
          return revision
        }
        try work.mergeIfNeeded(collection)
        return ReservedVersion(revision: revision, modified: document.modified)
      }
    }
  }

  /// Removes a document, if it exists.
  package func remove(_ key: String) throws {
    var key = key
    try key.withUTF8 { key in
      let (key, collection) = (UnsafeRawBufferPointer(key), try collection)
      guard let row = try work.find(key, in: collection).row else { return }
      try work.remove(row, key, from: collection)
    }
  }

  /// Migrates an object that the subject makes of its documents, and sets the version of these.
  package func migrate(_ object: inout JSONObject, along path: MigrationRun.Path, to version: Int) throws {
    let name = Change.Subject.state.rawValue
    // The kept values belong to no single document.
    let kept = KeptValues(connection, RecordRow.base(of: ReservedCollection.state.id))
    try naming(name) { try path.migrate(&object, id: name, kept, in: work.store.database) }
    try work.flush()
    try path.note(connection)
    work.forget(ReservedCollection.state.id)
    try work.changing {
      try connection.run(
        "UPDATE record_collection SET version = ? WHERE id = ?", .integer(Int64(version)),
        .integer(ReservedCollection.state.id))
    }
  }
}
