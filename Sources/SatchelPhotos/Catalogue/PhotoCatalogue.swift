import SatchelAssets
import SatchelCore
import SatchelSync
import SatchelStorage

/// The photos of one directory, identified by MD5, in 16 shards that are synchronized with an object store.
///
/// A photo is a row, and a row that was changed since the last sync keeps the line that was synchronized. Local columns
/// (camera, star, backup) are stored apart from the rows, and no import or sync changes them.
///
/// Safe to use from any number of threads and processes at the same time. After the store is closed, and
/// after `close()`, calls throw `.closed`.
public final class PhotoCatalogue: Sendable {
  /// The directory: absolute, and its real path where it exists.
  public var directory: String { location.withLock { $0 } }
  let location: Locked<String>
  package let database: Database
  /// Keeps the thumbnails.
  let assets: AssetStore
  /// The owner of this value's leases on queued backups.
  let leaseOwner: LeaseOwner

  /// - Parameters:
  ///   - directory: need not exist; all paths of one directory give the same catalogue
  ///   - onConflict: declares the policy for shards that were changed on both sides; nil keeps the declared one
  /// - Throws: `.invalid` for an invalid path, and for a policy that photos do not support, `.closed`,
  ///   `.newer`, `.io`, `.readOnly`
  package init(database: Database, directory: String, onConflict: ConflictPolicy? = nil) throws {
    try onConflict?.checkForPhotos()
    location = Locked(try DirectoryPath.normalized(directory))
    self.database = database
    assets = AssetStore(database)
    let hasTables = try database.prepare(PhotoSchema.subject)
    leaseOwner = LeaseOwner(database)
    if !database.options.isReadOnly {
      try requeueExpiredLeases()
    } else if try !hasTables
      || database.read({ try CatalogueTable(connection: $0).id(self.directory) }) == nil
    {
      throw SatchelError(
        .notFound, "\(database.path): has no catalogue of \(self.directory), and is opened read-only")
    }
    if let onConflict { try declare(onConflict) }
  }

  deinit { try? close() }

  /// The declared policy for shards that were changed on both sides; `remoteWins` until one is declared.
  public func onConflict() throws -> ConflictPolicy {
    try read(otherwise: .remoteWins) { connection, id in
      try CatalogueTable(connection: connection).row(id)?.onConflict ?? .remoteWins
    }
  }

  private func declare(_ policy: ConflictPolicy) throws {
    if try onConflict() == policy { return }
    try write { transaction, id in
      try CatalogueTable(connection: transaction.connection).setOnConflict(id, policy)
    }
  }

  /// Requeues the backups claimed by this value. Called by `deinit`, too.
  public func close() throws {
    guard leaseOwner.end(), !database.isClosed, !database.options.isReadOnly else { return }
    try releaseLeases()
  }

  func checkOpen() throws {
    if leaseOwner.isOver { throw SatchelError(.closed, "the catalogue of photos is closed") }
    if database.isClosed { throw SatchelError(.closed, "\(database.path): the store is closed") }
  }

  private var details: SatchelError.Details {
    SatchelError.Details(subject: Change.Subject.photos.rawValue, collection: directory)
  }

  // MARK: Transactions

  /// Reads the catalogue in one transaction; `body` is not called while the catalogue has no row.
  func read<Result>(
    otherwise nothing: @autoclosure () -> Result, _ body: (Connection, Int64) throws -> Result
  )
    throws -> Result
  {
    try checkOpen()
    return try locating(details) {
      try database.read { connection in
        guard let id = try CatalogueTable(connection: connection).id(directory) else { return nothing() }
        return try body(connection, id)
      }
    }
  }

  /// Reads as `read` does; a long one can be stopped.
  func readInterruptibly<Result>(
    otherwise nothing: @autoclosure () -> Result, _ body: (Connection, Int64) throws -> Result
  ) throws -> Result {
    try checkOpen()
    return try database.interruptible { try read(otherwise: nothing(), body) }
  }

  /// Changes the catalogue in one transaction; inserts its row if necessary.
  ///
  /// - Parameter isSynced: whether the commit waits for the disk; else `Database.sync()` does
  func write<Result>(isSynced: Bool = true, _ body: (Transaction, Int64) throws -> Result) throws -> Result {
    try checkOpen()
    return try locating(details) {
      try database.write(isSynced: isSynced) { transaction in
        let table = CatalogueTable(connection: transaction.connection)
        return try body(transaction, table.findOrInsert(directory, now: transaction.now))
      }
    }
  }

  // MARK: Changes

  /// The maximum number of photos in a notification; with more, it names their shards.
  private static let maxKeys = 1000

  /// Notifies observers of changed photos.
  func notify(_ photos: [MD5], in transaction: Transaction) {
    if photos.isEmpty { return }
    if photos.count > Self.maxKeys {
      notify(Set(photos.map(\.shard)).ordered(), in: transaction)
    } else {
      transaction.note(subject: .photos, keys: photos.map(\.description), place: directory)
    }
  }

  /// Notifies observers of changed shards.
  func notify(_ shards: [Shard.Index], in transaction: Transaction) {
    if shards.isEmpty { return }
    transaction.note(
      subject: .photos, keys: shards.map { "\(Change.shardPrefix)\($0)" }, place: directory)
  }
}
