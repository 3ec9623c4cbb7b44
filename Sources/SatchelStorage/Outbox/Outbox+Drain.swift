import SatchelCore
import SatchelJSON

extension Outbox {
  /// The bytes of entries that one transaction applies.
  private static let maxBatchBytes = 4 << 20

  /// Applies the entries of the outbox file: all in order, each exactly once, regardless of interruptions.
  ///
  /// - Throws: `.full`, `.busy` and others when the store cannot accept them yet: they stay in the file
  @discardableResult
  package func drain(in database: Database) throws -> OutboxReport {
    var report = OutboxReport()
    guard let outboxFile, !database.isInTransaction, !database.options.isReadOnly else { return report }
    try HostWork.deferringNotifications {
      try draining.withLock {
        while outboxFile.isPending, let content = try content(of: outboxFile, &report) {
          try database.prepare(OutboxSchema.subject)
          var rest = content.frames[...]
          while !rest.isEmpty {
            var (count, bytes) = (0, 0)
            while count < rest.count, bytes < Self.maxBatchBytes {
              bytes += rest[rest.startIndex + count].payload.count
              count += 1
            }
            try applyFrames(rest.prefix(count), of: content.identity, in: database, &report)
            rest = rest.dropFirst(count)
          }
          if try finish(outboxFile, content, in: database, report: &report) { break }
        }
      }
    }
    return report
  }

  /// Returns the file's content; nil for no file, and for anything at its path that is not a regular file,
  /// which must not keep the store from accepting writes.
  private func content(of outboxFile: OutboxFile, _ report: inout OutboxReport) throws -> OutboxContent? {
    do {
      return try outboxFile.read()
    } catch let error as SatchelError where error.code == .invalid {
      report.damages.append(error.message)
      return nil
    }
  }

  /// Applies frames in one transaction; when its commit is rejected, one by one.
  private func applyFrames(
    _ frames: ArraySlice<OutboxFrame>, of identity: String, in database: Database,
    _ report: inout OutboxReport
  ) throws {
    do {
      try applyFrames(frames, of: identity, rejecting: nil, in: database, &report)
    } catch let error as SatchelError where error.isRejection {
      // The commit was rejected without naming an entry: apply them one by one.
      guard frames.count == 1 else {
        for position in frames.indices {
          try applyFrames(frames[position...position], of: identity, in: database, &report)
        }
        return
      }
      try applyFrames(frames, of: identity, rejecting: error.message, in: database, &report)
    }
  }

  /// Applies or rejects frames in one transaction.
  ///
  /// - Parameter reason: the reason to reject them all; nil to apply them
  private func applyFrames(
    _ frames: ArraySlice<OutboxFrame>, of identity: String, rejecting reason: String?, in database: Database,
    _ report: inout OutboxReport
  ) throws {
    let counts = try database.write { transaction -> (applied: Int, rejected: Int) in
      let connection = transaction.connection
      // Earlier outbox files no longer exist.
      try connection.run("DELETE FROM outbox_applied WHERE file <> ?", .text(identity))
      let through = try connection.number(
        "SELECT through FROM outbox_applied WHERE file = ?", .text(identity))
      var counts = (applied: 0, rejected: 0)
      var applied: Set<Change.Subject> = []
      var rejected: Set<Change.Subject> = []
      for frame in frames where frame.number > through {
        let (subject, reason) = try apply(frame, rejecting: reason, in: database)
        if let reason {
          try keep(frame.payload, identity, number: frame.number, reason: reason, in: transaction)
          counts.rejected += 1
          rejected.insert(subject)
        } else {
          counts.applied += 1
          applied.insert(subject)
        }
      }
      guard counts.applied + counts.rejected > 0, let last = frames.last else { return counts }
      try connection.run(
        "INSERT OR REPLACE INTO outbox_applied VALUES(?, ?)", .text(identity), .integer(last.number))
      for subject in Change.Subject.all {
        if applied.contains(subject) { transaction.note(.drained, of: subject) }
        if rejected.contains(subject) { transaction.note(.rejected, of: subject) }
      }
      return counts
    }
    report.applied += counts.applied
    report.rejected += counts.rejected
  }

  /// Applies an entry in a savepoint.
  ///
  /// - Parameter reason: the reason to reject it without trying; nil to apply it
  /// - Returns: the entry's subject, and the reason when it is rejected
  private func apply(
    _ frame: OutboxFrame, rejecting reason: String?, in database: Database
  ) throws -> (subject: Change.Subject, reason: String?) {
    let entry: JSONValue
    do {
      entry = try JSONValue(parsing: frame.payload)
    } catch {
      return (.records, reason ?? "\(error)")
    }
    let subject = subject(of: entry)
    if let reason { return (subject, reason) }
    do {
      try database.write { try apply(entry, in: $0, of: database) }
      return (subject, nil)
    } catch let error as SatchelError {
      guard error.isRejection else { throw error }
      return (subject, error.message)
    } catch {
      return (subject, "\(error)")
    }
  }

  /// Keeps a change that the store rejected without having been spooled. The tables must be prepared.
  package func reject(_ entry: JSONValue, because reason: String, in transaction: Transaction) throws {
    try keep(try naming("entry") { try entry.serialized() }, "", number: 0, reason: reason, in: transaction)
    transaction.note(.rejected, of: subject(of: entry))
  }

  private func keep(
    _ entry: [UInt8], _ identity: String, number: Int64, reason: String, in transaction: Transaction
  ) throws {
    try entry.withUnsafeBytes {
      try transaction.connection.run(
        "INSERT INTO outbox_rejected(file, number, time, entry, reason) VALUES(?, ?, ?, ?, ?)",
        .text(identity), .integer(number), .integer(transaction.now), .blob($0), .text(reason))
    }
  }

  /// Removes a file whose frames are in the store.
  ///
  /// - Returns: whether no entries are left
  private func finish(
    _ outboxFile: OutboxFile, _ content: OutboxContent, in database: Database, report: inout OutboxReport
  ) throws -> Bool {
    switch try outboxFile.finish(content, time: database.clock.now()) {
    case .removed: return true
    case .kept: return false
    case .quarantine(let path):
      let messages = content.damages.map { "\(path): \($0.message)" }
      try database.write { transaction in
        for message in messages {
          try keep([], content.identity, number: 0, reason: message, in: transaction)
        }
        // The part that cannot be read may be of any of them.
        for subject in subjects { transaction.note(.outboxDamaged, of: subject) }
      }
      report.damages += messages
      return true
    }
  }

  /// Returns the contents of the entries of a kind in the outbox file, in order; empty when it cannot be
  /// read.
  package func waiting(_ kind: String) -> [JSONValue] {
    guard let content = try? outboxFile?.read() else { return [] }
    return content.frames.compactMap { frame in
      guard case .object(let entry)? = try? JSONValue(parsing: frame.payload) else { return nil }
      return entry[kind]
    }
  }
}

/// The outcome of draining an outbox file.
package struct OutboxReport: Equatable, Sendable {
  /// The number of applied entries.
  package var applied = 0
  /// The number of rejected entries; they are kept, with the reason.
  package var rejected = 0
  /// Descriptions of unreadable parts of the file, with their offsets.
  package var damages: [String] = []

  package init() {}
}
