import Synchronization

/// Stops long reads from another thread, and limits their time.
///
/// ```swift
/// let interrupt = Interrupt()
/// // On one thread:
/// let found = try interrupt.perform { try courses.list(RecordQuery(.field("credits", .greater(5)))) }
/// // On another one: the query above throws `.cancelled`.
/// interrupt.cancel()
/// ```
///
/// Queries, searches, statistics and checks can be stopped; writes cannot, once they have begun.
public final class Interrupt: Sendable {
  /// The time limit of a read.
  public enum Timeout: Equatable, Sendable {
    /// `StoreOptions.queryTimeout` of the store that is read.
    case ofStore
    case never
    case milliseconds(Int64)
  }

  /// The limit for each read in `perform`; one that takes longer throws `.timedOut`.
  public let timeout: Timeout
  /// Returns whether a read has to stop; called on the thread of the read.
  let check: (@Sendable () -> Bool)?
  private let cancelled = Atomic(false)

  public init(timeout: Timeout = .ofStore) {
    self.timeout = timeout
    check = nil
  }

  /// - Parameter check: whether a read has to stop; called on the thread of the read, at most every 50 ms. It must
  ///   not use a store.
  public init(timeout: Timeout = .ofStore, check: @escaping @Sendable () -> Bool) {
    self.timeout = timeout
    self.check = check
  }

  /// Cancels the reads in `perform`: those in progress, and all that begin later.
  public func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// Whether `cancel` was called.
  public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Runs `body`; long reads that it makes on this thread can be stopped. When nested, the inner interrupt
  /// applies.
  public func perform<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = Self.attached
    Self.attach(self)
    defer { Self.attach(before) }
    return try body()
  }

  /// Sets the interrupt of the calling thread's reads; nil for none.
  package static func attach(_ interrupt: Interrupt?) { InterruptibleCall.current.interrupt = interrupt }

  package static var attached: Interrupt? { InterruptibleCall.current.interrupt }
}

/// The call of a thread that may be stopped, if it makes one. Only its thread uses it.
package final class InterruptibleCall {
  /// The time between two calls of `Interrupt.check`, and before the first, in milliseconds.
  private static let checkInterval: Int64 = 50

  fileprivate var interrupt: Interrupt?
  private var depth = 0
  private var timeout: Int64 = 0
  /// When the first check was made; unset until then, because most calls end before it.
  private var began: Int64?
  private var nextCheck: Int64 = 0
  private var failure: SatchelError?
  private var path = ""

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { call in
      #if canImport(Darwin)
        Unmanaged<AnyObject>.fromOpaque(call).release()
      #else
        if let call { Unmanaged<AnyObject>.fromOpaque(call).release() }
      #endif
    }
    return key
  }()

  private static var known: InterruptibleCall? {
    pthread_getspecific(key).map { Unmanaged<InterruptibleCall>.fromOpaque($0).takeUnretainedValue() }
  }

  fileprivate static var current: InterruptibleCall {
    if let known { return known }
    let made = InterruptibleCall()
    pthread_setspecific(key, Unmanaged.passRetained(made).toOpaque())
    return made
  }

  /// Runs `body` as a call whose reads can be stopped. A nested one is a part of the outer one.
  ///
  /// - Parameters:
  ///   - timeout: the time limit of the store in milliseconds; 0 for none
  ///   - path: of the store, for messages
  /// - Throws: `.cancelled` and `.timedOut` when it was stopped, regardless of the errors of `body`
  package static func perform<Result>(
    timeout: Int64, _ path: String, _ body: () throws -> Result
  ) throws -> Result {
    let call = current
    guard call.depth == 0 else { return try body() }
    try call.begin(timeout, path)
    defer {
      call.depth = 0
      call.failure = nil
    }
    do {
      let result = try body()
      if let failure = call.failure { throw failure }
      return result
    } catch {
      throw call.failure ?? error
    }
  }

  private func begin(_ timeout: Int64, _ path: String) throws {
    self.path = path
    if let interrupt, interrupt.isCancelled { throw cancelled }
    self.timeout =
      switch interrupt?.timeout {
      case .milliseconds(let limit): max(1, limit)
      case .never: 0
      case .ofStore, nil: timeout
      }
    began = nil
    depth = 1
  }

  private var cancelled: SatchelError { SatchelError(.cancelled, "\(path): the read was cancelled") }

  /// Whether the calling thread makes a call that has to stop. Called many times during a read.
  package static var mustStop: Bool { known?.mustStop() ?? false }

  /// Throws when the calling thread makes a call that has to stop; for work on what was read.
  ///
  /// - Throws: `.cancelled`, for which `perform` throws the reason
  package static func check() throws {
    if mustStop { throw SatchelError(.cancelled, "the read was stopped") }
  }

  private func mustStop() -> Bool {
    if depth == 0 { return false }
    if failure == nil { failure = reasonToStop() }
    return failure != nil
  }

  private func reasonToStop() -> SatchelError? {
    if let interrupt, interrupt.isCancelled { return cancelled }
    let now = Clock.monotonic.now()
    guard let began else {
      began = now
      nextCheck = now + Self.checkInterval
      return nil
    }
    if timeout > 0, now - began >= timeout {
      return SatchelError(.timedOut, "\(path): the read took longer than the query timeout of \(timeout) ms")
        .at(limit: Int(timeout))
    }
    guard let check = interrupt?.check, now >= nextCheck else { return nil }
    nextCheck = now + Self.checkInterval
    return HostWork.callingWithoutStores("an interrupt's check", check) ? cancelled : nil
  }
}
