import SatchelCore
import SatchelStorage

/// A mirror that is written after commits.
struct FollowedMirror {
  let mirror: RecordMirror
  let job: DelayedWork.Job
}

extension RecordStore {
  /// The file is written when no commit came for `quiet` milliseconds, and at most `limit` after the first.
  private static let quiet: Int64 = 500
  private static let limit: Int64 = 5000
  /// The delay after a write of the file that failed.
  private static let pause: Int64 = 5000

  /// Writes a mirror after commits from now on.
  func follow(_ mirror: RecordMirror) throws {
    if mirrorChanges.withLock({ $0 == nil }) {
      let subscription = try database.observe { [weak self] change in self?.requestMirrors(change) }
      mirrorChanges.withLock { $0 = $0 ?? subscription }
    }
    let job = DelayedWork.Job(on: database.scheduler.long, quiet: Self.quiet, limit: Self.limit) {
      [weak self] in
      self?.bringUpToDate(mirror)
    }
    followed.withLock { $0.append(FollowedMirror(mirror: mirror, job: job)) }
  }

  /// Stops writing a mirror after commits.
  ///
  /// - Parameter completing: whether commits are written to its file first; deferred in a transaction
  func unfollow(_ mirror: RecordMirror, completing: Bool) {
    let removed = followed.withLock { followed -> FollowedMirror? in
      followed.firstIndex { $0.mirror === mirror }.map { followed.remove(at: $0) }
    }
    guard let removed, !(completing && database.isInTransaction) else { return }
    delayedWork.cancel(removed.job)
    if completing { _ = bringUpToDate(mirror) }
  }

  private func requestMirrors(_ change: Change) {
    for mirror in followed.withLock({ $0 }) where change.concerns(collection: mirror.mirror.collectionName) {
      // Without a thread, flushing and closing write the file.
      try? delayedWork.request(mirror.job)
    }
  }

  /// Writes the file, and notifies observers when that is impossible.
  ///
  /// - Returns: when to try again
  private func bringUpToDate(_ mirror: RecordMirror) -> Int64? {
    do {
      try completeMirror(mirror)
      mirror.isFailing.withLock { $0 = false }
    } catch is EditedMirror {
      database.notify(.mirrorEdited, of: .records)
    } catch let error as SatchelError where error.code == .closed {
    } catch {
      let isNew = mirror.isFailing.withLock { isFailing in
        defer { isFailing = true }
        return !isFailing
      }
      if isNew { database.notify(.mirrorFailed, of: .records) }
      return Self.pause
    }
    return nil
  }

  /// Writes all mirrors that are older than the last commit.
  ///
  /// - Throws: the first error, after all were tried
  package func completeMirrors() throws {
    var failure: (any Error)?
    for mirror in followed.withLock({ $0 }) {
      delayedWork.cancel(mirror.job)
      do {
        try completeMirror(mirror.mirror)
      } catch let edited as EditedMirror {
        failure = failure ?? edited.error
      } catch {
        failure = failure ?? error
        try? delayedWork.request(mirror.job)
      }
    }
    if let failure { throw failure }
  }
}
