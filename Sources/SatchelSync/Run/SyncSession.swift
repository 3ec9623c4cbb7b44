import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

/// One synchronization, of a store, of a photo catalogue, or of both at once: its object store with the traffic, its
/// retries, its progress and cancellation, and its check for conditional writes. The subjects decide what is
/// synchronized.
package final class SyncSession: Sendable {
  private struct State {
    var progress = SyncProgress()
    var isCancelled = false
    var isProbed = false
  }

  /// The object store; counts the requests.
  package let store: MeteredStore
  package let user: UserID
  package let retry: Retry
  /// The number of objects that are transferred at the same time.
  package let parallel: Int
  /// The object store itself.
  package let remote: any ObjectStore
  private let probed: ConditionProbeCache
  private let callback: (@Sendable (SyncProgress) -> Bool)?
  private let requested: Cancellation
  private let state = Locked(State())

  /// - Parameters:
  ///   - database: the store that is synchronized; nil where probes are not stored
  ///   - progress: called with the progress, never concurrently; false cancels
  /// - Throws: `SatchelError` (`invalid`) in a batch: network work never holds a transaction open
  package init(
    _ database: Database?, with remote: any ObjectStore, user: UserID, options: some TransferOptions,
    progress: (@Sendable (SyncProgress) -> Bool)? = nil
  ) throws {
    try database?.refuseNetworkWork("nothing can be synchronized in a batch")
    self.remote = remote
    store = MeteredStore(remote, checksConditions: options.allowUnsafeRemote)
    self.user = user
    retry = options.retry
    parallel = min(max(options.parallel, 1), 16)
    probed = ConditionProbeCache(database)
    callback = progress
    requested = options.cancellation
  }

  /// The cancellation that the caller requested, by the options or by the progress callback, and the
  /// progress.
  package var cancellation: Cancellation {
    Cancellation { self.requested.isCancelled() || self.state.withLock { $0.isCancelled } }
  }

  /// Waits until no other sync of a subject is running, then calls `body`; a subject may have another inside it.
  ///
  /// - Throws: `SatchelError`: `cancelled` when the caller cancels while it waits; `busy` in a callback of the same sync;
  ///   the errors of `body`, those of object stores converted
  package func withTurn<Result>(_ subject: SyncTurns.Subject, _ body: () throws -> Result) throws -> Result {
    try SyncTurns.shared.withTurn(of: subject, cancellation) {
      do {
        return try body()
      } catch {
        throw SatchelError(converting: error)
      }
    }
  }

  /// Changes the progress and reports it.
  ///
  /// - Throws: `SatchelError` (`cancelled`) once the callback has returned false
  package func report(_ change: (inout SyncProgress) -> Void) throws {
    let continues = state.withLock { state in
      change(&state.progress)
      (state.progress.bytesUp, state.progress.bytesDown) = (traffic.bytesUp, traffic.bytesDown)
      if !state.isCancelled, let callback {
        state.isCancelled = !HostWork.calling("a progress callback") { callback(state.progress) }
      }
      return !state.isCancelled
    }
    guard continues else { throw SatchelError(.cancelled, "cancelled by the caller") }
  }

  /// Reports the progress of a transfer.
  ///
  /// - Throws: `.cancelled` once the callback has returned false
  package func reportTransfer() throws(ObjectStoreError) {
    do {
      try report { _ in }
    } catch {
      throw ObjectStoreError(.cancelled, "cancelled by the caller")
    }
  }

  /// The traffic so far.
  package var traffic: Traffic { store.traffic }

  /// Recalls that the object store has passed the probe, so that `checkConditions` need not ask.
  func recallProbe(_ connection: Connection) throws {
    if try probed.isStored(remote, user, in: connection) { state.withLock { $0.isProbed = true } }
  }

  /// Checks that the object store supports conditional writes, and probes it if that is unknown: at most once
  /// for all subjects.
  ///
  /// - Parameter prefix: that of the probe's object
  /// - Throws: `SatchelError` (`invalid`) when it does not; `ObjectStoreError`
  package func checkConditions(under prefix: ObjectPrefix) throws {
    if state.withLock({ $0.isProbed }) { return }
    try probed.check(
      remote, through: store, for: user, under: prefix, retry: retry, cancellation: cancellation)
    state.withLock { $0.isProbed = true }
  }
}

