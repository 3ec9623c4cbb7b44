import SatchelCore
import SatchelStorage

/// The range of dates that photos of a page can have.
struct DateWindow {
  /// Nil when no date can match.
  private(set) var range: ClosedRange<Int64>?
  private let isDescending: Bool
  /// The last date of the previous page; nil in another order.
  private let start: Int64?

  /// - Parameter cursor: the last key of the previous page
  init(_ query: PhotoQuery, _ cursor: PhotoKey? = nil) {
    isDescending = query.isDescending
    start = query.order == .photodate ? cursor?.photodate : nil
    var (from, to) = (query.from ?? .min, query.to ?? .max)
    if let start, isDescending { to = min(to, start) }
    if let start, !isDescending { from = max(from, start) }
    range = from <= to ? from...to : nil
  }

  /// Returns the window without the dates after one, in the query's order.
  func ended(at date: Int64?) -> ClosedRange<Int64>? {
    guard let range, let date, range.contains(date) else { return range }
    return isDescending ? date...range.upperBound : range.lowerBound...date
  }

  /// With more changes than this, counting dates excludes too little.
  private static let maxChanges: Int64 = 10_000

  /// Excludes the dates after those of a page, as counted in the blocks' dates. Valid only for queries that
  /// filter by nothing but dates.
  mutating func narrow(toPageOf limit: Int, _ scans: [ShardScan]) throws {
    guard let wanted = afterStart() else { return }
    // A change may hide one of the photos that are counted here.
    let changes = scans.reduce(Int64(0)) { $0 + min(max(0, $1.record.changes), Self.maxChanges) }
    guard changes < Self.maxChanges else { return }
    var first = FirstDates(limit + 1 + Int(changes), isDescending: isDescending)
    for scan in scans {
      try BlockDates(connection: scan.connection).each(of: scan.record.base, in: wanted) { first.add($0) }
    }
    range = ended(at: first.last())
  }

  /// Returns the window without the last date of the previous page: an unknown number of its photos were on
  /// that page.
  private func afterStart() -> ClosedRange<Int64>? {
    guard let range, let start, range.contains(start) else { return range }
    if isDescending { return range.lowerBound < start ? range.lowerBound...(start - 1) : nil }
    return start < range.upperBound ? (start + 1)...range.upperBound : nil
  }
}

/// Keeps the first dates, in order, of those that are added. Memory: twice the capacity.
struct FirstDates {
  private let capacity: Int
  private let isDescending: Bool
  private var dates: [Int64] = []
  private var end: Int64?

  init(_ capacity: Int, isDescending: Bool) {
    self.capacity = capacity
    self.isDescending = isDescending
  }

  mutating func add(_ date: Int64) {
    if let end, isDescending ? date <= end : date >= end { return }
    dates.append(date)
    if dates.count >= capacity * 2 + 256 { trim() }
  }

  /// Returns the last date within the capacity; nil while there are fewer.
  mutating func last() -> Int64? {
    trim()
    return end
  }

  private mutating func trim() {
    guard dates.count >= capacity else { return }
    if isDescending { dates.sort(by: >) } else { dates.sort() }
    dates.removeSubrange(capacity...)
    end = dates.last
  }
}
