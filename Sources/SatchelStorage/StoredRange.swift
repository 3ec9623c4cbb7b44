/// What the integers of a store can be: the file is not trusted, and a number from it may not overflow anything.
package enum StoredRange {
  /// For integers of which nothing else is said: sums of hundreds of them, and small multiples, fit into 64 bits.
  @inline(__always) package static var usual: ClosedRange<Int64> { -(1 << 53)...1 << 53 }
  /// What counts, or grows by one.
  @inline(__always) package static var count: ClosedRange<Int64> { 0...1 << 53 }
  /// Bytes of a text or blob: SQLite has no longer ones.
  @inline(__always) package static var length: ClosedRange<Int64> { 0...1 << 31 }
  /// Unix milliseconds, and spans of them: see `SteadyClock.latest`.
  @inline(__always) package static var time: ClosedRange<Int64> { 0...1 << 53 }
  /// Hashes, random numbers, and what the host gave: anything, with which nothing is computed.
  @inline(__always) package static var any: ClosedRange<Int64> { .min ... .max }
  @inline(__always) package static var flag: ClosedRange<Int64> { 0...1 }
}
