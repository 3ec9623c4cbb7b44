import SatchelCore

/// A transaction that one call begins and another one ends.
struct Batch {
  var ticket: BatchTicket
  var transaction: Transaction
  /// The savepoint where it began inside another transaction; nil for the outermost.
  var savepoint: Transaction.Savepoint?
  /// The nesting depth of `write` at its beginning: a `write` ends the batches that began in it.
  var writeDepth: Int
}

/// Transactions that span several calls, for hosts that cannot pass a closure. A batch belongs to the thread
/// that began it and to the threads that enter it: only their calls are part of it, one at a time.
extension Database {
  /// Begins a batch, which the calling thread carries until it ends. Inside another transaction it is a
  /// savepoint.
  ///
  /// - Throws: `.busy`, `.readOnly`, `.io`, `.closed`; `.invalid` when the batch that the thread carries was
  ///   rolled back
  package func begin() throws {
    try whileOpen {
      guard !options.isReadOnly else {
        throw SatchelError(.readOnly, "\(path): opened read-only; open it writable to change it")
      }
      try refuseWhileMigrating()
      try writing.withLock(within: timeout) {
        guard !isClosing.load(ordering: .relaxed) else {
          throw SatchelError(.closed, "\(path): the store is closed")
        }
        let savepoint = try current?.beginNested()
        let transaction = try current ?? startTransaction()
        let ticket = BatchTicket(in: batches.last?.ticket)
        batches.append(
          Batch(ticket: ticket, transaction: transaction, savepoint: savepoint, writeDepth: writeDepth))
        writing.setInnermost(ticket)
        writing.carry(ticket)
      }
    }
  }

  /// Commits the batch that the calling thread carries; when that fails, everything in it is rolled back.
  ///
  /// - Throws: `.invalid` when the thread carries no batch, when an enclosing batch was rolled back, and when
  ///   a batch inside this one has not ended
  package func commit() throws {
    var committed: [Change] = []
    try endCarried { batch, isInnermost in
      guard isInnermost else {
        rollBackThrough(batch)
        throw SatchelError(
          .invalid,
          "\(path): a batch inside this one has not ended: this one is rolled back; end inner batches first")
      }
      do {
        if let savepoint = batch.savepoint {
          try batch.transaction.endNested(savepoint)
        } else {
          try batch.transaction.commit()
          endTransaction()
          committed = takeStampedChanges() + batch.transaction.changes
        }
      } catch {
        rollBackThrough(batch)
        throw error
      }
      batches.removeLast()
      finish(batch, .committed)
    }
    for change in committed { changes.notify(change) }
  }

  /// Rolls back the batch that the calling thread carries, and those inside it.
  ///
  /// - Throws: `.invalid` when the thread carries no batch
  package func rollback() throws {
    try endCarried { batch, _ in rollBackThrough(batch) }
  }

  /// Passes the carried batch to `body`, which ends it. Waits for another call of the batch without a
  /// timeout, because the batch must not stay open.
  private func endCarried(_ body: (_ batch: Batch, _ isInnermost: Bool) throws -> Void) throws {
    do {
      guard let ticket = try writing.carried() else { throw noBatch }
      try writing.withLockIgnoringBatches {
        guard let index = batches.lastIndex(where: { $0.ticket === ticket }) else {
          throw ticket.state == .rolledBack ? WriteLock.rolledBack : noBatch
        }
        guard batches[index].writeDepth == writeDepth else { throw noBatch }
        try body(batches[index], index == batches.count - 1)
      }
    } catch {
      if let last = writing.lastCarried, last.state == .rolledBack { writing.carry(last.outer) }
      throw error
    }
  }

  private var noBatch: SatchelError { SatchelError(.invalid, "\(path): this thread has no open batch") }

  /// Rolls back a batch and those inside it. The caller holds the lock.
  private func rollBackThrough(_ batch: Batch) {
    while let last = batches.popLast() {
      if let savepoint = last.savepoint {
        last.transaction.rollBackNested(savepoint)
      } else {
        last.transaction.rollback()
        endTransaction()
      }
      finish(last, .rolledBack)
      if last.ticket === batch.ticket { return }
    }
  }

