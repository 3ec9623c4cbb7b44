/// A photo in the order by date: its date, and the first 36 bits of its md5.
struct DateEntry: Comparable {
  /// Unix seconds.
  var date: Int64
  var place: UInt64

  static func < (left: DateEntry, right: DateEntry) -> Bool {
    left.date == right.date ? left.place < right.place : left.date < right.date
  }

  /// The greatest place of an md5.
  static let lastPlace: UInt64 = 1 << 36 - 1
}

extension DateEntry {
  init(date: Int64, md5: MD5) { self.init(date: date, place: md5.place) }
}

extension MD5 {
  /// The first 36 bits: the shard's digit, and 32 bits by which photos are assigned to the shard's blocks. No two
  /// blocks have photos of one place.
  var place: UInt64 { high >> 28 }

  /// The first md5 of a place.
  init(place: UInt64) {
    self.init(high: place << 28, low: 0)
  }

  /// The last md5 of a place.
  init(lastOf place: UInt64) {
    self.init(high: place << 28 | (1 << 28 - 1), low: .max)
  }
}

/// A range of the order by date.
struct DateRange {
  var first: DateEntry
  var last: DateEntry

  /// - Parameters:
  ///   - dates: the dates that are included
  ///   - cursor: the last photo of the previous page; photos of its place are included
  init?(_ dates: ClosedRange<Int64>, after cursor: DateEntry? = nil, isDescending: Bool = false) {
    first = DateEntry(date: dates.lowerBound, place: 0)
    last = DateEntry(date: dates.upperBound, place: DateEntry.lastPlace)
    if let cursor, isDescending { last = min(last, cursor) }
    if let cursor, !isDescending { first = max(first, cursor) }
    if first > last { return nil }
  }
}

/// The first photos of several shards in the order by date.
struct DateSelection {
  /// The selected photos, in order; all photos of the last place are among them.
  private(set) var entries: [DateEntry] = []
  /// Whether there are no others.
  private(set) var isComplete = false

  /// - Parameters:
  ///   - count: the number of photos to select; more when several have the last place
  ///   - sources: return the photos of a shard one after the other, in the same direction; nil after the last
  init(_ count: Int, isDescending: Bool, of sources: [() throws -> DateEntry?]) throws {
    var heads: [DateEntry?] = []
    for source in sources { heads.append(try source()) }
    while true {
      var best = -1
      var first: DateEntry?
      for (index, head) in heads.enumerated() {
        guard let head else { continue }
        if let first, isDescending ? head <= first : head >= first { continue }
        (best, first) = (index, head)
      }
      guard let first else {
        isComplete = true
        return
      }
      if entries.count >= count, first != entries.last { return }
      entries.append(first)
      heads[best] = try sources[best]()
    }
  }
}
