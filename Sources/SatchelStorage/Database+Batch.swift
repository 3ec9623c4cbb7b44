/// A transaction that one call began and another will end.
struct Batch {
  var ticket: BatchTicket
  var transaction: Transaction
  /// Where it began inside of another transaction; nil for the outermost.
  var mark: Transaction.Mark?
  /// How many calls of `write` it is in: they end what began in them.
  var calls: Int
}

/// Transactions across several calls, for hosts that cannot hand over a closure. A batch belongs to the thread that
/// began it, and to those that enter it: their calls are part of it, one at a time. Nobody else's are.
extension Database {
  /// Begins a batch, which the calling thread carries until it ends. Inside of another transaction it is a savepoint.
  ///
  /// - Throws: `.busy`, `.readOnly`, `.io`, `.closed`; `.invalid` when the batch that the thread carries was undone
  package func begin() throws {
    try pass {
      guard !options.isReadOnly else { throw SatchelError(.readOnly, "\(path): opened to read only") }
      try writing.withLock(within: patience) {
        guard !isClosing.load(ordering: .relaxed) else {
          throw SatchelError(.closed, "\(path): the store is closed")
        }
        let mark = try current?.beginNested()
        let transaction = try current ?? startTransaction()
        let ticket = BatchTicket(in: batches.last?.ticket)
        batches.append(Batch(ticket: ticket, transaction: transaction, mark: mark, calls: calls))
        writing.setInnermost(ticket)
        writing.carry(ticket)
      }
    }
  }

  /// Ends the batch that the calling thread carries; when that fails, everything in it is undone.
  ///
  /// - Throws: `.invalid` when the thread carries none, when it was undone with the one around it, and when a batch
  ///   inside of it has not ended
  package func commit() throws {
    var told: [Change] = []
    try endCarried { batch, isInnermost in
      guard isInnermost else {
        undoThrough(batch)
        throw SatchelError(
          .invalid, "\(path): a batch inside of this one had not ended: everything in it is undone")
      }
      do {
        if let mark = batch.mark {
          try batch.transaction.endNested(mark)
        } else {
          try batch.transaction.commit()
          endTransaction()
          told = batch.transaction.changes
        }
      } catch {
        undoThrough(batch)
        throw error
      }
      batches.removeLast()
      finish(batch, .committed)
    }
    for change in told { changes.tell(change) }
  }

  /// Ends the batch that the calling thread carries, and undoes it with those inside of it.
  ///
  /// - Throws: `.invalid` when the thread carries none
  package func rollback() throws {
    try endCarried { batch, _ in undoThrough(batch) }
  }

  /// Hands the carried batch to `body`, which ends it. Waits for another call of it, however long that takes: it must
  /// not stay open.
  private func endCarried(_ body: (_ batch: Batch, _ isInnermost: Bool) throws -> Void) throws {
    do {
      guard let ticket = try writing.carried() else { throw noBatch }
      try writing.withLockBesideBatches {
        guard let index = batches.lastIndex(where: { $0.ticket === ticket }) else {
          throw ticket.state == .undone ? WriteLock.undone : noBatch
        }
        guard batches[index].calls == calls else { throw noBatch }
        try body(batches[index], index == batches.count - 1)
      }
    } catch {
      if let last = writing.lastCarried, last.state == .undone { writing.carry(last.outer) }
      throw error
    }
  }

  private var noBatch: SatchelError { SatchelError(.invalid, "\(path): this thread has begun no batch") }

  /// Undoes a batch with those inside of it, with the lock held.
  private func undoThrough(_ batch: Batch) {
    while let last = batches.popLast() {
      if let mark = last.mark {
        last.transaction.undoNested(mark)
      } else {
        last.transaction.rollback()
        endTransaction()
      }
      finish(last, .undone)
      if last.ticket === batch.ticket { return }
    }
  }

  private func finish(_ batch: Batch, _ state: BatchTicket.State) {
    batch.ticket.end(state)
    writing.setInnermost(batches.last?.ticket)
    if writing.lastCarried === batch.ticket { writing.carry(batch.ticket.outer) }
  }

  /// Runs the body of a `write`; a batch that it began and did not end is undone with it.
  func keepingBatches<Result>(
    _ transaction: Transaction, _ body: (Transaction) throws -> Result
  ) throws -> Result {
    let before = batches.count
    calls += 1
    defer { calls -= 1 }
    do {
      let result = try body(transaction)
      guard batches.count == before else {
        throw SatchelError(.invalid, "\(path): a transaction was begun and not ended")
      }
      return result
    } catch {
      if batches.count > before { undoThrough(batches[before]) }
      throw error
    }
  }

  /// Undoes all batches, so that the store can close.
  ///
  /// - Returns: `.busy` when the calling thread does not carry them
  func abandonBatches() -> SatchelError? {
    guard writing.isBatchOpen else { return nil }
    let isForeign = writing.withLockBesideBatches(within: patience) {
      guard let outermost = batches.first else { return false }
      let carried = writing.lastCarried
      let isOwn = batches.contains { $0.ticket === carried }
      undoThrough(outermost)
      return !isOwn
    }
    guard isForeign == true else { return nil }
    return SatchelError(
      .busy, "\(path): closed while a batch of another task or thread was open; it is undone")
  }
}

// MARK: Carrying a batch to another thread

extension Database {
  /// The batch that the calling thread's calls are part of; nil for none.
  package var carriedBatch: Int64? { get throws { try writing.carried()?.number } }

  /// Makes the calling thread's calls part of a batch that is open, until it ends or `leave()`.
  ///
  /// - Throws: `.invalid` when there is no such batch; `.busy`, `.closed`
  package func enter(_ number: Int64) throws {
    try pass {
      let isOpen = writing.withLockBesideBatches(within: patience) {
        guard let batch = batches.last(where: { $0.ticket.number == number }) else { return false }
        writing.carry(batch.ticket)
        return true
      }
      guard let isOpen else {
        throw SatchelError(.busy, "\(path): a call has been writing for more than \(patience) ms")
      }
      guard isOpen else {
        throw SatchelError(
          .invalid, "\(path): batch \(number) is not open: it has ended, or the one around it has")
      }
    }
  }

  /// The calling thread's calls are part of no batch any more. The batch stays open.
  package func leave() { writing.carry(nil) }

  /// - Throws: `.busy` when waiting for the open batch would stop the thread that has to end it
  package func refuseBesideBatch() throws { try writing.refuseOtherBatch(than: writing.carried()) }

  /// Network work never holds a transaction open.
  package func refuseNetworkWork(_ message: String) throws {
    if isWriting { throw SatchelError(.invalid, message) }
  }
}
