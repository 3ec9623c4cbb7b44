extension Database {
  /// As `write`, but inside a write of the same thread, or a batch, the body is simply a part of that: no savepoint,
  /// which costs more than a small write does.
  ///
  /// The body must change nothing before it has checked everything. Should it fail after all in the middle, of a full
  /// disk perhaps, it calls `Transaction.mustFail`.
  package func join<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
    if isWriting {
      let joined = try writing.withLock(within: patience) { try current.map { try body($0) } }
      if let joined { return joined }
    }
    return try write(body)
  }

  /// Whether the calling thread is inside of a transaction that writes.
  package var isInTransaction: Bool { writing.isHeldByCaller ? current != nil : writing.isInBatch }
}
