/// A transaction that a thread began and will end by another call.
struct Batch {
  var transaction: Transaction
  /// Where it began inside of another one; nil for the outermost.
  var mark: Transaction.Mark?
  /// How many calls of `write` it stands in: they end what began in them.
  var calls: Int
}

/// Transactions across several calls of one thread, for hosts that cannot hand over a closure.
extension Database {
  /// Begins a transaction: what the calling thread writes until `commit()` is one. Inside another one it is a
  /// savepoint. Writes of other threads wait meanwhile.
  ///
  /// - Throws: `.busy`, `.readOnly`, `.io`, `.closed`
  package func begin() throws {
    try pass {
      guard !options.isReadOnly else { throw SatchelError(.readOnly, "\(path): opened to read only") }
      try writing.takeOwned(within: patience)
      do {
        let mark = try current?.beginNested()
        batches.append(Batch(transaction: try current ?? startTransaction(), mark: mark, calls: calls))
      } catch {
        writing.leaveOwned()
        throw error
      }
    }
  }

  /// Ends the calling thread's innermost transaction; when that fails, everything in it is undone.
  ///
  /// - Throws: `.invalid` when this thread has begun none
  package func commit() throws {
    let batch = try takeBatch()
    try finish(batch)
    guard batch.mark == nil else { return }
    for change in batch.transaction.changes { changes.tell(change) }
  }

  private func finish(_ batch: Batch) throws {
    defer { writing.leaveOwned() }
    do {
      if let mark = batch.mark { return try batch.transaction.endNested(mark) }
      try batch.transaction.commit()
      endTransaction()
    } catch {
      undo(batch)
      throw error
    }
  }

  /// Ends the calling thread's innermost transaction, and undoes it.
  ///
  /// - Throws: `.invalid` when this thread has begun none
  package func rollback() throws {
    let batch = try takeBatch()
    defer { writing.leaveOwned() }
    undo(batch)
  }

  private func takeBatch() throws -> Batch {
    guard isWriting, let batch = batches.last, batch.calls == calls else {
      throw SatchelError(.invalid, "\(path): this thread has begun no transaction")
    }
    batches.removeLast()
    return batch
  }

  private func undo(_ batch: Batch) {
    if let mark = batch.mark { return batch.transaction.undoNested(mark) }
    batch.transaction.rollback()
    endTransaction()
  }

  /// Runs the body of a `write`; a transaction that it began and did not end is undone with it.
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
      while batches.count > before { try? rollback() }
      throw error
    }
  }

  /// Undoes what the thread that closes has begun and not ended; with `writing` held.
  func abandonBatches() {
    while !batches.isEmpty, isWriting { try? rollback() }
  }
}
