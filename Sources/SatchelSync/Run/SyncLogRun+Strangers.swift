import SatchelCore
import SatchelRemote

/// Heads that somebody without the key of the log has written: the owner of the object store, or another program.
extension SyncLogRun {
  /// Whether this device has read the log with the key of this sync, or without one where this sync has none.
  func hasRead(_ state: SyncLogState) -> Bool {
    state.head.map(remote.has) ?? (remote.keys != nil && remote.keys?.name == state.key)
  }

  /// Whether a head has neither the key that this device has read the log with nor that of this sync, and no device
  /// with the former key has written so.
  func isStrange(_ head: SyncHead, _ state: SyncLogState) -> Bool {
    guard isEncrypted(state), head.key != state.key, !remote.has(keyOf: head) else { return false }
    guard head.key != nil, let keys = remote.keys, keys.name == state.key else { return true }
    return !head.succeeds(keys, after: state.position, remote.user)
  }

  static func strange(_ head: SyncHead) -> SatchelError { head.key == nil ? downgrade : otherKey }

  /// The error for a log with a key that no device with the former key has given it.
  private static let otherKey = SatchelError(
    .unauthorized,
    "the sync log is encrypted with another key than when it was last read, and no device with that key has changed it: "
      + "another program has replaced it, and nothing of it is used; to replace it by the data of this device, sync "
      + "with the former key and accept the loss"
  )

  /// The error for a log without a key that was read with one.
  static let downgrade = SatchelError(
    .unauthorized,
    "downgrade: the sync log was encrypted when it was last read, and now it is not: another program has replaced it, and "
      + "nothing of it is used; to replace it by the data of this device, sync with the key and accept the loss"
  )

  /// Replaces a stranger's head by an empty one, when the loss is accepted: the entries of all devices follow.
  func replace(_ etag: ETag, of error: SatchelError, _ state: inout SyncLogState) throws -> SatchelError {
    guard options.acceptsLoss, let keys = remote.keys, keys.name == state.key else { throw error }
    let known = state.position
    try finishPhase(&state)
    try create(after: known ?? Self.unknownPosition, base: etag, state)
    return error
  }

  static var closed: SatchelError { UserObjects.closed }

  /// Ends the sync at a closed head, or begins a new log over it.
  mutating func meetClosed(
    _ head: SyncHead, etag: ETag, failures: Int, _ state: inout SyncLogState
  ) throws -> SatchelError? {
    let position = state.position
    guard options.reopens else {
      // A stale response may be from before the account was opened again.
      if let position, head.isOlder(than: position), failures < 3 {
        return SatchelError(.unavailable, "the remote returned an older version than before; try again")
      }
      throw Self.closed
    }
    try finishPhase(&state)
    if isPreview { return nil }
    let known = position.flatMap { head.position.isImpossible(after: $0) ? $0 : nil } ?? head.position
    try create(after: known.next(after: position, isRenumbered: true), base: etag, state)
    return SatchelError(.unavailable, "the account was closed and is being opened again; try again")
  }

  /// - Throws: `SatchelError` `.unavailable` for a remote without any object of the user
  func refuseEmptyRemote() throws {
    if options.recreates { return }
    try UserObjects(
      remote.store, user: remote.user, retry: options.retry, cancellation: options.cancellation
    ).refuseEmpty()
  }
}
