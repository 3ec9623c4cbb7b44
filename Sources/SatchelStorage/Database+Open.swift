import CSQLite
import SatchelCore

extension Database {
  /// Opens the store at `path`; creates or migrates it if necessary.
  ///
  /// - Parameters:
  ///   - migrations: the whole schema, including the change log
  ///   - subjects: all subjects that the store may have; nil accepts any
  ///   - rules: for the tables of `migrations`
  package static func open(
    path: String, options: StoreOptions, migrations: [Migration], subjects: [SubjectSchema]? = nil,
    rules: @autoclosure @escaping @Sendable () -> StoredRules = ChangeLog.rules
  ) throws -> Database {
    try SQLiteVersion.current.refuseOld()
    let migrator = Migrator(migrations: migrations, subjects: subjects, rules: rules)
    if path == ":memory:" {
      let database = make(path, options, migrator: migrator, quarantine: nil)
      let connection = try connect(path, options, readOnly: false)
      try connection.initializeStore(migrator)
      database.adopt(connection, asWriter: true)
      return database
    }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SatchelError(.invalid, "path: is empty or contains a NUL")
    }
    do {
      return try openFile(path, options, migrator: migrator, quarantine: nil)
    } catch let error as SatchelError where options.quarantine && !options.isReadOnly && error.isAboutContent
    {
      let target = try StoreFile.quarantine(path, time: options.clock.now())
      return try openFile(path, options, migrator: migrator, quarantine: target)
    }
  }

  private static func openFile(
    _ path: String, _ options: StoreOptions, migrator: Migrator, quarantine: String?
  ) throws -> Database {
    var isNew = false
    var condition = try StoreFile.examine(path)
    if !options.isReadOnly, condition == .absent || condition == .empty {
      isNew = try StoreCreation(path: path, options: options).make { try image(of: migrator, options) }
      condition = try StoreFile.examine(path)
    }
    switch condition {
    case .absent: throw SatchelError(.notFound, "\(path): does not exist")
    case .empty: throw SatchelError(.foreign, "\(path): is empty, not a store")
    case .foreign(let reason): throw SatchelError(.foreign, "\(path): \(reason)")
    case .damaged(let reason): throw SatchelError(.damaged, "\(path): \(reason)")
    case .store: break
    }
    // Opened writable even though it reads first: the last connection to close must be able to delete the
    // WAL.
    let (connection, version) = try open(path, options, readOnly: options.isReadOnly)
    try migrator.refuseNewer(version, path: path)
    let isOld = version < migrator.newest
    if isOld {
      guard !options.isReadOnly else {
        throw SatchelError(
          .readOnly, "\(path): has an older schema; open it writable once to migrate it")
      }
      try connection.syncCommits(options.durability == .full)
      try update(connection, migrator, options: options)
    } else {
      if !options.isReadOnly, !connection.isWAL { try waiting(options) { try connection.useWAL() } }
      if isNew { try connection.syncCommits(options.durability == .full) }
    }
    let subjects = try migrator.checkSchema(connection)
    try enlargeCache(connection)
    let database = make(path, options, migrator: migrator, quarantine: quarantine)
    if let subjects { database.subjectsWhenOpened = subjects }
    // An error here is reported by the calls that need it.
    let newest = try? ChangeLog.newestEntry(connection)
    database.adopt(connection, asWriter: isOld || isNew)
    if let newest { database.learn(newest.time) }
    return database
  }

  private static func make(
    _ path: String, _ options: StoreOptions, migrator: Migrator, quarantine: String?
  ) -> Database {
    Database(path: path, options: options, quarantinePath: quarantine, times: migrator.times) { readOnly in
      try connect(path, options, readOnly: readOnly)
    }
  }

  /// Returns the content of a new store's file.
  private static func image(of migrator: Migrator, _ options: StoreOptions) throws -> [UInt8] {
    let connection = try Connection(
      path: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busyTimeout: options.busyTimeout)
    try connection.initializeStore(migrator)
    return try connection.image()
  }

  /// Migrates a store of an older schema.
  private static func update(
    _ connection: Connection, _ migrator: Migrator, options: StoreOptions
  ) throws {
    try waiting(options) {
      try connection.useWAL()
      try migrator.migrate(connection)
    }
  }

  /// Retries `body` while it fails with `.busy`: SQLite does not wait for another connection that changes the
  /// journal mode, nor for a lock that it does not acquire itself.
  private static func waiting<Result>(_ options: StoreOptions, _ body: () throws -> Result) throws -> Result {
    let start = Clock.monotonic.now()
    while true {
      do {
        return try body()
      } catch let error as SatchelError where error.code == .busy {
        guard Clock.monotonic.now() - start < Int64(options.busyTimeout) else { throw error }
        usleep(10_000)
      }
    }
  }

  private static func connect(_ path: String, _ options: StoreOptions, readOnly: Bool) throws -> Connection {
    let (connection, _) = try open(path, options, readOnly: readOnly)
    if !readOnly { try connection.syncCommits(options.durability == .full) }
    try enlargeCache(connection)
    return connection
  }

  /// Opens a file, and reads the version of its schema, which locks it.
  private static func open(
    _ path: String, _ options: StoreOptions, readOnly: Bool
  ) throws -> (connection: Connection, version: Int64) {
    let flags = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    if options.isImmutable, readOnly, !StoreFile.hasWAL(path) {
      let connection = try Connection(
        path: path, flags: flags, busyTimeout: options.busyTimeout, isImmutable: true,
        vfsName: options.vfsName)
      return (connection, try connection.number("PRAGMA user_version"))
    }
    do {
      for _ in 0..<maximumReplacements {
        let connection = try Connection(
          path: path, flags: flags, busyTimeout: options.busyTimeout, vfsName: options.vfsName)
        guard options.isReadOnly || path == ":memory:" || connection.sharesMemory else {
          throw SatchelError(noWALAt: path)
        }
        // Replaced before it was locked: the file that is at the path now is opened.
        guard try waiting(options, { try connection.lockAtPath() }) else { continue }
        return (connection, try connection.number("PRAGMA user_version"))
      }
      throw SatchelError(.busy, "\(path): is replaced again and again")
    } catch let error as SatchelError
      where options.isReadOnly && path != ":memory:" && (error.code == .readOnly || error.code == .io)
    {
      // A WAL with content needs its index (-shm), which cannot be created here.
      if StoreFile.hasWAL(path) { throw error }
    }
    // In a read-only directory the WAL index cannot be created. Without a WAL, and where no process can
    // create one, the database file is complete.
    let connection = try Connection(
      path: path, flags: flags, busyTimeout: options.busyTimeout, isImmutable: true,
      vfsName: options.vfsName)
    return (connection, try connection.number("PRAGMA user_version"))
  }

  /// How often a file may be replaced while it is opened.
  private static let maximumReplacements = 20

  /// The size of a connection's page cache in KiB, by measurement: 8 MiB contain the index of some hundred thousand ids.
  private static let pageCache = 8192

  /// Sets the size of a connection's page cache. No memory map: it makes a cold open slower.
  private static func enlargeCache(_ connection: Connection) throws {
    try connection.execute("PRAGMA cache_size = -\(pageCache)")
  }
}

