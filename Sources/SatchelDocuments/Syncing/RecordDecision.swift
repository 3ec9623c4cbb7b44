import SatchelJSON
import SatchelSync

/// The decision about a record whose remote version differs from its base.
enum RecordDecision: Sendable, Equatable {
  /// Both sides are equal.
  case match
  /// The record becomes the remote version; whether a local version is lost.
  case apply(isLost: Bool)
  /// The record stays, and replaces the remote version; whether that version is lost.
  case keep(isLost: Bool)
  /// The record becomes a merge of both, which is sent; the side that lost a field that both had changed.
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
      // A change that was reverted is not a change.
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
      // Both sides are within the maximum depth, and merging does not increase it.
      return isOurs ? .keep(isLost: true) : .apply(isLost: true)
    }
    let content = SyncContent(
      document: document, revision: max(local.content.revision, remote.content.revision),
      created: min(local.content.created, remote.content.created),
      modified: max(local.content.modified, remote.content.modified))
    return .merge(content, lost: lost)
  }
}

/// One side of a record: the input of a decision. It is the same for both sides, so that all devices decide
/// alike.
struct RecordVersion: Sendable, Equatable {
  var content: SyncContent

  init(_ content: SyncContent) { self.content = content }

  /// Nil when it was deleted.
  ///
  /// - Throws: `JSONError` for a document that is not JSON
  var value: JSONObject? {
    get throws { try content.document.flatMap { try JSONValue(parsing: $0).objectValue } }
  }

  /// Whether it was changed later; of two changes of the same time, whether its bytes are greater.
  func isNewer(than other: RecordVersion) -> Bool {
    if content.modified != other.content.modified { return content.modified > other.content.modified }
    return (other.content.document ?? []).lexicographicallyPrecedes(content.document ?? [])
  }

  /// Whether both have the same value, however it is written.
  func hasSameValue(as other: RecordVersion) throws -> Bool { try value == other.value }
}
