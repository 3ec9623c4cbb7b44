import SatchelJSON
import SatchelStorage

extension Journal {
  /// Bytes of entries that are taken in by one transaction.
  private static let portion = 4 << 20

  /// Takes in what is in the spill file: all in order, each exactly once, however often this is cut short.
  ///
  /// - Throws: `.full`, `.busy` and the like when the store cannot take it yet: it stays where it is.
  @discardableResult
  package func replay(in database: Database) throws -> JournalReplay {
    var report = JournalReplay()
    guard let spill, !database.isWriting, !database.options.isReadOnly else { return report }
    try replaying.withLock {
      while spill.isPending, let content = try content(of: spill, &report) {
        try database.prepare(JournalSchema.subject)
        var rest = content.frames[...]
        while !rest.isEmpty {
          var (count, bytes) = (0, 0)
          while count < rest.count, bytes < Self.portion {
            bytes += rest[rest.startIndex + count].payload.count
            count += 1
          }
          try take(rest.prefix(count), of: content.identity, in: database, &report)
          rest = rest.dropFirst(count)
        }
        if try end(spill, content, in: database, &report) { break }
      }
    }
    return report
  }

  /// What is in the file; nil for nothing, and for what stands in its place and never was one: that must not keep
  /// the store from taking what it can.
  private func content(of spill: SpillFile, _ report: inout JournalReplay) throws -> SpillContent? {
    do {
      return try spill.read()
    } catch let error as SatchelError where error.code == .invalid {
      report.damages.append(error.message)
      return nil
    }
  }

  /// Takes some frames in, as one transaction.
  private func take(
    _ frames: ArraySlice<SpillFrame>, of identity: String, in database: Database,
    _ report: inout JournalReplay
  ) throws {
    do {
      try take(frames, of: identity, refusing: nil, in: database, &report)
    } catch let error as SatchelError where error.isRefusal {
      // The commit was refused, which does not say for which of them: one by one.
      guard frames.count == 1 else {
        for position in frames.indices {
          try take(frames[position...position], of: identity, in: database, &report)
        }
        return
      }
      try take(frames, of: identity, refusing: error.message, in: database, &report)
    }
  }

  /// - Parameter reason: why none of them is to be applied
  private func take(
    _ frames: ArraySlice<SpillFrame>, of identity: String, refusing reason: String?, in database: Database,
    _ report: inout JournalReplay
  ) throws {
    let counts = try database.write { transaction -> (applied: Int, refused: Int) in
      let connection = transaction.connection
      // Files that came before this one are gone.
      try connection.run("DELETE FROM spill_applied WHERE spill <> ?", .text(identity))
      let through = try connection.number(
        "SELECT through FROM spill_applied WHERE spill = ?", .text(identity))
      var counts = (applied: 0, refused: 0)
      for frame in frames where frame.number > through {
        if let reason = try reason ?? refusal(of: frame, in: database) {
          try keep(frame.payload, identity, frame.number, reason, in: transaction)
          counts.refused += 1
        } else {
          counts.applied += 1
        }
      }
      guard counts.applied + counts.refused > 0, let last = frames.last else { return counts }
      try connection.run(
        "INSERT OR REPLACE INTO spill_applied VALUES(?, ?)", .text(identity), .integer(last.number))
      if counts.applied > 0 { transaction.note(subject: "records", keys: ["@replayed"], place: nil) }
      if counts.refused > 0 { transaction.note(subject: "records", keys: ["@refused"], place: nil) }
      return counts
    }
    report.applied += counts.applied
    report.refused += counts.refused
  }

  /// Applies an entry by itself; gives the reason when the store will never take it.
  private func refusal(of frame: SpillFrame, in database: Database) throws -> String? {
    do {
      try database.write { try apply(JSONValue(parsing: frame.payload), in: $0, of: database) }
      return nil
    } catch let error as SatchelError {
      guard error.isRefusal else { throw error }
      return error.message
    } catch {
      return "\(error)"
    }
  }

  private func keep(
    _ entry: [UInt8], _ identity: String, _ number: Int64, _ reason: String, in transaction: Transaction
  ) throws {
    try entry.withUnsafeBytes {
      try transaction.connection.run(
        "INSERT INTO spill_refused(spill, number, time, entry, reason) VALUES(?, ?, ?, ?, ?)",
        .text(identity), .integer(number), .integer(transaction.now), .blob($0), .text(reason))
    }
  }

  /// Lets go of a file whose frames are in the store.
  ///
  /// - Returns: whether that was all
  private func end(
    _ spill: SpillFile, _ content: SpillContent, in database: Database, _ report: inout JournalReplay
  ) throws -> Bool {
    switch try spill.finish(content, time: database.clock.now()) {
    case .removed: return true
    case .kept: return false
    case .setAside(let path):
      let messages = content.damages.map { "\(path): \($0.message)" }
      try database.write { transaction in
        for message in messages { try keep([], content.identity, 0, message, in: transaction) }
        transaction.note(subject: "records", keys: ["@spill_damaged"], place: nil)
      }
      report.damages += messages
      return true
    }
  }

  /// Whether changes wait in the spill file.
  package var isSpilled: Bool { spill?.isPending ?? false }

  /// What stands in the entries of a kind that wait in the spill file, in order; none when it cannot be read.
  package func waiting(_ kind: String) -> [JSONValue] {
    guard let content = try? spill?.read() else { return [] }
    return content.frames.compactMap { frame in
      guard case .object(let entry)? = try? JSONValue(parsing: frame.payload) else { return nil }
      return entry[kind]
    }
  }
}
