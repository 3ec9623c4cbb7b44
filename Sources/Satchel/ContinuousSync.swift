import SatchelCore
import SatchelJSON
import SatchelPhotos
import SatchelRemote
import SatchelStorage
import SatchelSync

/// Keeps a store in sync, on a thread of its own: at once, after commits, at an interval, and on request.
///
/// Made by `Store.runSync`; it goes on until `stop`, until the store closes, or until the store no longer belongs to the
/// remote's user. The store keeps it.
public final class ContinuousSync: Sendable {
  /// The state of a store that is kept in sync.
  public struct Status: Sendable, JSONConvertible {
    public enum State: String, Sendable, CaseIterable {
      /// Nothing is left to send; the next sync is due after a commit or the interval.
      case idle
      case syncing
      /// The last sync has failed, and is tried again.
      case waiting
      /// There is no network.
      case held
      case ended
    }

    public var state = State.idle
    /// When this object synchronized the store last, in Unix milliseconds; nil before the first time.
    public var lastSync: Int64?
    /// When the next sync is due without commits, in Unix milliseconds; nil while none is.
    public var nextAt: Int64?
    /// The attempts that have failed since the last success.
    public var failures = 0
    /// Why the last attempt failed, or why it ended; nil after a success.
    public var error: SatchelError?
    /// The report of the last sync; nil before the first one, and after a failure.
    public var report: StoreSyncReport?

    public var json: JSONValue {
      let failure: JSONValue? = error.map {
        ["code": .int(Int64($0.code.rawValue)), "message": .string($0.message)]
      }
      return [
        "state": .string(state.rawValue), "last_sync": lastSync.map { .int($0) } ?? .null,
        "next_at": nextAt.map { .int($0) } ?? .null, "failures": .int(Int64(failures)),
        "error": failure ?? .null, "report": report?.json ?? .null,
      ]
    }
  }

  private struct Progress {
    weak var store: Store?
    var schedule: SyncSchedule
    var status = Status()
    var commits: Store.Observation?
    /// Whether a sync must not bind the store again: it was bound, so that it was signed out or detached since.
    var isBound: Bool
    /// Whether the end is still to be reported to the observer.
    var mustReportEnd = false
  }

  private let progress: Locked<Progress>
  private let remote: any ObjectStore
  private let user: UserID
  private let options: StoreSyncOptions
  private let network: @Sendable () -> Network
  private let observer: @Sendable (Status) -> Void
  private let thread = JobThread()
  private let lazyJob = Lazy<JobThread.Job>()

  init(
    _ store: Store, _ remote: any ObjectStore, _ user: UserID, _ options: StoreSyncOptions, interval: Int64?,
    network: @escaping @Sendable () -> Network, observer: @escaping @Sendable (Status) -> Void
  ) throws {
    let isBound = try store.syncStatus().user != nil
    progress = Locked(Progress(store: store, schedule: SyncSchedule(interval: interval), isBound: isBound))
    (self.remote, self.user, self.options) = (remote, user, options)
    (self.network, self.observer) = (network, observer)
  }

  deinit { thread.stop() }

  private var job: JobThread.Job { lazyJob.value { thread.job { [weak self] in self?.run() } } }

  func start(_ store: Store) throws {
    let commits = try store.observe { [weak self] in self?.note($0) }
    progress.withLock { $0.commits = commits }
    try job.request()
  }

  /// Synchronizes as soon as possible, also before the time that follows a failure; such as when the network is back, or
  /// the app comes to the foreground.
  ///
  /// - Throws: `SatchelError` `.closed` after its end
  public func request() throws {
    try progress.withLock {
      if $0.status.state == .ended { throw SatchelError(.closed, "the store is no longer kept in sync") }
      $0.schedule.request()
    }
    try job.request()
  }

  /// Returns the present state, without waiting for a sync.
  public var status: Status { progress.withLock { $0.status } }

  /// Cancels a sync in progress, waits for its end, and ends. The observer is not called afterwards; inside it, only its
  /// own call ends later.
  public func stop() {
    end(reporting: nil)
    thread.stop()
    // The functions of the host are released with this object.
    progress.withLock { $0.store }?.forget(self)
  }

  /// Lets no further sync begin.
  ///
  /// - Parameter error: reported to the observer; nil for an end that the host has asked for
  func end(reporting error: SatchelError?) {
    let commits = progress.withLock { progress -> Store.Observation? in
      guard progress.status.state != .ended else { return nil }
      (progress.status.state, progress.status.nextAt) = (.ended, nil)
      progress.status.error = error ?? progress.status.error
      progress.mustReportEnd = error != nil
      defer { progress.commits = nil }
      return progress.commits
    }
    commits?.cancel()
    if error != nil { try? job.request() }
  }

