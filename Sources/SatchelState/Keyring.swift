import SatchelCore
import SatchelStorage

/// The encryption keys that the host has set: the current one seals, the earlier ones still open the values
/// that they sealed.
final class Keyring: Sendable {
  typealias Keys = [[UInt8]: EncryptionKey]

  private struct State {
    var current: EncryptionKey?
    var keys: Keys = [:]
  }

  private let state = Locked(State())
  /// Held while values are resealed, so that no value is sealed with the old key meanwhile.
  let rotating = ConditionLock()

  var current: EncryptionKey? { state.withLock { $0.current } }

  var keys: Keys { state.withLock { $0.keys } }

  /// Adds a key that opens values, but does not seal yet.
  func add(_ key: EncryptionKey) { state.withLock { $0.keys[key.name] = key } }

  /// Removes a key that was added and is not the current one.
  func remove(_ key: EncryptionKey) {
    state.withLock { if $0.current?.name != key.name { $0.keys[key.name] = nil } }
  }

  /// Makes a key the current one.
  func use(_ key: EncryptionKey) {
    state.withLock {
      $0.keys[key.name] = key
      $0.current = key
    }
  }
}