extension Connection {
  /// Sets the application id, the page layout and the tables of a new store. The first two cannot change
  /// later.
  fileprivate func initializeStore(_ migrator: Migrator) throws {
    try execute(
      """
      PRAGMA page_size = 4096;
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA application_id = \(StoreFile.applicationID);
      """)
    try migrator.migrate(self)
  }

  /// Sets the journal mode to WAL; a store is in WAL mode already unless another program changed it.
  fileprivate func useWAL() throws {
    let mode = try first("PRAGMA journal_mode = WAL") { $0.text(0) }
    guard mode == "wal" else {
      throw SatchelError(noWALAt: path)
    }
  }
}

extension SatchelError {
  fileprivate init(noWALAt path: String) {
    self.init(
      .io,
      "\(path): cannot use WAL mode: its file system has no shared memory; move the store to a local disk")
  }

  /// Whether the error is about the content of the file.
  var isAboutContent: Bool { code == .damaged || code == .foreign }
}

/// A version of the SQLite library.
package struct SQLiteVersion: Equatable, Sendable, CustomStringConvertible {
  /// The number of `sqlite3_libversion_number()`: 3040001 is 3.40.1.
  package var number: Int32

  package init(number: Int32) { self.number = number }

  /// The SQLite library of this process.
  package static var current: SQLiteVersion { SQLiteVersion(number: sqlite3_libversion_number()) }

  /// Whether the SQLite library of this process has R*Trees, which are optional.
  package static var hasRTree: Bool { sqlite3_compileoption_used("ENABLE_RTREE") != 0 }

  /// The oldest supported version: STRICT tables were added in 3.37.
  package static let oldest = SQLiteVersion(number: 3_037_000)

  package var description: String { "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)" }

  /// Whether it has the WAL-reset bug, by which commits are lost when several connections checkpoint and
  /// write at once (`CheckpointGuard` prevents that). 3.51.3 fixed it, and 3.50.7 and 3.44.6 have the fix:
  /// https://sqlite.org/wal.html#walresetbug. A distribution may have backported the fix without changing the
  /// version.
  package var hasWALResetBug: Bool {
    switch number {
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
    default: number < 3_051_003
    }
  }

  /// Throws when the SQLite library is too old for a store's tables.
  package func refuseOld() throws {
    guard number < Self.oldest.number else { return }
    throw SatchelError(.internal, "SQLite \(self) is too old: Satchel requires \(Self.oldest) or newer")
  }
}

/// Options for opening a store.
public struct StoreOptions: Sendable {
  /// The durability of commits.
  public enum Durability: Sendable {
    /// Syncs every commit: an acknowledged commit survives a power loss.
    case full
    /// Commits survive the end of the process; a power loss may lose those made after the last checkpoint.
    case relaxed
  }

  /// Opens the store without writing; the file must exist.
  public var isReadOnly = false
  /// Renames a damaged or foreign file, which is never deleted, and creates a new store.
  public var quarantine = false
  /// Whether each commit survives a power loss.
  public var durability = Durability.full
  /// The time that a call waits for another writer, in milliseconds.
  public var busyTimeout: Int32 = 5000
  /// The time limit of queries, searches, statistics and checks, in milliseconds; 0 for none. One that takes longer
  /// throws `.timedOut`. `Interrupt` sets another limit for some of them.
  public var queryTimeout: Int32 = 0
  /// The source of the time.
  public var clock = Clock.system
  /// Whether no process writes to a file that is opened read-only: it gets no WAL files then.
  package var isImmutable = false
  /// The name of the SQLite VFS that reads and writes the files; nil for the default.
  package var vfsName: String?
  /// The system calls for files that SQLite does not write.
  package var fileCalls = FileCalls.system

  public init() {}
}
