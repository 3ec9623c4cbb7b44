/// A photo that was changed locally since the last sync: a row of `photo_base`.
struct BaseRow<Line> {
  /// The line synchronized last; nil when there was none.
  var line: Line?
  /// The number of the photo's latest change.
  var sequence: Int64
}

extension BaseRow: Equatable where Line: Equatable {}
extension BaseRow: Sendable where Line: Sendable {}

/// The rules of a merge, the same for all rows of a shard.
struct RowMergeRules: Equatable, Sendable {
  /// The rule for a photo that both sides changed in different ways.
  enum Policy: Equatable, Sendable, CaseIterable {
    /// The remote's line replaces the local one, which goes to the conflict log.
    case remoteWins
    /// The local line stays, as a change of the remote's.
    case merge
    /// There is no version synchronized last: local photos that the remote lacks stay and count as added, and of
    /// two different lines the remote's stays, while the local one goes to the conflict log, as a deletion does.
    case firstMeeting
  }

  var policy: Policy
  /// Changes up to this number are in the remote's lines, or in what those were built on; nil when no change is
  /// known to be.
  var confirmedUpTo: Int64?
  /// Whether lines synchronized last that the remote lacks, or has differently, go to the conflict log although
  /// they were not changed locally.
  var logsLostRows = false
}

/// The changes that a merge makes to one photo. A value: the caller writes it.
struct RowDecision<Line> {
  /// The change of the photo's row.
  enum Row {
    case keep
    /// The photo gets this line.
    case write(Line)
    case delete
  }

  /// The change of the photo's base row.
  enum Base {
    case keep
    /// The base row gets this line; nil for a photo that the remote lacks.
    case write(Line?)
    case delete
  }

  /// An entry for the conflict log: a local line, nil for a deletion, that the remote's replaced.
  struct Conflict {
    var local: Line?
    var remote: Line?
    var base: Line?
  }

  var row = Row.keep
  var base = Base.keep
  var conflict: Conflict?

  /// Whether there is nothing to write.
  var isNothing: Bool {
    guard case .keep = row, case .keep = base else { return false }
    return conflict == nil
  }
}

extension RowDecision.Row: Equatable where Line: Equatable {}
extension RowDecision.Base: Equatable where Line: Equatable {}
extension RowDecision.Conflict: Equatable where Line: Equatable {}
extension RowDecision: Equatable where Line: Equatable {}

extension RowDecision where Line: Equatable {
  /// Decides about one photo.
  ///
  /// - Parameters:
  ///   - remote: the remote's line; nil when it lacks the photo
  ///   - local: the local line; nil when there is none
  ///   - changed: the base row; nil when the photo was not changed since the last sync. The line synchronized last
  ///     is then `local`.
  init(remote: Line?, local: Line?, changed: BaseRow<Line>?, _ rules: RowMergeRules) {
    if rules.policy == .firstMeeting {
      meet(remote: remote, local: local, isChanged: changed != nil)
      return
    }
    guard let changed, !Self.isConfirmed(changed, rules) else {
      follow(remote: remote, local: local, changed: changed, rules)
      return
    }
    // A base row may be kept for a change that was taken back while an upload was pending. Unless that upload
    // succeeded, the photo is unchanged, and follows the remote; what was taken back is in the conflict log.
    if local == changed.line, rules.confirmedUpTo == nil {
      base = .delete
      if local != remote { conflict = Conflict(local: local, remote: remote, base: changed.line) }
      replace(local, with: remote)
    } else if remote == local {
      base = .delete
    } else if remote == changed.line {
      // Only the local side changed.
    } else if rules.policy == .merge {
      base = .write(remote)
    } else {
      conflict = Conflict(local: local, remote: remote, base: changed.line)
      base = .delete
      replace(local, with: remote)
    }
  }

  private static func isConfirmed(_ changed: BaseRow<Line>, _ rules: RowMergeRules) -> Bool {
    guard let sequence = rules.confirmedUpTo else { return false }
    return changed.sequence <= sequence
  }

  /// The remote knows the local line, or the line that it was changed from: its own is newer.
  private mutating func follow(
    remote: Line?, local: Line?, changed: BaseRow<Line>?, _ rules: RowMergeRules
  ) {
    if changed != nil { base = .delete }
    if rules.logsLostRows, changed == nil, local != nil, local != remote {
      conflict = Conflict(local: local, remote: remote, base: local)
    }
    replace(local, with: remote)
  }

  private mutating func meet(remote: Line?, local: Line?, isChanged: Bool) {
    guard let remote else {
      if local != nil { base = .write(nil) } else if isChanged { base = .delete }
      return
    }
    if isChanged { base = .delete }
    if local != remote, local != nil || isChanged {
      conflict = Conflict(local: local, remote: remote, base: nil)
    }
    replace(local, with: remote)
  }

  private mutating func replace(_ local: Line?, with remote: Line?) {
    if local == remote { return }
    row = remote.map { .write($0) } ?? .delete
  }
}
