import SatchelCore
import SatchelStorage

extension PhotoCatalogue {
  /// Returns a page of the photos that match a query, in its order.
  ///
  /// By md5 and by date, a page reads its photos and those between them that the filters exclude; a range of dates
  /// reads the photos of these dates. By name, a page reads all photos that match. Memory: a page.
  ///
  /// - Throws: `.invalid` for a limit out of range or a cursor of another order, `.closed`, `.damaged`
  public func query(_ query: PhotoQuery = PhotoQuery()) throws -> PhotoPage {
    try query.validate()
    let cursor = try query.cursor.map { try PhotoKey(cursor: $0, query) }
    return try readInterruptibly(otherwise: PhotoPage(photos: [], next: nil)) { connection, id in
      try PhotoSelect(connection: connection, catalogue: id, query: query).page(after: cursor)
    }
  }

  /// Returns how many photos match a query; its order, limit and cursor are ignored.
  ///
  /// - Throws: `.invalid` for a place that is not on the earth, `.closed`, `.damaged`
  public func count(_ query: PhotoQuery) throws -> Int64 {
    try query.validate()
    return try readInterruptibly(otherwise: 0) { connection, id in
      guard query.isUnfiltered else {
        return try PhotoSelect(connection: connection, catalogue: id, query: query).count()
      }
      let table = ShardTable(connection: connection, catalogue: id)
      return try query.shard.map { try table.record($0).photos }
        ?? table.records().reduce(0) { $0 + $1.photos }
    }
  }

  /// Returns how many photos that match a query are in each month, day, or folder, or of each camera, in the order of
  /// these; groups without photos are left out. The order, limit and cursor of the query are ignored.
  ///
  /// Reads the photos that match; for all photos by month or day of UTC, the index of dates. Memory: the groups.
  ///
  /// - Throws: as `count`
  public func counts(by group: PhotoGroup, _ query: PhotoQuery = PhotoQuery()) throws -> [PhotoCount] {
    try query.validate()
    return try readInterruptibly(otherwise: []) { connection, id in
      try PhotoSelect(connection: connection, catalogue: id, query: query).counts(by: group)
    }
  }
}
