extension Database {
  /// As `write`, but inside a write of the same thread the body is simply a part of that: no savepoint, which costs
  /// more than a small write does.
  ///
  /// The body must change nothing before it has checked everything. Should it fail after all in the middle, of a full
  /// disk perhaps, it calls `Transaction.mustFail`.
  package func join<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
    if isWriting, let current { return try body(current) }
    return try write(body)
  }

  /// Whether the calling thread is inside of a transaction that writes.
  package var isInTransaction: Bool { isWriting && current != nil }
}
