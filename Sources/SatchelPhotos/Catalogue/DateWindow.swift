import SatchelStorage

/// The dates that photos of a page can have.
struct DateWindow {
  /// Nil when there are none.
  private(set) var range: ClosedRange<Int64>?
  private let isDescending: Bool
  /// The page before ended with it; nil when the order is another.
  private let start: Int64?

  /// - Parameter cursor: the last key of the page before
  init(_ query: PhotoQuery, _ cursor: PhotoKey? = nil) {
    isDescending = query.isDescending
    start = query.order == .photodate ? cursor?.photodate : nil
    var (from, to) = (query.from ?? .min, query.to ?? .max)
    if let start, isDescending { to = min(to, start) }
    if let start, !isDescending { from = max(from, start) }
    range = from <= to ? from...to : nil
  }

  /// The window that is left when nothing behind a date is wanted.
  func ended(at date: Int64?) -> ClosedRange<Int64>? {
    guard let range, let date, range.contains(date) else { return range }
    return isDescending ? date...range.upperBound : range.lowerBound...date
  }

  /// With more changes than this their number says too little.
  private static let mostChanges: Int64 = 10_000

  /// Leaves out the dates behind those of a page, as the dates of the blocks tell them. Of use where nothing but dates
  /// decides which photos are wanted.
  mutating func narrow(toPageOf limit: Int, _ scans: [ShardScan]) throws {
    guard let wanted = behindStart() else { return }
    // A change may hide one of the photos that are counted here.
    let changes = scans.reduce(Int64(0)) { $0 + min(max(0, $1.record.changes), Self.mostChanges) }
    guard changes < Self.mostChanges else { return }
    var first = FirstDates(limit + 1 + Int(changes), isDescending: isDescending)
    for scan in scans {
      try BlockDates(connection: scan.connection).each(of: scan.record.base, in: wanted) { first.add($0) }
    }
    range = ended(at: first.last())
  }

  /// Without the date that the page before ended with: who knows how many of its photos were on that.
  private func behindStart() -> ClosedRange<Int64>? {
    guard let range, let start, range.contains(start) else { return range }
    if isDescending { return range.lowerBound < start ? range.lowerBound...(start - 1) : nil }
    return start < range.upperBound ? (start + 1)...range.upperBound : nil
  }
}

/// Keeps the first dates of however many it is shown. Memory: twice as many as are wanted.
struct FirstDates {
  private let most: Int
  private let isDescending: Bool
  private var dates: [Int64] = []
  private var end: Int64?

  init(_ most: Int, isDescending: Bool) {
    self.most = most
    self.isDescending = isDescending
  }

  mutating func add(_ date: Int64) {
    if let end, isDescending ? date <= end : date >= end { return }
    dates.append(date)
    if dates.count >= most * 2 + 256 { shorten() }
  }

  /// The last of those that are wanted; nil while there are fewer.
  mutating func last() -> Int64? {
    shorten()
    return end
  }

  private mutating func shorten() {
    guard dates.count >= most else { return }
    if isDescending { dates.sort(by: >) } else { dates.sort() }
    dates.removeSubrange(most...)
    end = dates.last
  }
}
