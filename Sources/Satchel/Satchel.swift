@_exported import SatchelCatalogue
@_exported import SatchelJSON
@_exported import SatchelPhotos
@_exported import SatchelRecords
@_exported import SatchelRemote
@_exported import SatchelStorage
@_exported import SatchelStories

/// An open store: one SQLite file, and the subjects that live in it.
///
/// Safe to use from any number of threads; several processes may open the same file.
public final class Satchel: Sendable {
  /// The library's version, "major.minor.patch".
  public static let version = "0.1.0"

  /// The version, and that of SQLite: what `satchel --version` prints.
  public static var versionDetails: String {
    let sqlite = SQLiteVersion.current
    let bug = sqlite.hasWALResetBug ? "its WAL-reset bug is prevented" : "without the WAL-reset bug"
    return "\(version) (SQLite \(sqlite), \(bug))"
  }

  package let database: Database
  /// Content scoped to places.
  public let catalogue: Catalogue
  /// Small values that the app changes often.
  public let state: StateStore
  let recordStore: RecordStore
  let journal: Journal
  /// Catalogues of photos that were handed out: what they claimed is given back when the store closes.
  private let albums = Guarded<[Album]>([])

  private struct Album {
    weak var photos: PhotoCatalogue?
  }

  /// Opens a store, making the file when there is none.
  ///
  /// - Parameter path: the file, or ":memory:"
  /// - Throws: `SatchelError` `.foreign`, `.damaged`, `.newer`, `.notFound`, `.readOnly`, `.io`; the file is left
  ///   as it is then.
  public init(path: String, options: StoreOptions = StoreOptions()) throws {
    database = try Database.open(
      path: path, options: options, migrations: Self.migrations, subjects: Self.subjects)
    catalogue = Catalogue(database: database)
    journal = Journal(path: database.realPath)
    recordStore = RecordStore(database: database, journal: journal)
    state = try StateStore(database: database, journal: journal)
    // What the file could not take the last time; what it still cannot take stays in the spill file.
    if !database.options.isReadOnly { _ = try? journal.replay(in: database) }
  }

  /// All steps of the store's schema, oldest first. A step that was released is never changed. The other subjects
  /// make their tables when they are first used.
  static let migrations = [
    Migration(version: 1, sql: ChangeLog.schema + CatalogueSchema.version1)
  ]

  /// Closes the store; everything acknowledged is in the file. A store that is given up closes by itself.
  ///
  /// - Throws: `.closed` when it was closed before; what the last write met, after closing all the same
  public func close() throws {
    // Each as far as it goes: claims that cannot be given back now are taken back when they are found to be dead.
    for album in albums.withLock({ $0 }) { try? album.photos?.close() }
    try database.close()
  }

  public var path: String { database.path }
  public var isReadOnly: Bool { database.options.isReadOnly }
  /// Where a file that could not be opened was set aside to, when the options allowed it.
  public var setAsidePath: String? { database.setAsidePath }

  /// Examines the whole file: time grows with its size.
  ///
  /// - Returns: what is not as it should be; empty for a sound store.
  public func check() throws -> [StoreFinding] {
    do {
      var findings = try database.checkIntegrity()
      // Tables that SQLite cannot read cannot be examined further.
      if findings.isEmpty { findings = try database.checkSchema(Self.migrations, Self.subjects) }
      if !findings.isEmpty { return findings }
      // Numbers that cannot be would stop what counts.
      findings = try database.checkValues(Self.rules, Self.subjects)
      return findings + examineSubjects()
    } catch let error as SatchelError where error.code == .damaged {
      // So much so that SQLite's examination itself gave up.
      return [StoreFinding(code: "damaged", message: error.message)]
    }
  }

  /// What holds between the rows of each subject; where a row cannot be read, that is said, and the others go on.
  private func examineSubjects() -> [StoreFinding] {
    let subjects: [() throws -> [StoreFinding]] = [
      { try self.catalogue.check() }, { try PhotoCatalogue.check(self.database) },
      { try StoryLibrary.check(self.database) },
      { try RecordCollection.check(self.database) }, { try StateStore.check(self.database) },
      { try self.journal.check(self.database) },
    ]
    return subjects.flatMap { check in
      do {
        return try check()
      } catch {
        return [StoreFinding(code: "damaged", message: (error as? SatchelError)?.message ?? "\(error)")]
      }
    }
  }

  /// What the values of the tables that every store has can be.
  static let rules = ChangeLog.rules.merging(CatalogueSchema.rules)

  /// The catalogue of the photos of a directory.
  ///
  /// - Parameter directory: need not exist; the same one by another path is the same catalogue
  /// - Returns: a value of its own for each call
  /// - Throws: `SatchelError` `.invalid` for what is no path, `.newer`, `.io`, `.closed`
  public func photos(in directory: String) throws -> PhotoCatalogue {
    let photos = try PhotoCatalogue(database: database, directory: directory)
    albums.withLock { albums in
      albums.removeAll { $0.photos == nil }
      albums.append(Album(photos: photos))
    }
    return photos
  }

  /// The stories of a directory, with an index of them in this store.
  ///
  /// - Returns: a library of its own for each call; making one does not read the files yet
  /// - Throws: `SatchelError` `.notFound` when there is no such directory, `.invalid` when it is none, `.io`,
  ///   `.closed`
  public func stories(in directory: String) throws -> StoryLibrary {
    try StoryLibrary(database: database, directory: directory)
  }

  /// Facts for people: path, sizes, versions, and whether this version of SQLite has the WAL-reset bug, which Satchel
  /// keeps away.
  public func info() throws -> JSONValue {
    [
      "path": .string(path), "read_only": .bool(isReadOnly),
      "schema_version": .int(try database.schemaVersion),
      "file_bytes": .int(database.fileBytes), "sqlite_version": .string("\(SQLiteVersion.current)"),
      "sqlite_wal_reset_bug": .bool(SQLiteVersion.current.hasWALResetBug),
      "set_aside": setAsidePath.map { .string($0) } ?? .null,
    ]
  }

  /// Ends an observation when cancelled or given up.
  public struct Observation: Sendable {
    fileprivate let subscription: ChangeFeed.Subscription

    public func cancel() { subscription.cancel() }
  }

  /// Hears of every change after its commit: own ones on the thread that made them, those of other handles and
  /// processes on a thread of the library.
  public func observe(_ hear: @escaping @Sendable (Change) -> Void) throws -> Observation {
    Observation(subscription: try database.observe(hear))
  }
}
