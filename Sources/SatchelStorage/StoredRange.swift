import SatchelCore

/// Valid ranges of a store's integers: the file is not trusted, and a number from it must not overflow
/// anything.
package enum StoredRange {
  /// The default: sums of hundreds of such integers, and small multiples of them, fit into 64 bits.
  @inline(__always) package static var usual: ClosedRange<Int64> { -(1 << 53)...1 << 53 }
  /// Counters.
  @inline(__always) package static var count: ClosedRange<Int64> { 0...1 << 53 }
  /// Sizes of strings and blobs in bytes: the maximum of SQLite.
  @inline(__always) package static var length: ClosedRange<Int64> { 0...1 << 31 }
  /// Unix milliseconds and durations: see `StoreClock.latest`.
  @inline(__always) package static var time: ClosedRange<Int64> { 0...1 << 53 }
  /// Hashes, random numbers and the host's numbers, with which nothing is computed.
  @inline(__always) package static var any: ClosedRange<Int64> { .min ... .max }
  @inline(__always) package static var flag: ClosedRange<Int64> { 0...1 }
}

/// The way in which a stored time that is ahead of the clock is stamped, see `Stamping`.
package enum StoredTime: Sendable, Equatable {
  /// It becomes now.
  case stamp
  /// It becomes now plus the duration in another column.
  case expiry(timeToLive: String)
  /// A lower bound of expiries: it becomes now where it is later.
  case earliestExpiry
  /// The times of a group's rows never decrease: it becomes now, or the time of the previous row if that is later.
  case ordered(group: String, number: String)
  /// It stays: a time of a file, of the host or of content, which the store's clock did not give.
  case kept
}

/// The rules for the values of tables, by "table.column"; integers that are not named are in
/// `StoredRange.usual`.
package struct StoredRules: Sendable {
  package var bounds: [String: ClosedRange<Int64>]
  /// Columns that contain JSON.
  package var documents: Set<String>
  /// All columns that contain times.
  package var times: [String: StoredTime]

  package init(
    bounds: [String: ClosedRange<Int64>] = [:], documents: Set<String> = [], times: [String: StoredTime] = [:]
  ) {
    self.bounds = bounds
    self.documents = documents
    self.times = times
  }

  package func merging(_ other: StoredRules) -> StoredRules {
    StoredRules(
      bounds: bounds.merging(other.bounds) { one, _ in one }, documents: documents.union(other.documents),
      times: times.merging(other.times) { one, _ in one })
  }
}
