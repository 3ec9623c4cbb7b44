import SatchelCore
import SatchelStorage

extension PhotoCatalogue {
  /// Returns a page of the photos that match a query, in its order.
  ///
  /// By md5, a page reads its photos and those between them that the filters exclude. By date, it reads the
  /// dates of all photos (a few milliseconds a million) and the blocks that contain its photos; with other
  /// filters, more blocks. By name, it reads all photos of the shards. Memory: two pages.
  ///
  /// - Throws: `.invalid` for a limit out of range or a cursor of another order, `.closed`, `.damaged`
  public func query(_ query: PhotoQuery = PhotoQuery()) throws -> PhotoPage {
    try query.validate()
    var page = try PageCollector(query)
    return try readInterruptibly(otherwise: PhotoPage(photos: [], next: nil)) { connection, id in
      var window = DateWindow(query, page.cursor)
      if query.order == .photodate, query.filtersOnlyByDate {
        let scans = try Self.shards(query).map { try scan($0, connection, id) }
        try window.narrow(toPageOf: query.limit, scans)
      }
      for shard in Self.shards(query) {
        guard let range = Self.range(of: shard, query, page.cursor) else { continue }
        let scan = try scan(shard, connection, id)
        let remote = RemotePhotos(connection, scan.record)
        try Self.each(query, scan, range, window.ended(at: page.lastDate)) { photo in
          try page.add(photo) { try remote.contains(photo) }
          return query.order != .md5 || !page.isFull
        }
        if query.order == .md5, page.isFull { break }
      }
      let (found, next) = page.finish()
      let table = LocalTable(connection: connection, catalogue: id)
      let photos = try found.map { found in
        let photo = try found.line.withUnsafeBytes { try PhotoLookup.parse($0, found.key.md5) }
        return PhotoDetails(photo, local: try table.row(found.key.md5), isOnRemote: found.isOnRemote)
      }
      return PhotoPage(photos: photos, next: next?.cursor(query))
    }
  }

  /// Returns how many photos match a query; its order, limit and cursor are ignored.
  ///
  /// - Throws: `.closed`, `.damaged`
  public func count(_ query: PhotoQuery) throws -> Int64 {
    let dates = DateWindow(query).range
    return try readInterruptibly(otherwise: 0) { connection, id in
      var count: Int64 = 0
      for shard in query.shard.map({ [$0] }) ?? Shard.Index.all {
        let scan = try scan(shard, connection, id)
        if query.isUnfiltered {
          count += scan.record.photos
        } else if let found = try Self.countDates(dates, query, scan) {
          count += found
        } else {
          try Self.each(query, scan, MD5.bounds(of: shard), dates) { _ in
            count += 1
            return true
          }
        }
      }
      return count
    }
  }

  // MARK: Scanning

  private func scan(_ shard: Shard.Index, _ connection: Connection, _ id: Int64) throws -> ShardScan {
    let record = try ShardTable(connection: connection, catalogue: id).record(shard)
    return ShardScan(connection: connection, catalogue: id, record: record)
  }

  /// Counts the photos of a shard in a range of dates; nil when that requires reading the rows.
  private static func countDates(_ dates: ClosedRange<Int64>?, _ query: PhotoQuery, _ scan: ShardScan) throws
    -> Int64?
  {
    guard query.filtersOnlyByDate, scan.record.changes == 0 else { return nil }
    guard let dates else { return 0 }
    var count: Int64 = 0
    let known = try BlockDates(connection: scan.connection).each(of: scan.record.base, in: dates) { _ in
      count += 1
    }
    return known == scan.record.base.photos ? count : nil
  }

  private static func each(
    _ query: PhotoQuery, _ scan: ShardScan, _ range: ClosedRange<MD5>, _ dates: ClosedRange<Int64>?,
    _ visit: (ShardScan.Row) throws -> Bool
  ) throws {
    guard scan.record.photos > 0, let dates else { return }
    let filter = PhotoFilter(query, scan)
    _ = try scan.each(
      in: range, isDescending: query.isDescending && query.order == .md5, dates: dates,
      begin: filter.begin
    ) { photo in
      try filter.matches(photo) ? try visit(photo) : true
    }
  }

  private static func shards(_ query: PhotoQuery) -> [Shard.Index] {
    if let shard = query.shard { return [shard] }
    return query.isDescending && query.order == .md5 ? Shard.Index.all.reversed() : Shard.Index.all
  }

  /// Returns the range of a shard that is after the cursor; nil when nothing is left.
  private static func range(of shard: Shard.Index, _ query: PhotoQuery, _ cursor: PhotoKey?) -> ClosedRange<
    MD5
  >? {
    let bounds = MD5.bounds(of: shard)
    guard query.order == .md5, let cursor = cursor?.md5 else { return bounds }
    if query.isDescending {
      guard let last = cursor.previous, last >= bounds.lowerBound else { return nil }
      return bounds.lowerBound...min(last, bounds.upperBound)
    }
    guard let first = cursor.next, first <= bounds.upperBound else { return nil }
    return max(first, bounds.lowerBound)...bounds.upperBound
  }
}
