import CSQLite

extension Database {
  /// Opens the store at `path`, making or migrating it as needed.
  ///
  /// - Parameters:
  ///   - migrations: the whole schema; the change log is part of it.
  ///   - subjects: all that the store may have besides; nil lets it have what it has
  package static func open(
    path: String, options: StoreOptions, migrations: [Migration], subjects: [SubjectSchema]? = nil
  ) throws -> Database {
    try SQLiteVersion.current.refuseOld()
    let migrator = Migrator(migrations: migrations, subjects: subjects)
    if path == ":memory:" {
      let database = make(path, options, setAside: nil)
      let connection = try connect(path, options, readOnly: false)
      try connection.becomeStore(migrator)
      database.adopt(connection, asWriter: true)
      return database
    }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SatchelError(.invalid, "path: empty, or holds a NUL")
    }
    do {
      return try openFile(path, options, migrator, setAside: nil)
    } catch let error as SatchelError where options.setsAside && !options.isReadOnly && error.isAboutContent {
      let target = try StoreFile.setAside(path, time: options.clock.now())
      return try openFile(path, options, migrator, setAside: target)
    }
  }

  private static func openFile(
    _ path: String, _ options: StoreOptions, _ migrator: Migrator, setAside: String?
  ) throws -> Database {
    var isNew = false
    var condition = try StoreFile.examine(path)
    if !options.isReadOnly, condition == .absent || condition == .empty {
      isNew = try StoreMaking(path: path, options: options).make { try image(of: migrator, options) }
      condition = try StoreFile.examine(path)
    }
    switch condition {
    case .absent: throw SatchelError(.notFound, "\(path): does not exist")
    case .empty: throw SatchelError(.foreign, "\(path): no store yet")
    case .foreign(let reason): throw SatchelError(.foreign, "\(path): \(reason)")
    case .damaged(let reason): throw SatchelError(.damaged, "\(path): \(reason)")
    case .store: break
    }
    // Opened to write even though it will read first: whoever closes a store last must be able to empty its log.
    let connection = try open(path, options, readOnly: options.isReadOnly)
    guard options.isReadOnly || connection.sharesMemory else { throw SatchelError(noWALAt: path) }
    let version = try connection.number("PRAGMA user_version")
    try migrator.refuseNewer(version, path: path)
    let isOld = version < migrator.newest
    if isOld {
      guard !options.isReadOnly else {
        throw SatchelError(
          .readOnly, "\(path): of an older schema, which opening to read only cannot bring up to date")
      }
      try configureWriter(connection, options)
      try update(connection, migrator, options)
    } else {
      if !options.isReadOnly, !connection.isWAL { try waiting(options) { try connection.useWAL() } }
      if isNew { try configureWriter(connection, options) }
      // The schema is read here, so that a damaged one is named now and not in the middle of a call.
      _ = try connection.prepared("SELECT max(revision) FROM change")
    }
    try migrator.checkSchema(connection)
    let database = make(path, options, setAside: setAside)
    database.adopt(connection, asWriter: isOld || isNew)
    return database
  }

  private static func make(_ path: String, _ options: StoreOptions, setAside: String?) -> Database {
    Database(path: path, options: options, setAsidePath: setAside) { readOnly in
      try connect(path, options, readOnly: readOnly)
    }
  }

  /// The bytes of a new store.
  private static func image(of migrator: Migrator, _ options: StoreOptions) throws -> [UInt8] {
    let connection = try Connection(
      path: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busyTimeout: options.busyTimeout)
    try connection.becomeStore(migrator)
    return try connection.image()
  }

  /// Brings a store of an older schema up to date.
  private static func update(
    _ connection: Connection, _ migrator: Migrator, _ options: StoreOptions
  ) throws {
    try waiting(options) {
      try connection.useWAL()
      try migrator.migrate(connection)
    }
  }

  /// Repeats what fails with `.busy`: SQLite does not wait for another connection that changes the journal mode.
  private static func waiting(_ options: StoreOptions, _ body: () throws -> Void) throws {
    let start = Clock.steadyMilliseconds
    while true {
      do {
        return try body()
      } catch let error as SatchelError where error.code == .busy {
        guard Clock.steadyMilliseconds - start < Int64(options.busyTimeout) else { throw error }
        usleep(10_000)
      }
    }
  }

  private static func connect(_ path: String, _ options: StoreOptions, readOnly: Bool) throws -> Connection {
    let connection = try open(path, options, readOnly: readOnly)
    if !readOnly { try configureWriter(connection, options) }
    return connection
  }

  private static func open(_ path: String, _ options: StoreOptions, readOnly: Bool) throws -> Connection {
    let flags = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let connection = try Connection(
      path: path, flags: flags, busyTimeout: options.busyTimeout,
      fileSystem: readOnly ? options.fileSystem : WALBufferVFS.above(options.fileSystem))
    guard options.isReadOnly, path != ":memory:" else { return connection }
    do {
      _ = try connection.number("PRAGMA schema_version")
      return connection
    } catch let error as SatchelError where error.code == .readOnly || error.code == .io {
      // A log that holds something needs its index, which cannot be made here.
      if StoreFile.hasLog(path) { throw error }
    }
    // In a directory that cannot be written there is no place for the index of a log. Without a log, and where
    // nobody can make one, the file is all there is.
    return try Connection(
      path: path, flags: flags, busyTimeout: options.busyTimeout, isImmutable: true,
      fileSystem: options.fileSystem)
  }

  /// Settings of the connection that writes, as measured. No memory map: it makes a cold open slower.
  private static func configureWriter(_ connection: Connection, _ options: StoreOptions) throws {
    try connection.syncCommits(options.durability == .full)
    try connection.execute("PRAGMA cache_size = -8192")
  }
}

extension Connection {
  /// Gives an empty database the owner, the page layout and the tables of a store. The first two cannot change later.
  fileprivate func becomeStore(_ migrator: Migrator) throws {
    try execute(
      """
      PRAGMA page_size = 4096;
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA application_id = \(StoreFile.applicationID);
      """)
    try migrator.migrate(self)
  }

  /// Sets the journal mode to WAL, which a store has unless another program changed it.
  fileprivate func useWAL() throws {
    let mode = try first("PRAGMA journal_mode = WAL") { $0.text(0) }
    guard mode == "wal" else {
      throw SatchelError(noWALAt: path)
    }
  }
}

extension SatchelError {
  fileprivate init(noWALAt path: String) {
    self.init(.io, "\(path): cannot be in WAL mode: its file system offers no shared memory")
  }

  /// Whether it is what stands in the file that cannot be used.
  var isAboutContent: Bool { code == .damaged || code == .foreign }
}
