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
  /// Unix milliseconds and durations: see `NonDecreasingClock.latest`.
  @inline(__always) package static var time: ClosedRange<Int64> { 0...1 << 53 }
  /// Hashes, random numbers and the host's numbers, with which nothing is computed.
  @inline(__always) package static var any: ClosedRange<Int64> { .min ... .max }
  @inline(__always) package static var flag: ClosedRange<Int64> { 0...1 }
}

/// The rules for the values of tables, by "table.column"; integers that are not named are in
/// `StoredRange.usual`.
package struct StoredRules: Sendable {
  package var bounds: [String: ClosedRange<Int64>]
  /// Columns that contain JSON.
  package var documents: Set<String>

  package init(bounds: [String: ClosedRange<Int64>] = [:], documents: Set<String> = []) {
    self.bounds = bounds
    self.documents = documents
  }

  package func merging(_ other: StoredRules) -> StoredRules {
    StoredRules(
      bounds: bounds.merging(other.bounds) { one, _ in one }, documents: documents.union(other.documents))
  }
}
