import SatchelCore
import SatchelStorage

/// Looks up single photos.
struct PhotoLookup {
  let connection: Connection
  let catalogue: Int64

  /// Returns the photo's row, with the changes on top; nil when the catalogue does not have the photo.
  func photo(_ md5: MD5) throws -> Photo? {
    try state(of: md5.shard).flatMap { try find(md5, $0)?.photo }
  }

  /// Returns a photo of a directory's catalogue with its local columns.
  ///
  /// - Parameter known: what earlier calls have read in the same transaction
  static func details(
    _ md5: MD5, of directory: String, _ connection: Connection, known: borrowing Locked<KnownStates>
  ) throws -> PhotoDetails? {
    let number = connection.snapshot
    var state = known.withLock { $0.state(of: md5.shard, in: number) }
    if state == nil {
      state = try connection.first(
        """
        SELECT base, CASE WHEN is_imported THEN ancestor ELSE base END, changes, catalogue,
        EXISTS(SELECT 1 FROM photo_local l WHERE l.catalogue = c.id)
        FROM photo_catalogue c JOIN photo_shard ON catalogue = c.id AND shard = ? WHERE directory = ?
        """, .integer(Int64(md5.shard.number)), .text(directory)
      ) { try State($0) }
      if let state { known.withLock { $0.add(state, of: md5.shard, in: number) } }
    }
    guard let state else { return nil }
    let lookup = PhotoLookup(connection: connection, catalogue: state.catalogue)
    guard let found = try lookup.find(md5, state) else { return nil }
    let table = LocalTable(connection: connection, catalogue: state.catalogue)
    return PhotoDetails(
      found.photo, local: state.hasLocal ? try table.row(md5) : nil,
      isOnRemote: try lookup.isOnRemote(md5, state, isInBase: found.isInBase))
  }

  /// Whether the photo is in the version synchronized last.
  func isOnRemote(_ md5: MD5) throws -> Bool {
    guard let state = try state(of: md5.shard) else { return false }
    return try isOnRemote(md5, state, isInBase: nil)
  }

  /// The state of a shard that a look-up needs.
  struct State {
    var base: Int64
    /// The version synchronized last.
    var synced: Int64
    var hasChanges: Bool
    var catalogue: Int64
    /// Whether any photo of the catalogue has local columns.
    var hasLocal: Bool

    /// - Parameter row: a statement whose columns begin with these
    init(_ row: Statement) throws {
      (base, synced) = (row.anyInteger(0), row.anyInteger(1))
      hasChanges = try row.integer(2, in: PhotoSchema.changes) > 0
      (catalogue, hasLocal) = (row.anyInteger(3), row.flag(4))
    }
  }

  private func state(of shard: Shard.Index) throws -> State? {
    try connection.first(
      """
      SELECT base, CASE WHEN is_imported THEN ancestor ELSE base END, changes, catalogue, 1 FROM photo_shard
      WHERE catalogue = ? AND shard = ?
      """, .integer(catalogue), .integer(Int64(shard.number))
    ) { try State($0) }
  }

  private func find(_ md5: MD5, _ state: State) throws -> (photo: Photo, isInBase: Bool)? {
    if state.hasChanges {
      let overlay = OverlayTable(connection: connection, catalogue: catalogue)
      let changed: (photo: Photo, isInBase: Bool)?? = try overlay.row(md5) { row in
        try row.line.map { (try Self.parse($0, md5), row.isInBase) }
      }
      if let changed { return changed }
    }
    return try BlockTable(connection: connection, shard: md5.shard)
      .withLine(of: md5, version: state.base) { (try Self.parse($0, md5), true) }
  }

  /// - Parameter isInBase: whether the base has the photo, if that is known
  private func isOnRemote(_ md5: MD5, _ state: State, isInBase: Bool?) throws -> Bool {
    if let isInBase, state.synced == state.base { return isInBase }
    return try BlockTable(connection: connection, shard: md5.shard)
      .withLine(of: md5, version: state.synced) { _ in true } ?? false
  }

  /// Parses a line of a table.
  static func parse(_ line: UnsafeRawBufferPointer, _ md5: MD5) throws -> Photo {
    guard let photo = ShardReader.photo(in: line, shard: md5.shard), photo.md5 == md5 else {
      throw SatchelError(.damaged, "shard \(md5.shard): the row of \(md5) cannot be read")
    }
    return photo
  }
}

/// The states of shards in the latest read transactions, for all look-ups that share one.
struct KnownStates {
  /// The number of connections that read at once.
  private static let maxCount = 4

  private var transactions: [(number: UInt64, states: [PhotoLookup.State?])] = []

  /// - Parameter number: the number of the transaction; see `Connection.snapshot`
  func state(of shard: Shard.Index, in number: UInt64) -> PhotoLookup.State? {
    for transaction in transactions where transaction.number == number {
      return transaction.states[shard.number]
    }
    return nil
  }

  mutating func add(_ state: PhotoLookup.State, of shard: Shard.Index, in number: UInt64) {
    guard number != 0 else { return }
    if let index = transactions.firstIndex(where: { $0.number == number }) {
      transactions[index].states[shard.number] = state
      return
    }
    if transactions.count >= Self.maxCount { transactions.removeLast() }
    var states = [PhotoLookup.State?](repeating: nil, count: Shard.Index.all.count)
    states[shard.number] = state
    transactions.insert((number, states), at: 0)
  }
}

/// The photos of a shard that the remote had at the last sync.
struct RemotePhotos {
  /// Nil when the base is the version synchronized last.
  private let ancestor: BlockCursor?

  init(_ connection: Connection, _ record: ShardRecord) {
    ancestor = record.isImported ? BlockCursor(connection, record.ancestor, shard: record.shard) : nil
  }

  func contains(_ photo: ShardScan.Row) throws -> Bool {
    try ancestor.map { try $0.contains(photo.md5) } ?? photo.isInBase
  }
}
