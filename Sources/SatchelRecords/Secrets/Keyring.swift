import SatchelStorage

/// The keys that the host has given: the present one seals, the earlier ones still open what they sealed.
final class Keyring: Sendable {
  typealias Keys = [[UInt8]: EncryptionKey]

  private struct State {
    var present: EncryptionKey?
    var keys: Keys = [:]
  }

  private let state = Guarded(State())
  /// Held while values are sealed anew, so that none is sealed with the old key meanwhile.
  let rotating = Monitor()

  var present: EncryptionKey? { state.withLock { $0.present } }

  var keys: Keys { state.withLock { $0.keys } }

  /// Opens with it, but does not seal yet.
  func add(_ key: EncryptionKey) { state.withLock { $0.keys[key.name] = key } }

  /// Takes back what was only added.
  func remove(_ key: EncryptionKey) {
    state.withLock { if $0.present?.name != key.name { $0.keys[key.name] = nil } }
  }

  /// Seals with it from now on.
  func use(_ key: EncryptionKey) {
    state.withLock {
      $0.keys[key.name] = key
      $0.present = key
    }
  }
}
