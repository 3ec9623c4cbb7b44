import SatchelJSON
import SatchelRemote

/// What becomes of a record whose remote version is not the one that was synced last.
enum RecordDecision: Sendable, Equatable {
  /// Both sides are equal.
  case match
  /// The record becomes the remote version; whether a local one is lost by that.
  case apply(isLost: Bool)
  /// The record stays, and is sent over the remote version; whether that is lost by that.
  case keep(isLost: Bool)
  /// The record becomes a mixture of both, which is sent; the side that has lost what both had changed.
  case merge(SyncContent, lost: ConflictSide?)
  /// The host decides.
  case ask
}

extension RecordDecision {
  /// Decides; the outcome is the same for all devices that see the same versions.
  ///
  /// - Parameters:
  ///   - local: nil when there never was a record
  ///   - isChanged: whether the record has a change that is not sent
  ///   - base: the last synced version; nil when there is none
  /// - Throws: `JSONError` for a document that is not JSON
  static func decide(
    local: RecordVersion?, isChanged: Bool, base: RecordVersion?, remote: RecordVersion,
    policy: ConflictPolicy
  ) throws -> RecordDecision {
    guard let local else { return remote.content.isDeleted ? .match : .apply(isLost: false) }
    if local.content.document == remote.content.document { return .match }
    if try !isChanged || local.hasSameValue(as: remote) { return .apply(isLost: false) }
    if let base {
      // A change and its opposite are none.
      if local.content.document == base.content.document { return .apply(isLost: false) }
      if remote.content.document == base.content.document { return .keep(isLost: false) }
    }
    switch policy {
    case .newestWins: return local.isNewer(than: remote) ? .keep(isLost: true) : .apply(isLost: true)
    case .remoteWins: return .apply(isLost: true)
    case .localWins: return .keep(isLost: true)
    case .ask: return .ask
    case .merge: return try merge(local, base, remote)
    }
  }

  private static func merge(
    _ local: RecordVersion, _ base: RecordVersion?, _ remote: RecordVersion
  ) throws -> RecordDecision {
    guard let ours = try local.value else { return .apply(isLost: true) }
    guard let theirs = try remote.value else { return .keep(isLost: true) }
    let isOurs = local.isNewer(than: remote)
    let merge = RecordMerge(
      base: try base?.value ?? JSONObject(), older: isOurs ? theirs : ours, newer: isOurs ? ours : theirs)
    let lost = merge.isOverridden ? isOurs ? ConflictSide.remote : .local : nil
    if merge.value == theirs { return .apply(isLost: lost == .local) }
    if merge.value == ours { return .keep(isLost: lost == .remote) }
    guard let document = try? JSONValue.object(merge.value).serialized() else {
      // Neither side is deeper than a document may be, and the merged one is no deeper than they are.
      return isOurs ? .keep(isLost: true) : .apply(isLost: true)
    }
    let content = SyncContent(
      document: document, revision: max(local.content.revision, remote.content.revision),
      created: min(local.content.created, remote.content.created),
      modified: max(local.content.modified, remote.content.modified))
    return .merge(content, lost: lost)
  }
}
