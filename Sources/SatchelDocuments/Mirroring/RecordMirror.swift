import SatchelCore
import SatchelJSON
import SatchelStorage

/// The order in which a collection and its mirror are written.
public enum MirrorMode: Sendable {
  /// The store first; the file is written once for the commits of about half a second, on a thread of the
  /// store.
  case storeFirst
  /// The file first, before each commit.
  case fileFirst
}

/// The side that wins where a collection and a mirror's file differ when mirroring begins.
public enum MirrorPreference: Sendable {
  /// The store imports the file's records; records that only the store has are kept.
  case file
  /// The file is written from the store; the previous file is kept in the same directory under another name.
  case store
}

/// The result of attaching a mirror.
public struct MirrorReport: Sendable, Equatable, JSONConvertible {
  /// The number of records that the store imported from the file, or deleted because an interrupted commit
  /// had deleted them.
  public var imported = 0
  /// The path to which the previous file was moved because the store was preferred; nil when there was none.
  public var quarantinePath: String?

  public var json: JSONValue {
    ["imported": .int(Int64(imported)), "quarantined": quarantinePath.map { .string($0) } ?? .null]
  }
}

/// An attached mirror.
final class RecordMirror: Sendable {
  let path: String
  let format: MirrorFormat
  let mode: MirrorMode
  /// The collection's number and name.
  let collection: Int64
  let collectionName: String
  /// The handle that keeps the mirror.
  let owner: ObjectIdentifier
  /// The format of the file.
  let layout: Locked<MirrorLayout>
  /// Serializes rewrites, so that older content never replaces newer content.
  let rewriteLock = ConditionLock()
  /// The file's stamp and digest when the store last had all of its records.
  private let accepted = Locked<(stamp: MirrorImage.Stamp, digest: String)?>(nil)

  /// Whether the last attempt to write the file failed.
  let isFailing = Locked(false)
  /// The number of the newest commit that the file has.
  private let written = Locked<Int64>(-1)

  init(
    path: String, _ format: MirrorFormat, _ mode: MirrorMode, of collection: Int64, named name: String,
    owner: ObjectIdentifier
  ) {
    self.path = path
    self.format = format
    self.mode = mode
    self.collection = collection
    collectionName = name
    self.owner = owner
    layout = Locked(MirrorLayout(new: format))
  }

  /// The last component of the path.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Stores the stamp and digest of a file that may be replaced.
  func accept(_ stamp: MirrorImage.Stamp?, _ digest: String) {
    accepted.withLock { $0 = stamp.map { ($0, digest) } }
  }

  /// Stores the number of the newest commit that the file has.
  func noteWritten(_ commit: Int64) { written.withLock { $0 = max($0, commit) } }

  func isWritten(_ commit: Int64) -> Bool { written.withLock { $0 >= commit } }

  /// Returns the digest of the current file if it is the one that was accepted.
  func acceptedDigest() -> String? {
    guard let stamp = MirrorImage.Stamp.now(path) else { return nil }
    return accepted.withLock { $0.flatMap { $0.stamp == stamp ? $0.digest : nil } }
  }
}

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
