import Foundation
import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage
import SatchelStorageTesting
import SatchelTesting

@testable import SatchelPhotos

/// A store in a directory of its own, and a catalogue in it.
final class CatalogueFixture {
  private let temporary: TemporaryDirectory
  var folder: String { temporary.path }
  private(set) var database: Database
  private(set) var photos: PhotoCatalogue
  let clock = Locked<Int64>(1_700_000_000_000)

  /// - Parameter disk: the VFS of the store, which then waits for the disk
  init(disk: FaultyDisk? = nil) throws {
    temporary = try TemporaryDirectory()
    (database, photos) = try Self.open(temporary.path, clock, disk)
  }

  deinit {
    try? photos.close()
    try? database.close()
  }

  /// Another catalogue of the same store.
  func catalogue(_ name: String) throws -> PhotoCatalogue {
    try PhotoCatalogue(database: database, directory: "\(folder)/\(name)")
  }

  /// Another handle of the same file.
  func secondStore() throws -> Database { try Self.store(folder, clock) }

  func reopen() throws {
    try photos.close()
    try database.close()
    (database, photos) = try Self.open(folder, clock)
  }

  /// Runs SQL that damages the store.
  func execute(_ sql: String) throws { try database.write { try $0.connection.execute(sql) } }

  private static func store(_ folder: String, _ clock: Locked<Int64>, _ disk: FaultyDisk? = nil) throws
    -> Database
  {
    var options = StoreOptions()
    options.durability = disk == nil ? .relaxed : .full
    options.vfsName = disk?.name
    options.clock = Clock { clock.withLock { $0 } }
    return try Database.open(
      path: folder + "/photos.satchel", options: options,
      migrations: [Migration(version: 1, sql: ChangeLog.schema)])
  }

  private static func open(_ folder: String, _ clock: Locked<Int64>, _ disk: FaultyDisk? = nil) throws
    -> (Database, PhotoCatalogue)
  {
    let database = try store(folder, clock, disk)
    return (database, try PhotoCatalogue(database: database, directory: folder + "/album"))
  }

  // MARK: Photos

  static let shard = Shard.Index.all[5]

  /// The photo of a shard with a number.
  static func photo(_ number: Int, shard: Shard.Index = shard, name: String = "a.jpg", date: Int64 = 0)
    -> Photo
  {
    // Spread over the shard, so that the numbers are not in the order of md5.
    let spread = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
    return Photo(
      md5: MD5(high: UInt64(shard.number) << 60 | spread >> 4, low: UInt64(number)), filename: name,
      size: Int64(number), photodate: date, modified: 7, width: 4, height: 3)
  }

  static func line(_ photo: Photo) -> String {
    var bytes: [UInt8] = []
    ShardWriter.write(photo, into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A shard's file.
  static func file(_ photos: [Photo], kept: [String] = []) -> [UInt8] {
    Array(
      (photos.map(line) + kept).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "\n")
        .utf8)
  }
}

extension PhotoCatalogue {
  /// Returns all photos, in small pages.
  func all(_ query: PhotoQuery = PhotoQuery(), page: Int = 7) throws -> [Photo] {
    var (query, photos) = (query, [Photo]())
    query.limit = page
    repeat {
      let page = try self.query(query)
      photos += page.photos.map(\.photo)
      query.cursor = page.next
    } while query.cursor != nil
    return photos
  }

  /// Returns all photos by date, in pages.
  func byDate(
    from: Int64? = nil, to: Int64? = nil, isDescending: Bool = false, page: Int = 100
  ) throws -> [Photo] {
    var query = PhotoQuery()
    (query.order, query.isDescending, query.from, query.to) = (.photodate, isDescending, from, to)
    return try all(query, page: page)
  }

  /// Does what a sync without other devices does: uploads everything.
  func uploadAll(uuid: String = "remote") throws {
    for state in try syncState().shards where state.hasChanges {
      let export = try export(state.index)
      try recordPendingUpload(state.index, export)
      try finishUpload(state.index, export: export, etag: ETag("\"\(export.checksum)\""), ancestors: nil)
    }
    try finishSync(manifestETag: nil, uuid: uuid, user: UserID("u"))
  }

  /// Does what a sync does that finds other bytes in the remote.
  @discardableResult
  func download(_ shard: Shard.Index, _ bytes: [UInt8], onConflict: ConflictPolicy = .remoteWins) throws
    -> PullResult
  {
    let expected = try syncState().shards[shard.number].syncedChecksum
    return try applyRemote(
      shard, bytes: bytes, checksum: Shard.checksum(bytes), etag: nil, expected: expected, confirmedUpTo: nil,
      onConflict: onConflict, ancestors: nil, logsLostRows: false)
  }
}
