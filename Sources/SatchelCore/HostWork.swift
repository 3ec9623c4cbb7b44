/// Records, for each thread, which stores it works for and which callbacks of the host it is in. A new thread
/// inherits the work of the thread that starts it.
///
/// A call that would wait for its own thread's work, or for work that waits for this thread, would deadlock:
/// it is detected here, and fails with `.busy`.
package enum HostWork {
  /// A store, or a part of it for which only one call may work at a time.
  package struct Resource: Hashable, Sendable {
    var store: ObjectIdentifier
    var name: String

    package init(_ store: ObjectIdentifier, _ name: String = "") {
      self.store = store
      self.name = name
    }
  }

  private final class State {
    var resources: [Resource] = []
    var callbacks: [StaticString] = []
    /// The number of running callbacks that must not use a store.
    var exclusions = 0
    /// The stores for which the host's migration functions run, with the names of the migrations.
    var migrations: [(store: Resource, name: String)] = []
    /// The deferred notifications; nil while the host may be notified.
    var deferred: [() -> Void]?
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { state in
      #if canImport(Darwin)
        Unmanaged<AnyObject>.fromOpaque(state).release()
      #else
        if let state { Unmanaged<AnyObject>.fromOpaque(state).release() }
      #endif
    }
    return key
  }()

  private static var known: State? {
    pthread_getspecific(key).map { Unmanaged<State>.fromOpaque($0).takeUnretainedValue() }
  }

  private static var state: State {
    if let known { return known }
    let made = State()
    pthread_setspecific(key, Unmanaged.passRetained(made).toOpaque())
    return made
  }

  // MARK: Working

  /// Runs `body` as work for `resource`, on this thread and the threads that it starts.
  package static func on<Result>(_ resource: Resource, _ body: () throws -> Result) rethrows -> Result {
    let state = state
    state.resources.append(resource)
    defer { state.resources.removeLast() }
    return try body()
  }

  /// The resources that a thread started now works for.
  package static var inherited: [Resource] { known?.resources ?? [] }

  package static func inherit(_ resources: [Resource]) {
    if !resources.isEmpty { state.resources = resources }
  }

  // MARK: Calling the host

  /// Runs a callback of the host.
  ///
  /// - Parameter name: the callback's name, for messages
  package static func calling<Result>(_ name: StaticString, _ body: () throws -> Result) rethrows -> Result {
    let state = state
    state.callbacks.append(name)
    defer { state.callbacks.removeLast() }
    return try body()
  }

  /// Runs a callback of the host as work for `resource`.
  package static func calling<Result>(
    _ name: StaticString, for resource: Resource, _ body: () throws -> Result
  ) rethrows -> Result {
    try on(resource) { try calling(name, body) }
  }

  /// Runs the host's clock, which the library calls for the time during other calls.
  ///
  /// - Parameter instead: returns the time when the clock itself has called the library
  package static func callingClock(_ body: () -> Int64, instead: () -> Int64) -> Int64 {
    let state = state
    guard state.exclusions == 0 else { return instead() }
    return callingWithoutStores("the clock", body)
  }

  /// Runs a callback of the host, in which all calls that use a store are refused: it interrupts one.
  package static func callingWithoutStores<Result>(
    _ name: StaticString, _ body: () throws -> Result
  ) rethrows -> Result {
    let state = state
    state.exclusions += 1
    defer { state.exclusions -= 1 }
    return try calling(name, body)
  }

  /// Runs a migration function of the host, which must not write to the store that it migrates.
  ///
  /// - Parameter name: the migration's name, for messages
  package static func migrating<Result>(
    _ store: Resource, name: String, _ body: () throws -> Result
  ) rethrows -> Result {
    let state = state
    state.migrations.append((store, name))
    defer { state.migrations.removeLast() }
    return try body()
  }

  // MARK: Notifying the host

  /// Runs `body`, which holds a lock that calls of the host need as well. Notifications of the host wait
  /// until the outermost such body ends: otherwise an observer that waits for the lock would deadlock.
  package static func deferringNotifications<Result>(_ body: () throws -> Result) rethrows -> Result {
    let state = state
    guard state.deferred == nil else { return try body() }
    state.deferred = []
    defer {
      let deferred = state.deferred ?? []
      state.deferred = nil
      for notification in deferred { notification() }
    }
    return try body()
  }

  /// Runs a notification of the host, now or after the body that defers it.
  package static func notify(_ notification: @escaping () -> Void) {
    guard let known, known.deferred != nil else { return notification() }
    known.deferred?.append(notification)
  }

  // MARK: Refusing

  /// Throws inside a callback of the host that work for `resource` has called.
  ///
  /// - Throws: `.busy`
  package static func refuse(_ message: String, _ resource: Resource) throws {
    guard let known, let callback = known.callbacks.last, known.resources.contains(resource) else { return }
    throw SatchelError(.busy, "\(message) from \(callback), which has to return first")
  }

  /// Throws inside a migration function of the host: what it writes would be written between documents of two
  /// versions, and indexes that are rebuilt afterwards.
  ///
  /// - Throws: `.invalid`
  package static func refuseWhileMigrating(_ path: String, _ store: @autoclosure () -> Resource) throws {
    guard let known, !known.migrations.isEmpty else { return }
    let store = store()
    guard let migration = known.migrations.last(where: { $0.store == store }) else { return }
    throw SatchelError(
      .invalid,
      "\(path): \(migration.name) runs, and its function must not write to the store: it returns the document"
    )
  }

  /// Throws inside the host's clock, and in other callbacks that must not use a store.
  ///
  /// - Throws: `.busy`
  package static func refuseInExcludedCallback(_ path: String) throws {
    guard let known, known.exclusions > 0, let callback = known.callbacks.last else { return }
    throw SatchelError(
      .busy, "\(path): a store cannot be used from \(callback), which has to return first")
  }
}

/// Counts the calls in progress, refuses new ones after `close`, and lets `close` wait for the last.
// Unchecked: `condition` guards all state.
package final class ActiveCalls: @unchecked Sendable {
  private let condition = ConditionLock()
  private var count = 0
  private var closed = false

  package init() {}

  package var isClosed: Bool { condition.withLock { closed } }

  /// Runs `body` and counts it as in progress.
  ///
  /// - Throws: `.closed` after `close`, and the errors of `body`
  package func perform<Result>(_ body: () throws -> Result) throws -> Result {
    try condition.withLock {
      if closed { throw SatchelError(.closed, "the store is closed") }
      count += 1
    }
    defer {
      condition.withLock {
        count -= 1
        if closed { condition.signal() }
      }
    }
    return try body()
  }

  /// Refuses new calls and waits until those in progress have returned.
  ///
  /// - Returns: false when it was closed before
  package func close() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    if closed { return false }
    closed = true
    while count > 0 { condition.wait() }
    return true
  }
}
