import SatchelCore
import SatchelStorage

/// The range of dates that photos of a page can have.
struct DateWindow {
  /// Nil when no date can match.
  let range: ClosedRange<Int64>?
  private let isDescending: Bool

  /// - Parameter cursor: the last key of the previous page
  init(_ query: PhotoQuery, _ cursor: PhotoKey? = nil) {
    isDescending = query.isDescending
    var (from, to) = (query.from ?? .min, query.to ?? .max)
    if query.order == .photodate, let start = cursor?.photodate {
      if isDescending { to = min(to, start) } else { from = max(from, start) }
    }
    range = from <= to ? from...to : nil
  }

  /// Returns the window without the dates after one, in the query's order.
  func ended(at date: Int64?) -> ClosedRange<Int64>? {
    guard let range, let date, range.contains(date) else { return range }
    return isDescending ? date...range.upperBound : range.lowerBound...date
  }
}

/// The photos of some shards in the order by date, as the table `photo_date` has them.
struct DateIndex {
  let scans: [ShardScan]
  let range: DateRange
  let isDescending: Bool

  /// - Parameter cursor: the last photo of the previous page, in an order by date
  init?(_ scans: [ShardScan], _ dates: ClosedRange<Int64>?, after cursor: DateEntry?, isDescending: Bool) {
    guard let dates, let range = DateRange(dates, after: cursor, isDescending: isDescending) else {
      return nil
    }
    (self.scans, self.range, self.isDescending) = (scans, range, isDescending)
  }

  /// Reading a photo by its place costs what scanning as many photos does.
  private static let costOfPlace: Int64 = 32

  /// Whether reading so many photos by their places is cheaper than reading all photos.
  func isWorth(_ count: Int64) -> Bool {
    let photos = scans.reduce(0) { $0 + $1.record.base.photos }
    return count < photos / Self.costOfPlace
  }

  /// Returns how many photos the bases have in the range.
  func count() throws -> Int64 {
    try scans.reduce(0) { count, scan in
      let (first, end) = (try reader(scan, at: range.first), try reader(scan, at: afterLast))
      return count + max(0, end.position - first.position)
    }
  }

  /// Selects the first photos of the bases.
  func first(_ count: Int) throws -> DateSelection {
    let sources = try scans.filter { $0.record.base.photos > 0 }.map { scan in
      let reader = try reader(scan, at: isDescending ? afterLast : range.first)
      return { () throws -> DateEntry? in
        let entry = try isDescending ? reader.previous() : reader.next()
        return entry.flatMap { $0 >= range.first && $0 <= range.last ? $0 : nil }
      }
    }
    return try DateSelection(count, isDescending: isDescending, of: sources)
  }

  /// The bound that is after the last photo only.
  private var afterLast: DateEntry { DateEntry(date: range.last.date, place: range.last.place + 1) }

  private func reader(_ scan: ShardScan, at bound: DateEntry) throws -> DateReader {
    try DateReader(scan.connection, scan.record.base, shard: scan.record.shard, at: bound)
  }
}
