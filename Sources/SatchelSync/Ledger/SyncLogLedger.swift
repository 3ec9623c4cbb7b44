import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage

/// The calls of a sync to the local tables. Each call is one transaction of at most `SyncSizes.rowsOfStep`
/// rows, or, where it says so, a step of a longer one that the engine repeats.
///
/// A sync holds one state, which each call takes and updates; what changes the tables reads their state again first.
protocol SyncLogLedger: Sendable {
  /// The keys, if the sync log is encrypted.
  var keys: SyncLogKey? { get set }

  /// Reads the state, with its head and the work that is left.
  ///
  /// - Throws: `SatchelError` (`notFound`) when the store is not bound to a log
  func state() throws -> SyncLogState

  /// The time, for failures that are retried.
  func now() throws -> Int64

  /// Executes one step of the current phase, except `pull`.
  ///
  /// - Returns: whether the phase is still in progress
  func continuePhase(_ state: inout SyncLogState) throws -> Bool

  /// Begins to decide about, and to send, entries of collections that were declared since the last sync.
  func reconcile(_ state: inout SyncLogState) throws

  // PULL

  /// Begins to read the log: the entries after the position, or all entries into a new generation.
  ///
  /// - Parameter state: the state before the head was requested
  /// - Throws: `SatchelError` (`busy`) when another process has moved the position since: the head may be
  ///   older than the position
  func beginPull(all: Bool, from state: SyncLogState) throws -> SyncPull

  /// Stores entries, in ascending order over all calls. Entries that are not newer than the stored ones are
  /// ignored.
  ///
  /// - Throws: `SatchelError` (`busy`) when another process has moved the position
  func store(_ entries: [SyncEntry], _ pull: inout SyncPull) throws

  /// Sets the position to a head, if its digest, count and bytes match the entries.
  ///
  /// - Returns: whether they are
  func complete(
    _ pull: SyncPull, at head: SyncHead, etag: ETag, state: inout SyncLogState
  ) throws -> Bool

  // RESOLVE

  /// Determines the outcome of a part of the envelopes in flight, after their head was replaced by another
  /// one.
  ///
  /// - Returns: whether some are left
  /// - Throws: `SatchelError` (`busy`) while the pending head can still be written
  func resolveUpload(_ state: inout SyncLogState) throws -> Bool

  // DECIDE

  /// Decides about entries: all, if they are at most `SyncSizes.decidedAtOnce`.
  ///
  /// - Returns: nil when there was nothing to decide
  func decide(_ state: inout SyncLogState) throws -> SyncDecided?

  // SEND

  /// The changes that can be sent, in the order of their sequences, with envelopes made from one snapshot, and what has to
  /// be done about their assets.
  ///
  /// - Throws: `SatchelError` (`busy`) while another process sends
  func changes(_ state: inout SyncLogState, _ assets: AssetContext) throws -> SyncChanges

  /// The changes that could not be sent, and are tried again later.
  func postponed() throws -> [SyncFailure]

  /// The content of the next commits: the keys of pending changes, and the changes that cannot be sent.
  func preview() throws -> (changes: [(key: SyncKey, isDeletion: Bool)], failed: [SyncFailure])

  // ASSETS

  /// The assets of the store; nil for a store without.
  var assets: (any AssetStorage)? { get }

  /// Adds the entries of assets to the changes of a commit: those of their plan, and the marks and tombstones of what the
  /// fold of its head refers to, or no longer does.
  ///
  /// - Parameters:
  ///   - number: of the head
  ///   - horizon: of the head; nil for a purge, which drops at once what nothing refers to
  ///   - object: returns the name for a new reservation
  /// - Returns: the objects that the head no longer names
  /// - Throws: `SatchelError` (`busy`) when the position is no longer that of the changes
  func addAssets(
    number: Int64, horizon: Int64?, to changes: SyncChanges, object: () -> AssetObject
  ) throws -> [AssetObject]

  /// The assets whose object this device could not read, and, if wanted, those that are marked as suspect.
  func doubted(limit: Int, suspects: Bool) throws -> [AssetDoubt]

  /// Notes that objects could not be read, or are not listed: the next sync looks at them again.
  func doubt(_ objects: [AssetObject]) throws

  /// Ends doubts that were looked at.
  func endDoubts(_ digests: [AssetDigest]) throws

  /// All objects that the entries name.
  func namedObjects() throws -> Set<AssetObject>

  // UPKEEP

  /// The live entries in the interval of each pack, without tombstones up to a horizon.
  func live(in packs: [SyncPack], above horizon: Int64) throws -> [SyncLiveEntries]

  /// Takes the tombstones up to a horizon out of the sums of the entries with changes.
  ///
  /// - Throws: `SatchelError` (`busy`) when the position is no longer that of the changes
  func exclude(through horizon: Int64, from changes: SyncChanges) throws

  /// The frames of the live entries in an interval, without tombstones up to a horizon, and their number.
  ///
  /// - Throws: `SatchelError` (`busy`) when the position is no longer that of `state`
  func liveEntries(
    _ interval: ClosedRange<Int64>, above horizon: Int64, at state: SyncLogState
  ) throws -> (body: [UInt8], count: Int)

