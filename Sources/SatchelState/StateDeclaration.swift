import SatchelCore
import SatchelJSON
import SatchelStorage

/// An app's declaration of its values: defaults, and the version that its code expects.
public struct StateDeclaration: Sendable {
  /// The defaults of keys without a value. They are not stored.
  public var defaults: JSONObject
  /// The version of the values; nil migrates nothing.
  public var version: Int?
  /// The migrations from version 1 to 2, from 2 to 3 and so on. The document that they change is the object of
  /// all values by their keys, without the sensitive ones, so that `/theme` is the path of the value `theme`;
  /// a function receives it with the id "state".
  public var migrations: [RecordMigration]
  /// The host's function for stored migrations that are "callback".
  var callback: RecordCallback.Body?

  public init(defaults: JSONObject = [:], version: Int? = nil, migrations: [RecordMigration] = []) {
    self.defaults = defaults
    self.version = version
    self.migrations = migrations
  }

  /// Reads the JSON form of the public interfaces; see `satchel_state_declare`.
  ///
  /// - Parameter callback: the host's function for migrations that are "callback"
  /// - Throws: `SatchelError` `.invalid` with the JSON Pointer
  package init(json: JSONValue, callback: RecordCallback.Body? = nil) throws {
    self.init()
    self.callback = callback
    try naming("declaration") {
      guard case .object(let members) = json else { throw JSONError("must be an object", pointer: "") }
      for (key, value) in members where !value.isNull {
        switch (key, value) {
        case ("defaults", .object(let defaults)): self.defaults = defaults
        case ("defaults", _): throw JSONError("must be an object", pointer: "/defaults")
        case ("version", .int(let number)) where (1...Int64(Int32.max)).contains(number):
          version = Int(number)
        case ("version", _): throw JSONError("must be an integer from 1 to 2147483647", pointer: "/version")
        case ("migrations", _):
          migrations = try RecordMigration.list(value, at: "/migrations", callback: callback)
        default:
          throw JSONError(
            "unknown member of a declaration; the members are defaults, version and migrations",
            pointer: JSONPath.pointer([key]))
        }
      }
    }
  }
}

extension StateStore {
  /// Declares defaults, and migrates the values to the declared version: all pending migrations in one
  /// transaction, after a backup in the store's directory. Pending changes are saved first.
  ///
  /// Several parts of an app may declare defaults. They are valid for this store until it is closed, and are
  /// neither stored nor listed by `keys(prefix:)`. An older app migrates the values back to its version, if
  /// the migrations have inverses.
  ///
  /// - Throws: `SatchelError` `.invalid` for an invalid key, for another default than the declared one, for a
  ///   missing or failing migration, and in a transaction; `.newer` when the values cannot be migrated back;
  ///   `.readOnly` when a store opened read-only has another version; `.busy` while changes are spooled. Nothing
  ///   is changed then.
  public func declare(_ declaration: StateDeclaration) throws {
    try checkOpen()
    for (key, value) in declaration.defaults {
      _ = try StateName(ofHost: key, as: "key")
      try Self.check(value, at: "state/\(key)")
    }
    try defaults.withLock { try Self.check(declaration.defaults, against: $0) }
    if let version = declaration.version {
      guard version >= 1 else { throw SatchelError(.invalid, "version: must be 1 or more") }
      try migrate(to: version, declaration)
    }
    // Another thread may have declared others meanwhile.
    try defaults.withLock { declared in
      try Self.check(declaration.defaults, against: declared)
      for (key, value) in declaration.defaults { declared[key] = value }
    }
  }

  private static func check(_ defaults: JSONObject, against declared: JSONObject) throws {
    for (key, value) in defaults {
      if let known = declared[key], known != value {
        throw SatchelError(.invalid, "state/\(key): another default is declared already")
      }
    }
  }

  private func migrate(to version: Int, _ declaration: StateDeclaration) throws {
    let stored = try read([]) { reader, _ in reader?.version ?? 1 }
    if stored == version { return }
    guard !database.options.isReadOnly else {
      throw SatchelError(
        stored > version ? .newer : .readOnly,
        "state: its values have version \(stored); a store opened read-only cannot migrate them")
    }
    try saveFirst("state: its values cannot be migrated")
    try context.prepare()
    let backup = try backUpBeforeMigrating(to: version, declaration)
    do {
      try locating(SatchelError.Details(subject: Change.Subject.state.rawValue)) {
        try database.write { transaction in
          var work = StateWork(context, transaction)
          try work.migrate(to: version, declaration)
          try work.finish()
        }
      }
    } catch {
      // Nothing was changed: an app that fails at each start must not fill the disk with backups.
      if let backup { unlink(backup) }
      throw error
    }
  }

  /// - Returns: the path of the backup; nil when no values are migrated
  private func backUpBeforeMigrating(to version: Int, _ declaration: StateDeclaration) throws -> String? {
    let stored: Int? = try context.documents.readReserved { documents in
      guard documents.version != version, try !StateReader.plainValues(documents.connection).isEmpty else {
        return nil
      }
      // Throws before a backup is made when the migration is impossible.
      _ = try documents.migrations(
        to: version, by: declaration.migrations, callback: declaration.callback, isEmpty: false)
      return Int(documents.version)
    }
    guard let stored, !database.isMemory else { return nil }
    return try database.backup(to: "\(database.path).before-state-\(stored)-\(database.clock.now())").path
  }
}