/// Serializes syncs of the same subject; syncs of different subjects run concurrently.
// Unchecked: the set is accessed only while the lock is held.
package final class SyncTurns: @unchecked Sendable {
  /// The subject of a sync: a part of one database.
  package struct Subject: Hashable {
    var database: ObjectIdentifier
    var name: String

    /// - Parameter name: unique among the subjects of the database
    package init(database: Database, name: String) {
      self.database = ObjectIdentifier(database)
      self.name = name
    }
  }

  package static let shared = SyncTurns()
  private let lock = ConditionLock()
  private var busy: Set<Subject> = []

  /// Waits until no other sync of the subject is running, then calls `body`.
  ///
  /// - Throws: `cancelled` when the caller cancels while it waits; `busy` when called in a callback of the
  ///   same sync
  package func withTurn<Result>(
    of subject: Subject, _ cancellation: Cancellation, _ body: () throws -> Result
  ) throws -> Result {
    let work = HostWork.Resource(subject.database, subject.name)
    try HostWork.refuse("\(subject.name): a synchronization cannot begin", work)
    try lock.withLock {
      while busy.contains(subject) {
        if cancellation.isCancelled() { throw SatchelError(.cancelled, "cancelled by the caller") }
        lock.wait(milliseconds: 20)
      }
      busy.insert(subject)
    }
    defer {
      lock.withLock {
        busy.remove(subject)
        lock.signal()
      }
    }
    return try HostWork.on(HostWork.Resource(subject.database)) { try HostWork.on(work, body) }
  }
}

/// The options that all transfers have.
public protocol TransferOptions: Sendable {
  /// The number of objects that are transferred at the same time: 1 to 16; clamped.
  var parallel: Int { get set }
  /// How requests are retried.
  var retry: Retry { get set }
  /// Polled regularly; the sync throws `cancelled` soon after it is set.
  var cancellation: Cancellation { get set }
  /// Whether to accept a store without conditional writes.
  var allowUnsafeRemote: Bool { get }
}

extension TransferOptions {
  public var allowUnsafeRemote: Bool { false }
}

/// The progress of a synchronization.
public struct SyncProgress: Sendable, Equatable, JSONConvertible {
  public enum Phase: String, Sendable, CaseIterable {
    /// Photos: determining what has to be transferred.
    case plan
    /// Records and state: reading what is new in the remote.
    case download
    /// Records and state: applying it.
    case apply
    /// Records and state: sending local changes.
    case upload
    /// Photos: transferring shards.
    case shards
    /// Photos: writing the manifest.
    case manifest
    /// Backups of photos: transferring, or listing, their files.
    case files
  }

  public var phase = Phase.plan
  /// Of a download, objects; of an upload, changes; of photos, shards; of backups, files.
  public var done = 0
  /// The number of all; 0 while unknown.
  public var total = 0
  /// Bytes of bodies so far, retries included.
  public var bytesUp: Int64 = 0
  public var bytesDown: Int64 = 0

  public init() {}

  package mutating func begin(_ phase: Phase, done: Int = 0, of total: Int = 0) {
    (self.phase, self.done, self.total) = (phase, done, total)
  }

  public var json: JSONValue {
    [
      "phase": .string(phase.rawValue), "done": .int(Int64(done)), "total": .int(Int64(total)),
      "bytes_up": .int(bytesUp), "bytes_down": .int(bytesDown),
    ]
  }
}

/// A report with the traffic of a synchronization, or of a part of it.
package protocol TrafficReport {
  /// Requests to the object store, retries included.
  var requests: Int64 { get set }
  /// Bytes of bodies.
  var bytesUp: Int64 { get set }
  var bytesDown: Int64 { get set }
}

extension TrafficReport {
  package mutating func add(_ other: some TrafficReport) {
    requests += other.requests
    bytesUp += other.bytesUp
    bytesDown += other.bytesDown
  }
}

extension Traffic: TrafficReport {
  package static func - (after: Traffic, before: Traffic) -> Traffic {
    var difference = after
    difference.requests -= before.requests
    difference.bytesUp -= before.bytesUp
    difference.bytesDown -= before.bytesDown
    return difference
  }
}

// The library for C is built without concurrency: see the Makefile.
#if !SATCHEL_WITHOUT_CONCURRENCY
  extension TransferOptions {
    /// Runs a blocking synchronization on a separate thread; cancelling the task cancels it.
    package func onOwnThread<Result: Sendable>(
      _ body: @escaping @Sendable (Self) throws -> Result
    ) async throws -> Result {
      try await cancellation.onOwnThread { cancellation in
        var options = self
        options.cancellation = cancellation
        return try body(options)
      }
    }
  }
#endif
