import SatchelStorage

/// Finds out what changed in a directory since it was last known, without writing anything.
struct StoryIntake: Sendable {
  /// What became of the files.
  struct Outcome: Sendable {
    var unchanged = 0
    var read = 0
    /// Files with the content that they had, by their rows, and their new stamps.
    var touched: [(row: Int64, name: String, stamp: StoryStamp)] = []
    /// New names for a content that another row describes.
    var copies: [Copy] = []
    /// Files that were parsed, or refused.
    var records: [StoryRecord] = []
    /// How many of these were parsed.
    var parsed = 0
    var removed: [String] = []
  }

  /// A file with a content that another row describes.
  struct Copy: Sendable {
    var row: Int64
    var name: String
    var stamp: StoryStamp
    var hash: [UInt8]
  }

  private struct Job: Sendable {
    var name: String
    var way: [String]
    var known: StoryFileTable.Known?
  }

  private let directory: StoryDirectory
  private let known: [StoryName: StoryFileTable.Known]
  private let isOver: @Sendable () -> Bool

  /// Few files are not worth a second thread.
  private static let worthSharing = 16

  init(
    _ directory: StoryDirectory, known: [StoryName: StoryFileTable.Known],
    isOver: @escaping @Sendable () -> Bool
  ) {
    self.directory = directory
    self.known = known
    self.isOver = isOver
  }

  /// - Throws: `.cancelled` when `isOver`; what reading the directory itself meets
  func outcome() throws -> Outcome {
    var outcome = Outcome()
    var seen = 0
    var jobs: [Job] = []
    var names: Set<StoryName> = []
    let entries = try directory.entries()
    names.reserveCapacity(entries.count)
    for entry in entries {
      if isOver() { throw Self.cancelled }
      let name = StoryName(entry.name)
      guard names.insert(name).inserted else { continue }
      let before = known[name]
      let look =
        entry.isReadable
        ? directory.look(at: entry.name) : .refused(.unreadable("its name is not UTF-8"))
      switch look {
      case .absent:
        // Gone since the directory was read.
        names.remove(name)
        continue
      case .refused(let failure): outcome.note(failure, entry.name, before)
      case .file(let stamp, let way):
        if let before, before.hash != nil, before.isCurrent, before.stamp == stamp {
          outcome.unchanged += 1
        } else {
          jobs.append(Job(name: entry.name, way: way, known: before))
        }
      }
      if before != nil { seen += 1 }
    }
    if seen < known.count { outcome.removed = known.keys.filter { !names.contains($0) }.map(\.text) }
    try read(jobs, into: &outcome)
    return outcome
  }

  static let cancelled = SatchelError(.cancelled, "the library of stories was closed meanwhile")

  /// Reads files, on two threads when there are many.
  private func read(_ jobs: [Job], into outcome: inout Outcome) throws {
    guard !jobs.isEmpty else { return }
    let isCopyPossible = !known.isEmpty && jobs.contains { $0.known == nil }
    let rows = isCopyPossible ? rowsByContent() : [:]
    let total = Guarded(Outcome())
    withWorkers(jobs, limit: jobs.count < Self.worthSharing ? 1 : 2) { next in
      var own = Outcome()
      let reader = StoryFileReader()
      while !isOver(), let job = next() { read(job, with: reader, rows, into: &own) }
      total.withLock { $0.add(own) }
    }
    if isOver() { throw Self.cancelled }
    total.withLock { outcome.add($0) }
  }

  /// Rows by what they describe and what it is written in, to know files that were given another name.
  private func rowsByContent() -> [[UInt8]: Int64] {
    var rows: [[UInt8]: Int64] = [:]
    for (name, known) in known where known.isCurrent {
      if let hash = known.hash { rows[Self.content(hash, name.text)] = known.row }
    }
    return rows
  }

  private static func content(_ hash: [UInt8], _ name: String) -> [UInt8] {
    hash + [StoryDirectory.source(of: name) == .json ? 1 : 2]
  }

  private func read(
    _ job: Job, with reader: StoryFileReader, _ rows: [[UInt8]: Int64], into outcome: inout Outcome
  ) {
    do throws(StoryFailure) {
      let stamp = try reader.load(job.way, in: directory)
      outcome.read += 1
      let hash = reader.hash
      if let known = job.known, known.hash == hash, known.isCurrent {
        outcome.unchanged += 1
        if known.stamp != stamp { outcome.touched.append((known.row, job.name, stamp)) }
      } else if job.known == nil, let row = rows[Self.content(hash, job.name)] {
        outcome.copies.append(Copy(row: row, name: job.name, stamp: stamp, hash: hash))
      } else {
        let source = StoryDirectory.source(of: job.name) ?? .automatic
        let content = StoryRecord.Content(reader.bytes, of: job.name, source: source)
        outcome.records.append(StoryRecord(name: job.name, stamp: stamp, hash: hash, content: content))
        outcome.parsed += 1
      }
    } catch {
      outcome.note(error, job.name, job.known)
    }
  }
}

extension StoryIntake.Outcome {
  /// Notes a file that was not read.
  fileprivate mutating func note(
    _ failure: StoryFailure, _ name: String, _ known: StoryFileTable.Known?
  ) {
    if let known, known.hash == nil, known.isCurrent, known.message == failure.message {
      unchanged += 1
    } else {
      records.append(StoryRecord(name: name, stamp: .none, hash: nil, content: .problem(failure)))
    }
  }

  fileprivate mutating func add(_ other: Self) {
    unchanged += other.unchanged
    read += other.read
    parsed += other.parsed
    touched += other.touched
    copies += other.copies
    records += other.records
  }

  /// Whether there is nothing to write.
  var isEmpty: Bool { touched.isEmpty && copies.isEmpty && records.isEmpty && removed.isEmpty }
}
