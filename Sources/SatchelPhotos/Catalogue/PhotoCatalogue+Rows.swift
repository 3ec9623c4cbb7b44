import SatchelCore
import SatchelStorage

extension PhotoCatalogue {
  /// Adds or replaces photos in one transaction. Of several with one md5 the last wins. A photo that equals
  /// the stored one changes nothing.
  ///
  /// - Returns: how many changed
  /// - Throws: `.invalid` for a negative number, `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func upsert(_ photos: [Photo]) throws -> Int {
    for photo in photos { try photo.validate() }
    try checkOpen()
    if photos.isEmpty { return 0 }
    // In order, so that the inserts into the tables are sequential.
    let order = orderOfIndices(photos.count) {
      photos[$0].md5 == photos[$1].md5 ? $0 < $1 : photos[$0].md5 < photos[$1].md5
    }
    var line: [UInt8] = []
    return try change(count: photos.count) { batch in
      for (position, index) in order.enumerated() {
        let photo = photos[index]
        if position + 1 < order.count, photos[order[position + 1]].md5 == photo.md5 { continue }
        line.removeAll(keepingCapacity: true)
        ShardWriter.write(photo, into: &line)
        try line.withUnsafeBytes { try batch.set(photo.md5, line: $0) }
      }
    }
  }

  /// Deletes photos from the catalogue. Their local columns stay, in case the photos are added again. No scan of
  /// this device adds them again while their files do not change.
  ///
  /// - Returns: how many existed
  /// - Throws: `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func delete(_ photos: [MD5]) throws -> Int {
    try checkOpen()
    if photos.isEmpty { return 0 }
    let photos = Set(photos).ordered()
    return try write { transaction, id in
      let files = FileTable(connection: transaction.connection, catalogue: id)
      for md5 in photos { try files.hide(md5) }
      return try change(count: photos.count) { batch in
        for md5 in photos { try batch.set(md5, line: nil) }
      }
    }
  }

  /// Returns a photo with its local columns; nil when the catalogue does not have it.
  ///
  /// - Throws: `.closed`, `.damaged`
  public func photo(_ md5: MD5) throws -> PhotoDetails? {
    try checkOpen()
    return try database.read { try PhotoLookup.details(md5, of: directory, $0) }
  }

  /// Returns the number of photos, in constant time.
  public func count() throws -> Int64 {
    try read(otherwise: 0) { connection, id in
      try ShardTable(connection: connection, catalogue: id).records().reduce(0) { $0 + $1.photos }
    }
  }

  /// Returns the shards with photos that were added, changed or deleted locally since the last sync. An
  /// imported file does not count as a change, though the next sync uploads it: see `status` for that.
  public func modifiedShards() throws -> [Shard.Index] {
    try read(otherwise: []) { connection, id in
      try ShardTable(connection: connection, catalogue: id).records().filter { $0.changes > 0 }.map(\.shard)
    }
  }

  // MARK: Writing

  /// Changes photos in the order of their md5, in one transaction.
  ///
  /// - Returns: how many changed
  func change(count: Int, _ body: (inout PhotoBatch) throws -> Void) throws -> Int {
    try write { transaction, id in
      var batch = try PhotoBatch(transaction, catalogue: id, count: count)
      try body(&batch)
      try batch.finish()
      notify(batch.changed, in: transaction)
      return batch.changed.count
    }
  }
}

/// A batch of changes in one transaction, given in the order of their md5.
struct PhotoBatch {
  private let transaction: Transaction
  private let catalogue: Int64
  private var sequence: Int64
  private var edit: ShardEdit?
  private(set) var changed: [MD5] = []

  /// - Parameter count: the maximum number of changes
  init(_ transaction: Transaction, catalogue: Int64, count: Int) throws {
    self.transaction = transaction
    self.catalogue = catalogue
    sequence = try CatalogueTable(connection: transaction.connection)
      .allocateSequence(catalogue, count: Int64(count))
  }

  /// Sets a photo's line; nil to delete the photo.
  mutating func set(_ md5: MD5, line: UnsafeRawBufferPointer?) throws {
    if edit?.shard != md5.shard {
      try edit?.save()
      edit = try ShardEdit(transaction, catalogue: catalogue, shard: md5.shard)
    }
    if try edit?.set(md5, line: line, sequence: sequence) == true {
      changed.append(md5)
      self.sequence += 1
    }
  }

  /// Writes the counters.
  mutating func finish() throws {
    try edit?.save()
    guard !changed.isEmpty else { return }
    try CatalogueTable(connection: transaction.connection).setModified(catalogue, now: transaction.now)
  }
}
