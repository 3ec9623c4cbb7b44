/// What the calling thread is doing for a host: what its work is for, and which of the host's functions it is in. A thread
/// that is started inherits the work.
///
/// A call that waits for work of the thread itself, or for work that waits for the thread, would never end: it asks here,
/// and is refused.
package enum HostWork {
  /// A store, or something of it that only one call at a time may work for.
  package struct Subject: Hashable, Sendable {
    var store: ObjectIdentifier
    var name: String

    package init(_ store: ObjectIdentifier, _ name: String = "") {
      self.store = store
      self.name = name
    }
  }

  private final class State {
    var subjects: [Subject] = []
    var callbacks: [StaticString] = []
    var clocks = 0
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

  /// Runs what is done for something of a store, on this thread and those that it starts.
  package static func on<Result>(_ subject: Subject, _ body: () throws -> Result) rethrows -> Result {
    let state = state
    state.subjects.append(subject)
    defer { state.subjects.removeLast() }
    return try body()
  }

  /// What a thread that is started now works for.
  static var inherited: [Subject] { known?.subjects ?? [] }

  static func inherit(_ subjects: [Subject]) {
    if !subjects.isEmpty { state.subjects = subjects }
  }

  // MARK: Calling the host

  /// Runs a function of the host's.
  ///
  /// - Parameter name: what it is, for messages
  package static func calling<Result>(_ name: StaticString, _ body: () throws -> Result) rethrows -> Result {
    let state = state
    state.callbacks.append(name)
    defer { state.callbacks.removeLast() }
    return try body()
  }

  /// Runs the host's clock, which calls of the library ask in the middle of their work.
  ///
  /// - Parameter instead: what is done where the clock has called the library, which asks for the time
  package static func callingClock(_ body: () -> Int64, instead: () -> Int64) -> Int64 {
    let state = state
    guard state.clocks == 0 else { return instead() }
    state.clocks += 1
    defer { state.clocks -= 1 }
    return calling("the clock", body)
  }

  // MARK: Refusing

  /// - Throws: `.busy` in a function of the host's that work for the subject calls
  package static func refuse(_ message: String, _ subject: Subject) throws {
    guard let known, let callback = known.callbacks.last, known.subjects.contains(subject) else { return }
    throw SatchelError(.busy, "\(message) from \(callback), which has to return first")
  }

  /// - Throws: `.busy` in the host's clock
  static func refuseInClock(_ path: String) throws {
    guard let known, known.clocks > 0 else { return }
    throw SatchelError(.busy, "\(path): a store cannot be used from the clock, which has to return first")
  }
}
