import SatchelCore
import SatchelRemote

/// Rebuilds the log after a loss.
extension SyncLogRun {
  /// A part of the log is unreadable, or does not match the head. Another device may have it, and rewrite it.
  mutating func lose(
    _ packs: [SyncPack], of head: SyncHead, etag: ETag, _ pull: SyncPull, failures: Int,
    at state: SyncLogState
  ) throws -> SatchelError? {
    var names = packs.map { "\($0.name) (\($0.entries) entries)" }.joined(separator: ", ")
    if packs.count >= Self.maximumUnreadable { names += " and possibly others" }
    let error = SatchelError(
      .damaged,
      packs.isEmpty
        ? "the entries of the sync log differ from the count and the digest in its head; to continue without the missing ones, accept the loss"
        : "packs of the sync log are missing or damaged: \(names); sync a device that has them, or accept the loss"
    )
    // The current head may no longer name them.
    guard failures >= 3 else { return error }
    guard case .unchanged = try remote.look(unless: etag, isExpected: true) else { return Self.raced }
    report.losses = packs.map { SyncLoss(pack: $0.name, entries: Int($0.entries)) }
    guard options.acceptsLoss else {
      try listMissing(packs, in: head, etag: etag)
      throw error
    }
    try rebuild(head, etag: etag, from: pull, at: state)
    return error
  }

  /// Lists unreadable packs in the head, so that a device that has their entries rewrites them at its next
  /// sync: it would not read packs again while the head is unchanged.
  private mutating func listMissing(_ packs: [SyncPack], in head: SyncHead, etag: ETag) throws {
    let missing = Set(head.missing).union(packs.map(\.name)).intersection(head.packs.map(\.name))
    guard missing.count > Set(head.missing).count else { return }
    try probeOnce()
    var head = head
    head.position.number = min(head.position.number + 1, SyncPack.numbers.upperBound)
    head.id = HexadecimalName.random(digits: 32)
    head.missing = missing.ordered()
    _ = try remote.replaceHead(remote.signed(&head), base: etag)
  }

  /// Writes the readable entries as a new log, to which all devices then send their other entries.
  private func rebuild(
    _ head: SyncHead, etag: ETag, from pull: SyncPull, at state: SyncLogState
  ) throws {
    let position = head.position.next(after: state.position, isRenumbered: true)
    guard var new = try writeLog(pull, at: position, bytes: head.bytes, to: remote)?.head else { return }
    (new.others, new.successions, new.reseals) = (head.others, head.successions, head.reseals)
    _ = try remote.replaceHead(remote.signed(&new), base: etag)
  }

  /// Continues from an older head. If an old head was restored without its packs, which were deleted since,
  /// the log is rebuilt from the entries of this device, which has read a later head.
  func replace(
    older head: SyncHead, _ etag: ETag, after known: SyncHead.Position, _ state: SyncLogState
  ) throws {
    let isSameLog = head.position.epoch == known.epoch && head.position.log == known.log
    if isSameLog, try !head.packs(missingFrom: remote.names()).isEmpty {
      return try create(after: known, base: etag, state)
    }
    try adopt(head, etag, after: known)
  }

  /// Writes an older head again, in a new epoch. When the condition holds, the object store has really lost
  /// data, and all devices join the new log.
  private func adopt(_ head: SyncHead, _ etag: ETag, after known: SyncHead.Position) throws {
    var head = head
    // The packs stay as they are.
    if head.key != nil { head.origin = head.origin ?? head.position.log }
    head.follows = head.position
    head.position = head.position.next(after: known, isRenumbered: false)
    head.id = HexadecimalName.random(digits: 32)
    head.fence = head.position.number
    (head.adopts, head.times) = (true, SyncTimes())
    _ = try remote.replaceHead(remote.signed(&head), base: etag)
  }

  /// Writes an empty log of the next epoch, where the head is missing or unreadable.
  func create(after known: SyncHead.Position, base: ETag?, _ state: SyncLogState) throws {
    if isPreview {
      throw SatchelError(.unavailable, "the sync log is lost or damaged, and a sync would begin a new one")
    }
    var head = SyncHead(beginning: known.next(isRenumbered: true))
    head.successions = state.head?.successions ?? []
    head.reseals = remote.keys != nil && (state.head.map { $0.reseals || $0.key == nil } ?? false)
    _ = try remote.replaceHead(remote.signed(&head), base: base)
  }

  /// Rebuilds the log when its head is damaged, as when it is lost: the condition holds for one of several
  /// devices, and all of them send the entries that the new log lacks.
  mutating func mend(
    _ etag: ETag, after error: SatchelError, failures: Int, _ state: inout SyncLogState
  ) throws -> SatchelError {
    // The head may be one that this device wrote and has not confirmed yet.
    if state.position != nil || state.upload != nil { try finishPhase(&state) }
    let position = state.position
    guard position != nil || options.acceptsLoss else { throw Self.unknown(error) }
    // All reads so far may have been truncated in transit.
    if failures >= 3 || options.acceptsLoss {
      try create(after: position ?? Self.unknownPosition, base: etag, state)
    }
    return SatchelError(.unavailable, "\(error.message), and the sync log is being rebuilt; try again")
  }

  /// Replaces a head that no device has written by an empty one, when the loss is accepted.
  func replace(
    invalid etag: ETag?, _ error: SatchelError, _ state: SyncLogState
  ) throws -> SatchelError {
    guard options.acceptsLoss else { throw error }
    try create(after: state.position ?? Self.unknownPosition, base: etag ?? remote.etagOfHead(), state)
    return error
  }

  /// - Throws: `SatchelError` (`damaged`) for a position that no devices can have reached since `known`
  static func check(_ position: SyncHead.Position, after known: SyncHead.Position?) throws {
    guard let known, position.isImpossible(after: known) else { return }
    throw SatchelError(
      .damaged,
      "head: its epoch and number, \(position.epoch) and \(position.number), are too far from \(known.epoch) and "
        + "\(known.number), which were read before; accept the loss to replace it by the data of this device")
  }

  /// The error for a damaged head that this device has never read.
  static func unknown(_ error: SatchelError) -> SatchelError {
    SatchelError(
      error.code,
      "\(error.message); a device that has synchronized before rebuilds the sync log at its next sync,  "
        + "or accept the loss")
  }

  /// An epoch above that of every log that a device may know, for when the head is unreadable.
  static let unknownPosition = SyncHead.Position(epoch: 1 << 31, log: "", number: 0)
}
