import SatchelStorage

/// One state of the store, with the changes on top that are not in it yet.
struct StateReader {
  let tables: StateTables
  /// The store's time.
  let now: Int64

  /// Those of some changes that this state of the store does not have.
  ///
  /// The changes must have been taken from memory before this state was: one that is saved meanwhile is told
  /// by its mark, and counts once.
  func unsaved(_ operations: [StateOperation]) throws -> [StateOperation] {
    var through: [Int64: Int64] = [:]
    return try operations.filter { operation in
      let saved = try through[operation.writer] ?? tables.saved(operation.writer)
      through[operation.writer] = saved
      return operation.mark > saved
    }
  }
}