  /// The entries of a pull, as far as they could be read, by rows.
  ///
  /// - Parameter row: the last row of the previous call; 0 for the first
  /// - Returns: at least one entry, if there is another one, and no more bytes than the limit after the first
  func survivors(
    of pull: SyncPull, after row: Int64, limit: Int64
  ) throws -> (entries: [(key: SyncKey, envelope: [UInt8])], row: Int64)

  /// The key of an entry that may only be in an encrypted log; nil when there is none.
  func sensitiveEntry() throws -> SyncKey?

  /// Records envelopes in flight and the head that names them; durable when it returns.
  ///
  /// - Returns: false when the changes or the position have changed since
  func begin(
    _ upload: SyncLogState.PendingUpload, _ changes: SyncChanges, at state: inout SyncLogState
  ) throws -> Bool

  /// Records that the pending upload was written, and confirms its changes; those of a large one by `continuePhase`.
  ///
  /// - Returns: false when another one has replaced it
  func confirm(
    _ upload: SyncLogState.PendingUpload, etag: ETag, compactions: Int64, state: inout SyncLogState
  ) throws -> Bool

  /// Records failures to send changes, which are retried later, and deletes changes that are no longer
  /// needed.
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
  /// Whether all entries are read into a new generation.
  var isWhole: Bool
  /// Whether it goes on with one that was interrupted.
  var isResumed = false
  /// The state at its beginning; for a pull of all entries, with the sums of the stored entries.
  var state: SyncLogState
  /// The horizon of the head.
  var horizon: Int64 = 0
  /// Entries up to this number that the log lacks were deleted, and their tombstones dropped.
  var droppedThrough: Int64 = 0
  /// Entries with this number and below are known.
  var known: Int64 { isWhole ? 0 : state.position?.number ?? 0 }
}

/// The outcome of deciding about some entries.
struct SyncDecided: Sendable, Equatable {
  /// The decision about each.
  struct Outcome: Sendable, Equatable {
    var key: SyncKey
    var decision: SyncDecision
    /// Whether the entry is a deletion.
    var isDeletion: Bool
  }

  var outcomes: [Outcome] = []
  /// The number of versions of records that were discarded, and are kept in a conflict log.
  var lost = 0
  /// The reasons of waiting entries that are not in a conflict log.
  var failures: [SyncFailure] = []
}

/// Changes to send. A class, because a structure of these members is copied and destroyed by some 20 KB of code.
final class SyncChanges {
  struct Change: Sendable {
    var row: Int64
    var sequence: Int64
    /// The number of the entry that it replaces; nil for none.
    var replaced: Int64?
    var ancestors: SyncVersionVector?
    var envelope: SyncEnvelope
    /// Its sequence number in the log.
    var number: Int64 = 0
  }

  /// A change that could not be sent.
  struct Failure: Sendable {
    var row: Int64
    var key: SyncKey
    var error: SatchelError
  }

  /// A deletion of content that was never sent.
  struct Obsolete: Sendable {
    var row: Int64
    var sequence: Int64
  }

  var changes: [Change] = []
  /// The uploads and entries of assets.
  var assets = AssetPlan()
  /// The first change for whose assets objects are reserved.
  var reserving: Int64?
  /// Changes that wait for an asset.
  var waiting: [SyncFailure] = []
  var obsolete: [Obsolete] = []
  var failures: [Failure] = []
  /// The state of the log that they were collected in,
  var start: SyncLogState
  /// and with its digest, count and bytes as they are with the changes.
  var state: SyncLogState
  /// Whether other changes are left,
  var hasMore = false
  /// and the approximate bytes of all entries once they are sent.
  var expectedBytes: Int64 = 0
  /// Whether a local transaction was divided, because it exceeds the limit of one commit.
  var isCut = false
  /// The number of the latest local change when they were collected.
  var latest: Int64 = 0
  /// Whether changes that could not be sent are tried again later.
  var hasPostponed = false

  init(start: SyncLogState) { (self.start, state) = (start, start) }

  init(copying other: SyncChanges) {
    (changes, assets, reserving, waiting) = (other.changes, other.assets, other.reserving, other.waiting)
    (obsolete, failures, start, state) = (other.obsolete, other.failures, other.start, other.state)
    (hasMore, expectedBytes, isCut, latest) = (other.hasMore, other.expectedBytes, other.isCut, other.latest)
    hasPostponed = other.hasPostponed
  }

  /// Whether all that are sent, or reserved for, are later than a change.
  func areAll(after sequence: Int64) -> Bool {
    guard let first = changes.first?.sequence ?? reserving else { return false }
    return min(first, reserving ?? first) > sequence
  }

  /// Leaves the changes for a later sync.
  func withhold() {
    let reserved = assets.reserved
    (changes, assets) = ([], AssetPlan())
    assets.reserved = reserved
    state = start
    hasMore = false
  }
}
