import SatchelRemote

/// Whether anything is to be done with a record, told by its mark and a listing alone. A value made from values.
enum RecordPlan: Sendable, Equatable {
  /// Both sides are as they were agreed.
  case unchanged
  /// The host has not decided yet, and there is nothing new to decide about.
  case waitsForHost
  /// It failed, and its time has not come.
  case waitsForTime(RecordFailureMark)
  case work

  /// What a listing shows of a record.
  enum Sighting: Sendable, Equatable {
    /// With its tag, where the store knows it.
    case listed(ETag?)
    case unlisted
  }

  /// - Parameter mark: nil when nothing is known of it here
  init(_ mark: RecordMark?, _ sighting: Sighting, options: RecordSyncOptions, now: Int64) {
    guard let mark else {
      self = sighting == .unlisted ? .unchanged : .work
      return
    }
    if let failure = mark.failure, !options.isImpatient, RecordBackoff.isWaiting(failure, now: now) {
      self = .waitsForTime(failure)
      return
    }
    guard case .listed(let etag?) = sighting, !mark.isSending else {
      self = .work
      return
    }
    if mark.pending == nil, etag == mark.etag {
      self = .unchanged
    } else if options.onConflict == .ask, etag == mark.conflict {
      self = .waitsForHost
    } else {
      self = .work
    }
  }
}
