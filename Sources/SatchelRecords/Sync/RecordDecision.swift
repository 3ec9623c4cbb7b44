import SatchelJSON
import SatchelRemote

/// What is to be done with one record, so that both sides agree. A value made from values.
enum RecordDecision: Sendable, Equatable {
  /// Nothing is to be done.
  case nothing
  /// Both say the same already, and only that is to be noted.
  case agree
  /// What is there becomes what is here.
  case take(isLost: Bool)
  /// What is here is sent, on top of what is there.
  case send
  /// What is there has been replaced by what was agreed: that is sent again.
  case renew
  /// Both become this, which then is sent.
  case merge(RecordContent, isLost: Bool)
  /// The host is to decide.
  case ask
}

/// What is in the object store, seen from what was agreed.
enum RecordRemoteSide: Sendable, Equatable {
  /// There is no object.
  case absent
  /// It is what was agreed.
  case same
  /// It was built before what was agreed: the store has gone back, or lags behind.
  case older
  /// It is something else.
  case other(RecordVersion)
}

extension RecordDecision {
  /// - Parameters:
  ///   - local: nil when there never was anything here
  ///   - isChanged: whether a change is pending here
  ///   - base: what was agreed last; nil when nothing ever was
  static func decide(
    local: RecordVersion?, isChanged: Bool, base: RecordVersion?, remote: RecordRemoteSide,
    onConflict: ConflictPolicy
  ) -> RecordDecision {
    switch remote {
    case .absent, .older:
      if isChanged { return local == nil ? .nothing : .send }
      return base == nil ? .nothing : .renew
    case .same:
      guard isChanged, let local else { return .nothing }
      // Another spelling of the same is a change, too.
      return local.content.document == base?.content.document ? .agree : .send
    case .other(let remote):
      guard let local else { return .take(isLost: false) }
      if local.content.document == remote.content.document { return .agree }
      if !isChanged || local.saysTheSame(as: remote) { return .take(isLost: false) }
      if let base {
        // What came back to what was agreed was not changed.
        if local.content.document == base.content.document { return .take(isLost: false) }
        if remote.content.document == base.content.document { return .send }
      }
      return settle(local, base, remote, onConflict)
    }
  }

  /// Both sides were changed, and differ.
  private static func settle(
    _ local: RecordVersion, _ base: RecordVersion?, _ remote: RecordVersion, _ onConflict: ConflictPolicy
  ) -> RecordDecision {
    switch onConflict {
    case .newestWins: return local.isNewer(than: remote) ? .send : .take(isLost: true)
    case .remoteWins: return .take(isLost: true)
    case .localWins: return .send
    case .ask: return .ask
    case .merge: return merge(local, base, remote)
    }
  }

  private static func merge(
    _ local: RecordVersion, _ base: RecordVersion?, _ remote: RecordVersion
  ) -> RecordDecision {
    guard let ours = local.value else { return .take(isLost: true) }
    guard let theirs = remote.value else { return .send }
    let isOurs = local.isNewer(than: remote)
    let merge = RecordMerge(
      base: base?.value ?? JSONObject(), older: isOurs ? theirs : ours, newer: isOurs ? ours : theirs)
    let isLost = merge.isOverridden && !isOurs
    if merge.value == theirs { return .take(isLost: isLost) }
    if merge.value == ours { return .send }
    guard let document = try? JSONValue.object(merge.value).serialized() else {
      // Both are no deeper than a document may be, and so is what they make.
      return isOurs ? .send : .take(isLost: true)
    }
    let content = RecordContent(
      document: document, revision: max(local.content.revision, remote.content.revision),
      created: min(local.content.created, remote.content.created),
      modified: max(local.content.modified, remote.content.modified))
    return .merge(content, isLost: isLost)
  }
}