  private func note(_ change: Change) {
    guard change.subject != .catalogue, change.subject != .stories else { return }
    let due = progress.withLock { progress in
      progress.schedule.noteChange(at: Clock.monotonic.now())
      return progress.schedule.due
    }
    // A store that closes has no use for it.
    if let due { try? job.request(at: due) }
  }

  // MARK: On the thread

  /// - Returns: when to run again
  private func run() -> Int64? {
    if reportEnd() { return nil }
    let now = Clock.monotonic.now()
    let (store, due) = progress.withLock { ($0.store, $0.schedule.due) }
    guard let store else { return nil }
    guard let due, due <= now else { return due }
    switch network() {
    case .none:
      return publish(.held, store) { $0.schedule.hold(at: now) }
    case let network:
      if progress.withLock({ $0.schedule.isForChanges(at: now) }), (try? hasUnsent(in: store)) == false {
        return progress.withLock { progress in
          progress.schedule.forgetChanges()
          return progress.schedule.due
        }
      }
      return synchronize(store, isMetered: network == .metered)
    }
  }

  private func synchronize(_ store: Store, isMetered: Bool) -> Int64? {
    var options = options
    options.cancellation = Cancellation { [progress, cancellation = options.cancellation] in
      progress.withLock { $0.status.state == .ended } || cancellation.isCancelled()
    }
    if isMetered { (options.assets, options.uploadsAssets) = (.lazy, false) }
    options.mustBeBound = progress.withLock { $0.isBound }
    // Its choice is for the content before the first sync, and not for an account that was closed since.
    if options.mustBeBound { options.first = nil }
    publish(.syncing, store) { $0.schedule.begin() }
    let result = Result { try store.sync(with: remote, user: user, options: options) }
    let now = Clock.monotonic.now()
    let jitter = Double.random(in: 0...1)
    switch result {
    case .success(let report):
      return publish(.idle, store) { progress in
        progress.isBound = true
        progress.schedule.succeed(at: now, jitter: jitter)
        progress.status.lastSync = store.database.clock.now()
        (progress.status.error, progress.status.report) = (nil, report)
      }
    case .failure(let failure):
      let error = SatchelError(converting: failure)
      if error.code == .foreign || error.code == .closed { end(reporting: error) }
      if reportEnd() { return nil }
      return publish(.waiting, store) { progress in
        progress.schedule.fail(at: now, isFinal: error.isFinal, jitter: jitter)
        (progress.status.error, progress.status.report) = (error, nil)
      }
    }
  }

  /// Whether a sync has something to send. Commits of a sync itself are changes as well.
  private func hasUnsent(in store: Store) throws -> Bool {
    let status = try store.syncStatus()
    guard let remote = status.remote, status.pending == 0 else { return true }
    guard try store.database.has(.photos),
      let bound = try PhotoCatalogue.directory(boundTo: remote, user: user, in: store.database)
    else { return false }
    return try PhotoCatalogue.unsentDirectories(in: store.database).contains(bound)
  }

  /// Changes the state, and reports it to the observer.
  ///
  /// - Returns: when to run again
  @discardableResult
  private func publish(_ state: Status.State, _ store: Store, _ change: (inout Progress) -> Void) -> Int64? {
    let (status, due, isKnown) = progress.withLock { progress -> (Status, Int64?, Bool) in
      guard progress.status.state != .ended else { return (progress.status, nil, true) }
      let wasHeld = progress.status.state == .held
      change(&progress)
      let due = progress.schedule.due
      progress.status.state = state
      progress.status.failures = progress.schedule.failures
      progress.status.nextAt =
        state == .syncing ? nil : due.map { store.database.clock.now() + max($0 - Clock.monotonic.now(), 0) }
      return (progress.status, due, wasHeld && state == .held)
    }
    if !isKnown { observer(status) }
    return due
  }

  /// Reports an end that the host has not asked for.
  ///
  /// - Returns: whether it has ended
  private func reportEnd() -> Bool {
    let (status, mustReport) = progress.withLock { progress in
      defer { progress.mustReportEnd = false }
      return (progress.status, progress.mustReportEnd)
    }
    if mustReport { observer(status) }
    return status.state == .ended
  }
}

extension SatchelError {
  /// Whether the same attempt soon fails in the same way.
  fileprivate var isFinal: Bool {
    switch code {
    case .unavailable, .busy, .timedOut, .io, .full, .noMemory, .cancelled, .conflict: false
    default: true
    }
  }
}
