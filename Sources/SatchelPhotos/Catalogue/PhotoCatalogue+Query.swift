import SatchelCore
import SatchelStorage

extension PhotoCatalogue {
  /// Returns a page of the photos that match a query, in its order.
  ///
  /// By md5, a page reads its photos and those between them that the filters exclude. By date, it reads its photos,
  /// and as many as were changed locally. With other filters, a range of dates reads the photos of these dates, if
  /// they are few; otherwise, and by name, a page reads all photos of the shards. Memory: two pages, and the changes
  /// of a page.
  ///
  /// - Throws: `.invalid` for a limit out of range or a cursor of another order, `.closed`, `.damaged`
  public func query(_ query: PhotoQuery = PhotoQuery()) throws -> PhotoPage {
    try query.validate()
    var page = try PageCollector(query)
    return try readInterruptibly(otherwise: PhotoPage(photos: [], next: nil)) { connection, id in
      let scans = try Self.scans(query, of: id, connection)
      try Self.orReadingAll { usesDates in
        page.removeAll()
        try Self.collect(into: &page, query, scans, usesDates: usesDates)
      }
      let (found, next) = page.finish()
      let table = LocalTable(connection: connection, catalogue: id)
      let hasLocal = try table.hasRows()
      let photos = try found.map { found in
        let local = hasLocal ? try table.row(found.key.md5) : nil
        return PhotoDetails(found.photo, local: local, isOnRemote: found.isOnRemote)
      }
      return PhotoPage(photos: photos, next: next?.cursor(query))
    }
  }

  /// Returns how many photos match a query; its order, limit and cursor are ignored.
  ///
  /// - Throws: `.closed`, `.damaged`
  public func count(_ query: PhotoQuery) throws -> Int64 {
    try readInterruptibly(otherwise: 0) { connection, id in
      let scans = try Self.scans(query, of: id, connection)
      if query.isUnfiltered { return scans.reduce(0) { $0 + $1.record.photos } }
      return try Self.orReadingAll { usesDates in
        try scans.reduce(0) { try $0 + Self.count(query, $1, usesDates: usesDates) }
      }
    }
  }

  // MARK: Scanning

  private static func scans(_ query: PhotoQuery, of id: Int64, _ connection: Connection) throws -> [ShardScan]
  {
    let table = ShardTable(connection: connection, catalogue: id)
    let records = try query.shard.map { [try table.record($0)] } ?? table.records()
    let scans = records.map { ShardScan(connection: connection, catalogue: id, record: $0) }
    return query.isDescending && query.order == .md5 ? scans.reversed() : scans
  }

  /// Runs `body` with the dates of the table `photo_date`; without them when they, or the photos, are damaged.
  private static func orReadingAll<Result>(_ body: (_ usesDates: Bool) throws -> Result) throws -> Result {
    do {
      return try body(true)
    } catch let error as SatchelError where error.code == .damaged {
      return try body(false)
    }
  }

  private static func collect(
    into page: inout PageCollector, _ query: PhotoQuery, _ scans: [ShardScan], usesDates: Bool
  ) throws {
    let window = DateWindow(query, page.cursor)
    let cursor = query.order == .photodate ? page.cursor : nil
    let index =
      usesDates
      ? DateIndex(
        scans, window.range, after: cursor.map { DateEntry(date: $0.photodate, md5: $0.md5) },
        isDescending: query.isDescending && query.order == .photodate) : nil
    guard let index, query.order == .photodate, query.filtersOnlyByDate else {
      return try add(
        to: &page, query, scans, in: window, wanted: try index.flatMap { try dates(query, $0) })
    }
    var count = query.limit + 1
    while index.isWorth(Int64(count)) {
      let selection = try index.first(count)
      try add(to: &page, query, scans, in: window, wanted: selection.entries)
      _ = page.finish()
      // A change may hide a photo that was selected; then some after the last may be missing.
      if selection.isComplete { return }
      if let last = page.lastEntry, let end = selection.entries.last,
        query.isDescending ? last >= end : last <= end
      {
        return
      }
      page.removeAll()
      count *= 4
    }
    try add(to: &page, query, scans, in: window, wanted: nil)
  }

  /// Returns the photos of a query's dates; nil when there is no range of dates, or reading all photos is cheaper.
  private static func dates(_ query: PhotoQuery, _ index: DateIndex) throws -> [DateEntry]? {
    guard query.from != nil || query.to != nil, try index.isWorth(index.count()) else { return nil }
    return try index.first(.max).entries
  }

  /// - Parameter wanted: the photos of the bases to visit; nil to visit all
  private static func add(
    to page: inout PageCollector, _ query: PhotoQuery, _ scans: [ShardScan], in window: DateWindow,
    wanted: [DateEntry]?
  ) throws {
    let wanted = wanted?.ordered { $0.place < $1.place }
    for scan in scans {
      guard let range = range(of: scan.record.shard, query, page.cursor) else { continue }
      let remote = RemotePhotos(scan.connection, scan.record)
      try each(query, in: scan, range, dates: window.ended(at: page.lastDate), wanted: wanted) { photo in
        try page.add(photo) { try remote.contains(photo) }
        return query.order != .md5 || !page.isFull
      }
      if query.order == .md5, page.isFull { return }
    }
  }

  private static func count(_ query: PhotoQuery, _ scan: ShardScan, usesDates: Bool) throws -> Int64 {
    let dates = DateWindow(query).range
    let index = usesDates ? DateIndex([scan], dates, after: nil, isDescending: false) : nil
    if let index, query.filtersOnlyByDate, scan.record.changes == 0 { return try index.count() }
    var count: Int64 = 0
    let wanted = try index.flatMap { try self.dates(query, $0) }?.ordered { $0.place < $1.place }
    try each(query, in: scan, MD5.bounds(of: scan.record.shard), dates: dates, wanted: wanted) { _ in
      count += 1
      return true
    }
    return count
  }

  private static func each(
    _ query: PhotoQuery, in scan: ShardScan, _ range: ClosedRange<MD5>, dates: ClosedRange<Int64>?,
    wanted: [DateEntry]?, visit: (ShardScan.Row) throws -> Bool
  ) throws {
    guard scan.record.photos > 0, let dates else { return }
    let filter = PhotoFilter(query, scan)
    _ = try scan.each(
      in: range, isDescending: query.isDescending && query.order == .md5, wanted: wanted, begin: filter.begin
    ) { photo in
      guard dates.contains(photo.row.photodate) else { return true }
      return try filter.matches(photo) ? try visit(photo) : true
    }
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
