import SatchelStorage

extension PhotoCatalogue {
  /// Adds photos, or writes them anew, in one transaction. Of several with one md5 the last counts. One that is as
  /// it was changes nothing.
  ///
  /// - Returns: how many changed
  /// - Throws: `.invalid` for a number less than nothing, `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func upsert(_ photos: [Photo]) throws -> Int {
    for photo in photos { try photo.validate() }
    try checkOpen()
    if photos.isEmpty { return 0 }
    // In order, so that every block is read once and the tables grow at one place at a time.
    var order = Array(photos.indices)
    order.sort { photos[$0].md5 == photos[$1].md5 ? $0 < $1 : photos[$0].md5 < photos[$1].md5 }
    var line: [UInt8] = []
    return try change(count: photos.count) { batch in
      for (place, index) in order.enumerated() {
        let photo = photos[index]
        if place + 1 < order.count, photos[order[place + 1]].md5 == photo.md5 { continue }
        line.removeAll(keepingCapacity: true)
        ShardWriter.write(photo, into: &line)
        try line.withUnsafeBytes { try batch.set(photo.md5, line: $0, photodate: photo.photodate) }
      }
    }
  }

  /// Takes photos out of the catalogue. What is known of them only here stays, in case they come back.
  ///
  /// - Returns: how many there were
  /// - Throws: `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func delete(_ photos: [MD5]) throws -> Int {
    try checkOpen()
    if photos.isEmpty { return 0 }
    return try change(count: photos.count) { batch in
      for md5 in Set(photos).sorted() { try batch.set(md5, line: nil, photodate: 0) }
    }
  }

  /// A photo with all that is known of it; nil when the catalogue has none.
  ///
  /// - Throws: `.closed`, `.damaged`
  public func photo(_ md5: MD5) throws -> PhotoDetails? {
    try read(otherwise: nil) { connection, id in
      let lookup = PhotoLookup(connection: connection, catalogue: id)
      return try lookup.details(md5)
    }
  }

  /// How many photos there are. Takes the same time for any number.
  public func count() throws -> Int64 {
    try read(otherwise: 0) { connection, id in
      try ShardTable(connection: connection, catalogue: id).records().reduce(0) { $0 + $1.photos }
    }
  }

  /// The shards with photos that were added, changed or deleted here since the last agreement with the master. A file
  /// that was imported counts as no change, though the next sync sends it: see `status` for that.
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
      note(batch.changed, in: transaction)
      return batch.changed.count
    }
  }
}
