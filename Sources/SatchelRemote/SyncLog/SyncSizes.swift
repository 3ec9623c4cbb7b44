/// The sizes by which a writer divides what it sends. They are no part of the format: writers with other sizes understand
/// each other.
struct SyncSizes: Sendable, Equatable {
  /// The maximum size of all inline entries of a head, in bytes.
  var inline: Int64 = 16 << 10
  /// A full pack has this part of all bytes.
  var packShare: Int64 = 64
  var smallestPack: Int64 = 1 << 20
  var largestPack: Int64 = 16 << 20
  /// The maximum number of full packs, and of bytes, that one commit uploads.
  var segmentsOfCommit: Int64 = 8
  var bytesOfCommit: Int64 = 64 << 20
  /// More packs below half a full one than this are merged,
  var smallPacks = 24
  /// so many at once.
  var mergedPacks = 8
  /// Bytes that may be dead beside half of the live ones.
  var deadBytes: Int64 = 1 << 20
  /// Packs that one commit rewrites because of what is dead in them.
  var rewrittenPacks = 4
  /// Commits with a compaction between two sweeps.
  var sweepInterval: Int64 = 32
  /// The maximum number of rows that one transaction changes.
  var rowsOfStep = 1000
  /// The maximum number of entries that are decided in one transaction.
  var decidedAtOnce = 10_000

  /// The size of a full pack.
  ///
  /// - Parameter bytes: of all live entries
  func fullPack(_ bytes: Int64) -> Int64 {
    min(max(bytes / max(packShare, 1), smallestPack), max(largestPack, smallestPack))
  }

  /// The size of what one commit sends.
  ///
  /// - Parameter bytes: of all live entries
  func commit(_ bytes: Int64) -> Int64 { min(fullPack(bytes) * segmentsOfCommit, bytesOfCommit) }
}
