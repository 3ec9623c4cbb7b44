import SatchelCore
import SatchelStorage

/// Finds the changes of a directory since the last refresh, without writing anything.
struct DirectoryRefresh: Sendable {
  /// The changes of the files.
  struct Outcome: Sendable {
    var unchanged = 0
    var read = 0
    /// The files with unchanged content but new metadata, by their rows.
    var touched: [(row: Int64, name: String, metadata: FileMetadata)] = []
    /// The files with new names and the content of another row.
    var copies: [Copy] = []
    /// The files that were parsed or could not be read.
    var records: [StoryRecord] = []
    /// The number of files that were parsed.
    var parsed = 0
    var removed: [String] = []
  }

  /// A file with the content of another row.
  struct Copy: Sendable {
    var row: Int64
    var name: String
    var metadata: FileMetadata
    var hash: [UInt8]
  }

  private struct Job: Sendable {
    var name: String
    var components: [String]
    var known: StoryFileTable.IndexedFile?
  }

  private let directory: StoryDirectory
  private let known: [StoryName: StoryFileTable.IndexedFile]
  private let isCancelled: @Sendable () -> Bool

  /// The minimum number of files for which a second thread is worth its cost.
  private static let minParallelJobs = 16

  init(
    _ directory: StoryDirectory, known: [StoryName: StoryFileTable.IndexedFile],
    isCancelled: @escaping @Sendable () -> Bool
  ) {
    self.directory = directory
    self.known = known
    self.isCancelled = isCancelled
  }

  /// Reads the directory, and the files that may have changed.
  ///
  /// - Throws: `.cancelled` when `isCancelled` returns true; the errors of reading the directory
  func outcome() throws -> Outcome {
    var outcome = Outcome()
    var seen = 0
    var jobs: [Job] = []
    var names: Set<StoryName> = []
    let entries = try directory.entries()
    names.reserveCapacity(entries.count)
    for entry in entries {
      if isCancelled() { throw Self.cancelled }
      let name = StoryName(entry.name)
      guard names.insert(name).inserted else { continue }
      let before = known[name]
      let status = entry.failure.map { .refused($0) } ?? directory.status(of: entry.name)
      switch status {
      case .absent:
        // Deleted since the directory was read.
        names.remove(name)
        continue
      case .refused(let failure): outcome.note(failure, of: entry.name, known: before)
      case .file(let metadata, let components):
        if let before, before.hash != nil, before.isCurrent, before.metadata == metadata {
          outcome.unchanged += 1
        } else {
          jobs.append(Job(name: entry.name, components: components, known: before))
        }
      }
      if before != nil { seen += 1 }
    }
    if seen < known.count { outcome.removed = known.keys.filter { !names.contains($0) }.map(\.text) }
    try read(jobs, into: &outcome)
    return outcome
  }

  static let cancelled = SatchelError(.cancelled, "the library of stories was closed")

  /// Reads files, on two threads when there are many.
  private func read(_ jobs: [Job], into outcome: inout Outcome) throws {
    guard !jobs.isEmpty else { return }
    let isCopyPossible = !known.isEmpty && jobs.contains { $0.known == nil }
    let rows = isCopyPossible ? rowsByContent() : [:]
    let total = Locked(Outcome())
    withWorkers(jobs, limit: jobs.count < Self.minParallelJobs ? 1 : 2) { next in
      var own = Outcome()
      let reader = StoryFileReader()
      while !isCancelled(), let job = next() { read(job, with: reader, rows, into: &own) }
      total.withLock { $0.add(own) }
    }
    if isCancelled() { throw Self.cancelled }
    total.withLock { outcome.add($0) }
  }

  /// Returns the rows by content and format, to detect renamed files.
  private func rowsByContent() -> [[UInt8]: Int64] {
    var rows: [[UInt8]: Int64] = [:]
    for (name, known) in known where known.isCurrent {
      if let hash = known.hash { rows[Self.content(hash, name.text)] = known.row }
    }
    return rows
  }

  private static func content(_ hash: [UInt8], _ name: String) -> [UInt8] {
    hash + [StorySource.json.isFormat(of: name) ? 1 : 2]
  }

  private func read(
    _ job: Job, with reader: StoryFileReader, _ rows: [[UInt8]: Int64], into outcome: inout Outcome
  ) {
    do throws(StoryFailure) {
      let metadata = try reader.load(job.components, in: directory)
      outcome.read += 1
      let hash = reader.hash
      if let known = job.known, known.hash == hash, known.isCurrent {
        outcome.unchanged += 1
        if known.metadata != metadata { outcome.touched.append((known.row, job.name, metadata)) }
      } else if job.known == nil, let row = rows[Self.content(hash, job.name)] {
        outcome.copies.append(Copy(row: row, name: job.name, metadata: metadata, hash: hash))
      } else {
        let source = directory.source(of: job.name) ?? .json
        let content = StoryRecord.Content(reader.bytes, of: job.name, source: source)
        outcome.records.append(StoryRecord(name: job.name, metadata: metadata, hash: hash, content: content))
        outcome.parsed += 1
      }
    } catch {
      outcome.note(error, of: job.name, known: job.known)
    }
  }
}

extension DirectoryRefresh.Outcome {
  /// Adds a file that could not be read.
  fileprivate mutating func note(
    _ failure: StoryFailure, of name: String, known: StoryFileTable.IndexedFile?
  ) {
    if let known, known.hash == nil, known.isCurrent, known.message == failure.message {
      unchanged += 1
    } else {
      records.append(StoryRecord(name: name, metadata: .none, hash: nil, content: .problem(failure)))
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
