import SatchelRemote
import SatchelStorage

/// The photos of one directory: found by their MD5, in 16 shards whose master copy lives in an object store.
///
/// A shard has a base, which is what was last agreed with the master, and the changes made here since. What is
/// known here only (camera, star, backup) is kept apart, and survives whatever happens to the rows.
///
/// Safe to use from any number of threads, and beside other processes. After the store is closed, and after
/// `close()`, calls throw `.closed`.
public final class PhotoCatalogue: Sendable {
  /// The directory: absolute, and its real path where it exists.
  public let directory: String
  package let database: Database
  /// Who claims backups through this value.
  let claimant: Claimant

  /// - Parameter directory: need not exist; the same one by another path is the same catalogue
  /// - Throws: `.invalid` for a directory that is no path, `.closed`, `.newer`, `.io`
  package init(database: Database, directory: String) throws {
    self.directory = try DirectoryPath.normalized(directory)
    self.database = database
    let hasTables = try database.prepare(PhotoSchema.subject)
    claimant = Claimant(database)
    if !database.options.isReadOnly {
      try requeueDeadClaims()
    } else if try !hasTables
      || database.read({ try CatalogueTable(connection: $0).id(self.directory) }) == nil
    {
      throw SatchelError(
        .notFound, "\(database.path): has no catalogue of \(self.directory), and is opened to read only")
    }
  }

  deinit { try? close() }

  /// Gives back what this value claimed of the queue of backups. Called when it is given up, too.
  public func close() throws {
    guard claimant.end(), !database.isClosed, !database.options.isReadOnly else { return }
    try returnClaims()
  }

  func checkOpen() throws {
    if claimant.isOver { throw SatchelError(.closed, "the catalogue of photos is closed") }
    if database.isClosed { throw SatchelError(.closed, "\(database.path): the store is closed") }
  }

  // MARK: Transactions

  /// Reads one state of the catalogue; `body` is not called while it was never written to.
  func read<Result>(
    otherwise nothing: @autoclosure () -> Result, _ body: (Connection, Int64) throws -> Result
  )
    throws -> Result
  {
    try checkOpen()
    return try database.read { connection in
      guard let id = try CatalogueTable(connection: connection).id(directory) else { return nothing() }
      return try body(connection, id)
    }
  }

  /// Changes the catalogue in one transaction; makes its row when there is none.
  ///
  /// - Parameter isSynced: else it is on the disk behind `Database.sync()`
  func write<Result>(isSynced: Bool = true, _ body: (Transaction, Int64) throws -> Result) throws -> Result {
    try checkOpen()
    return try database.write(isSynced: isSynced) { transaction in
      let table = CatalogueTable(connection: transaction.connection)
      return try body(transaction, table.claim(directory, now: transaction.now))
    }
  }

  // MARK: Changes

  /// More photos than this are told as shards.
  private static let mostKeys = 1000

  /// Says which photos changed.
  func note(_ photos: [MD5], in transaction: Transaction) {
    if photos.isEmpty { return }
    if photos.count > Self.mostKeys {
      note(Set(photos.map(\.shard)).sorted(), in: transaction)
    } else {
      transaction.note(subject: "photos", keys: photos.map(\.description), place: directory)
    }
  }

  /// Says which shards changed.
  func note(_ shards: [Shard.Index], in transaction: Transaction) {
    if shards.isEmpty { return }
    transaction.note(subject: "photos", keys: shards.map { "shard:\($0)" }, place: directory)
  }
}