  private func finish(_ batch: Batch, _ state: BatchTicket.State) {
    batch.ticket.end(state)
    writing.setInnermost(batches.last?.ticket)
    if writing.lastCarried === batch.ticket { writing.carry(batch.ticket.outer) }
  }

  /// Runs the body of a `write`; rolls back a batch that the body began and did not end.
  func endingBatches<Result>(
    _ transaction: Transaction, _ body: (Transaction) throws -> Result
  ) throws -> Result {
    let before = batches.count
    writeDepth += 1
    defer { writeDepth -= 1 }
    do {
      let result = try body(transaction)
      guard batches.count == before else {
        throw SatchelError(.invalid, "\(path): a transaction was begun and not ended")
      }
      return result
    } catch {
      if batches.count > before { rollBackThrough(batches[before]) }
      throw error
    }
  }

  /// Rolls back all batches, so that the store can close.
  ///
  /// - Returns: `.busy` when the calling thread does not carry them
  func rollBackOpenBatches() -> SatchelError? {
    guard writing.isBatchOpen else { return nil }
    let isForeign = writing.withLockIgnoringBatches(within: timeout) {
      guard let outermost = batches.first else { return false }
      let carried = writing.lastCarried
      let isOwn = batches.contains { $0.ticket === carried }
      rollBackThrough(outermost)
      return !isOwn
    }
    guard isForeign == true else { return nil }
    return SatchelError(
      .busy, "\(path): closed during a batch of another task or thread, which was rolled back")
  }
}

// MARK: Carrying a batch to another thread

extension Database {
  /// The number of the batch that the calling thread carries; nil for none.
  package var carriedBatch: Int64? { get throws { try writing.carried()?.number } }

  /// Makes the calling thread's calls part of an open batch, until the batch ends or `leave()` is called.
  ///
  /// - Throws: `.invalid` when there is no such batch; `.busy`, `.closed`
  package func enter(_ number: Int64) throws {
    try whileOpen {
      let isOpen = writing.withLockIgnoringBatches(within: timeout) {
        guard let batch = batches.last(where: { $0.ticket.number == number }) else { return false }
        writing.carry(batch.ticket)
        return true
      }
      guard let isOpen else {
        throw SatchelError(.busy, "\(path): a call has been writing for more than \(timeout) ms")
      }
      guard isOpen else {
        throw SatchelError(
          .invalid, "\(path): batch \(number) is not open: it, or an enclosing batch, has ended")
      }
    }
  }

  /// Detaches the calling thread from its batch, which stays open.
  package func leave() { writing.carry(nil) }

  /// Throws when waiting for the open batch would block the thread that has to end it.
  ///
  /// - Throws: `.busy`
  package func refuseDuringOtherBatch() throws { try writing.refuseOtherBatch(than: writing.carried()) }

  /// Throws inside a transaction, which must not stay open during network requests.
  package func refuseNetworkWork(_ message: String) throws {
    if isInTransaction { throw SatchelError(.invalid, message) }
  }
}

extension Database {
  /// Runs `body` in a transaction. Inside `write` on the same thread, or a batch, it is part of that
  /// transaction without a savepoint, which costs more than a small write.
  ///
  /// The body must check everything before it changes anything. If it still fails halfway, for example
  /// because the disk is full, it calls `Transaction.mustFail`.
  package func join<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
    if isInTransaction {
      let joined = try writing.withLock(within: timeout) { try current.map { try body($0) } }
      if let joined { return joined }
    }
    return try write(body)
  }
}

extension Database {
  // MARK: Migration functions of the host

  /// The store, for all handles of its file.
  private var migrated: HostWork.Resource {
    isMemory
      ? HostWork.Resource(ObjectIdentifier(self)) : HostWork.Resource(ObjectIdentifier(Database.self), path)
  }

  /// Runs a migration function of the host, in which calls that write to the store are refused.
  ///
  /// - Parameter name: the migration's name, for messages
  package func migrating<Result>(_ name: @autoclosure () -> String, _ body: () throws -> Result) rethrows
    -> Result
  {
    try HostWork.migrating(migrated, name: name(), body)
  }

  /// Throws inside a migration function of the host.
  ///
  /// - Throws: `.invalid`
  package func refuseWhileMigrating() throws { try HostWork.refuseWhileMigrating(path, migrated) }
}
