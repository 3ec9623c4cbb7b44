import SatchelCore
import SatchelStorage

/// What a sync asks of the local side. Each call is one transaction of at most `SyncSizes.rowsOfStep` rows, or, where it
/// says so, a step of a longer one that the engine repeats.
protocol SyncLogLedger: Sendable {
  /// The keys, if the sync log is encrypted.
  var keys: SyncLogKey? { get set }

  /// - Throws: `SatchelError` (`notFound`) when the store is not bound to a log
  func state() throws -> SyncLogState

  /// The time, for failures that are tried again.
  func now() throws -> Int64

  /// Does a part of the phase that is in progress, except `pull`.
  ///
  /// - Returns: whether the phase is still in progress
  func continuePhase() throws -> Bool

  /// Begins to decide and to send what belongs to collections that were declared since the last sync.
  func reconcile() throws

  // PULL

  /// Begins to read the log: what is newer than the position, or all of it, into a generation of its own.
  ///
  /// - Parameter state: the state in which the head was asked for
  /// - Throws: `SatchelError` (`busy`) when another process has moved the position since: the head may be older than it
  func beginPull(all: Bool, from state: SyncLogState) throws -> SyncPull

  /// Stores entries, in ascending order over all calls. Those that are not newer than what is there are ignored.
  ///
  /// - Throws: `SatchelError` (`busy`) when another process has moved the position
  func store(_ entries: [SyncEntry], _ pull: inout SyncPull) throws

  /// Makes a head the position, if its digest, count and bytes are those of the entries.
  ///
  /// - Returns: whether they are
  func complete(_ pull: SyncPull, _ head: SyncHead, _ etag: ETag) throws -> Bool

  // RESOLVE

  /// Whether envelopes are in flight.
  func hasInFlight() throws -> Bool

  /// Finds out what became of a part of the envelopes in flight, after their head was replaced by another one.
  ///
  /// - Returns: whether some are left
  /// - Throws: `SatchelError` (`busy`) while the head that is pending can still be written
  func resolveUpload() throws -> Bool

  // DECIDE

  /// Decides about entries: all, if they are at most `SyncSizes.decidedAtOnce`.
  ///
  /// - Returns: nil when there was nothing to decide
  func decide() throws -> SyncDecided?

  // SEND

  /// The changes that can be sent, in the order of their sequences, with envelopes made from one snapshot.
  ///
  /// - Throws: `SatchelError` (`busy`) while another process sends
  func changes() throws -> SyncChanges

  /// What the next commits would send: the keys of pending changes, and what cannot be sent.
  func preview() throws -> (planned: [SyncLogReport.Planned], failed: [SyncFailure])

  /// The live entries in the interval of each pack.
  func live(in packs: [SyncPack]) throws -> [SyncLiveEntries]

  /// The frames of the live entries in an interval, and their number.
  ///
  /// - Throws: `SatchelError` (`busy`) when the position is no longer that of `state`
  func liveEntries(_ interval: ClosedRange<Int64>, at state: SyncLogState) throws -> (
    body: [UInt8], count: Int
  )

  /// The entries of a pull, as far as they could be read, by rows.
  ///
  /// - Parameter row: the last row of the previous call; 0 for the first
  /// - Returns: at least one entry, if there is another one, and no more bytes than the limit after the first
  func survivors(
    of pull: SyncPull, after row: Int64, limit: Int64
  ) throws -> (entries: [(key: SyncKey, envelope: [UInt8])], row: Int64)

  /// The key of an entry that may only be in an encrypted log; nil when there is none.
  func sensitiveEntry() throws -> SyncKey?

  /// Notes envelopes in flight and the head that names them; when it returns, that is on the disk.
  ///
  /// - Returns: false when the changes or the position are others by now
  func begin(_ upload: SyncLogState.PendingUpload, _ changes: SyncChanges, at state: SyncLogState) throws
    -> Bool

  /// Notes that the pending upload was written. Its changes are confirmed by `continuePhase`.
  ///
  /// - Returns: false when it is another one by now
  func confirm(_ upload: SyncLogState.PendingUpload, _ etag: ETag, compactions: Int64) throws -> Bool

  /// Notes failures to send changes, which are tried again later, and forgets changes that nobody needs.
  func note(_ failures: [SyncChanges.Failure], _ obsolete: [SyncChanges.Obsolete]) throws
}

/// The number and size of a pack's live entries.
struct SyncLiveEntries: Sendable, Equatable {
  var count: Int64 = 0
  /// With their frames.
  var bytes: Int64 = 0
}

/// A pull in progress.
struct SyncPull: Sendable {
  /// The generation that entries are stored in.
  var generation: Int64
  /// Whether all entries are read into a generation of its own.
  var isWhole: Bool
  /// The state from which it began; of a whole pull with the sums of what is stored.
  var state: SyncLogState
  /// Entries with this number and below are known.
  var known: Int64 { isWhole ? 0 : state.position?.number ?? 0 }
}

/// The outcome of deciding about some entries.
struct SyncDecided: Sendable, Equatable {
  /// What became of each.
  struct Outcome: Sendable, Equatable {
    var key: SyncKey
    var decision: SyncDecision
    /// Whether the entry is a deletion.
    var isDeletion: Bool
  }

  var outcomes: [Outcome] = []
  /// How many versions of records were discarded, and are kept in a conflict log.
  var lost = 0
  /// Why entries wait, where nothing else says so.
  var failures: [SyncFailure] = []
}

/// Changes to send.
struct SyncChanges: Sendable {
  struct Change: Sendable {
    var row: Int64
    var sequence: Int64
    /// The number of the entry that it replaces; nil for none.
    var replaced: Int64?
    var ancestors: SyncVersionVector?
    var envelope: SyncEnvelope
    /// The number that it is to have in the log.
    var number: Int64 = 0
  }

  /// A change that could not be sent.
  struct Failure: Sendable {
    var row: Int64
    var key: SyncKey
    var error: SatchelError
  }

  /// A deletion of what the remote never had.
  struct Obsolete: Sendable {
    var row: Int64
    var sequence: Int64
  }

  var changes: [Change] = []
  var obsolete: [Obsolete] = []
  var failures: [Failure] = []
  /// The state of the log that they were collected in,
  var start: SyncLogState
  /// and with its digest, count and bytes as they are with the changes.
  var state: SyncLogState
  /// Whether other changes are left,
  var hasMore = false
  /// and the bytes of all entries when they are sent, about.
  var expectedBytes: Int64 = 0
  /// Whether a local transaction was cut, because it is too large for one commit.
  var isCut = false
}
