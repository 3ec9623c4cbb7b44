/// The sizes by which a writer divides its changes into packs. They are not part of the format: writers with
/// different sizes are compatible.
struct SyncSizes: Sendable, Equatable {
  /// The maximum size of all inline entries of a head, in bytes.
  var inline: Int64 = 16 << 10
  /// The fraction of all bytes in a full pack.
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
  /// The dead bytes that are allowed in addition to half of the live ones.
  var deadBytes: Int64 = 1 << 20
  /// Packs that one commit rewrites because of what is dead in them.
  var rewrittenPacks = 4
  /// Commits with a compaction between two sweeps.
  var sweepInterval: Int64 = 32
  /// Tombstones stay for as many milliseconds: 90 days. Heads are dated once a week.
  var retention: Int64 = 90 * 86_400_000
  var timesInterval: Int64 = 7 * 86_400_000
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

  /// The maximum size of one commit.
  ///
  /// - Parameter bytes: of all live entries
  func commit(_ bytes: Int64) -> Int64 { min(fullPack(bytes) * segmentsOfCommit, bytesOfCommit) }
}
