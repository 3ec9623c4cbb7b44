import SatchelCore

/// The encryption keys that the host has set for a store: the current one seals, the earlier ones open the
/// content that they sealed. All subjects of a store share them.
package final class Keyring: Sendable {
  package typealias Keys = [[UInt8]: EncryptionKey]

  private struct State {
    var current: EncryptionKey?
    var keys: Keys = [:]
    var syncEntries: EncryptionKey?
    var observers: [@Sendable () -> Void] = []
    var sealed: [Sealed] = []
    var registering: (@Sendable () -> Void)?
  }

  /// The sealed content of a subject.
  package struct Sealed: Sendable {
    let subject: String
    /// Returns the name of content that is sealed with another key than the named one; nil when all of it is
    /// sealed with that one.
    let find: @Sendable (_ name: [UInt8], Connection) throws -> String?
    /// Seals all of it with another key.
    let reseal: @Sendable (EncryptionKey, Keys, Transaction) throws -> Void

    package init(
      of subject: String,
      find: @escaping @Sendable (_ name: [UInt8], Connection) throws -> String?,
      reseal: @escaping @Sendable (EncryptionKey, Keys, Transaction) throws -> Void
    ) {
      self.subject = subject
      self.find = find
      self.reseal = reseal
    }
  }

  private let state = Locked(State())
  /// Held while values are resealed, so that no value is sealed with the old key meanwhile.
  package let rotating = ConditionLock()

  package init() {}

  package var current: EncryptionKey? { state.withLock { $0.current } }

  package var keys: Keys { state.withLock { $0.keys } }

  /// The key of the sync log's entries in the store, since the last sync with an encrypted log.
  package var syncEntries: EncryptionKey? {
    get { state.withLock { $0.syncEntries } }
    set { state.withLock { $0.syncEntries = newValue } }
  }

  /// Adds a key that opens values, but does not seal yet.
  package func add(_ key: EncryptionKey) { state.withLock { $0.keys[key.name] = key } }

  /// Removes a key that was added and is not the current one.
  package func remove(_ key: EncryptionKey) {
    state.withLock { if $0.current?.name != key.name { $0.keys[key.name] = nil } }
  }

  /// Makes a key the current one.
  package func use(_ key: EncryptionKey) {
    state.withLock {
      $0.keys[key.name] = key
      $0.current = key
    }
  }

  /// Forgets all keys: their user has signed out.
  package func forgetAll() { state.withLock { ($0.current, $0.keys, $0.syncEntries) = (nil, [:], nil) } }

  /// Adopts the keys of the store that this one is a copy of.
  package func copy(_ other: Keyring) {
    let (current, keys, entries) = other.state.withLock { ($0.current, $0.keys, $0.syncEntries) }
    state.withLock { ($0.current, $0.keys, $0.syncEntries) = (current, keys, entries) }
  }

  /// Registers the sealed content of a subject.
  package func register(_ sealed: Sealed) { state.withLock { $0.sealed.append(sealed) } }

  /// Sets a function that makes the subjects which have not been used yet register their content.
  package func completeRegistrations(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.registering = body }
  }

  /// The sealed content of all subjects.
  private var allSealed: [Sealed] {
    state.withLock { $0.registering }?()
    return state.withLock { $0.sealed }
  }

  /// Returns the name of something that is sealed with another key; nil when nothing is.
  ///
  /// - Parameter subject: the subject to leave out
  package func sealed(
    notBy name: [UInt8], except subject: String = "", _ connection: Connection
  ) throws -> String? {
    for sealed in allSealed where sealed.subject != subject {
      if let found = try sealed.find(name, connection) { return found }
    }
    return nil
  }

  /// Returns the key that seals in a store: the current one, or the one that another thread has changed it to and not
  /// made current yet.
  ///
  /// - Parameter location: begins the message of the error
  /// - Throws: `.unauthorized` when it is not set, and when another process has changed it
  package func sealingKey(_ connection: Connection, at location: () -> String) throws -> EncryptionKey {
    guard let key = current else {
      throw SatchelError.keyNotSet(location())
    }
    guard let other = try sealed(notBy: key.name, connection) else { return key }
    guard let known = try keys.values.first(where: { try sealed(notBy: $0.name, connection) == nil }) else {
      throw SatchelError.notTheKey(location(), other)
    }
    return known
  }

  /// Seals everything with another key, as a part of a transaction.
  package func reseal(with key: EncryptionKey, in transaction: Transaction) throws {
    for sealed in allSealed { try sealed.reseal(key, keys, transaction) }
  }

  /// Calls `body` whenever the host has set a key.
  package func whenSet(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.observers.append(body) }
  }

  /// Calls the observers.
  package func notify() { for body in state.withLock({ $0.observers }) { body() } }
}
