import SatchelStorage

/// Changes of photos in one transaction, given in the order of their md5.
struct PhotoBatch {
  private let transaction: Transaction
  private let catalogue: Int64
  private var sequence: Int64
  private var edit: ShardEdit?
  private var base: BlockCursor?
  private(set) var changed: [MD5] = []

  /// - Parameter count: how many changes there are at most
  init(_ transaction: Transaction, catalogue: Int64, count: Int) throws {
    self.transaction = transaction
    self.catalogue = catalogue
    sequence = try CatalogueTable(connection: transaction.connection)
      .takeSequence(catalogue, count: Int64(count))
  }

  /// A photo's new line; nil to delete.
  mutating func set(_ md5: MD5, line: UnsafeRawBufferPointer?, photodate: Int64) throws {
    if edit?.shard != md5.shard {
      try edit?.save()
      let next = try ShardEdit(transaction, catalogue: catalogue, shard: md5.shard)
      base = BlockCursor(transaction.connection, next.record.base, shard: md5.shard)
      edit = next
    }
    let sequence = sequence
    let isChanged = try base?.withLine(of: md5) { old in
      try edit?.set(md5, line: line, photodate: photodate, base: old, sequence: sequence) ?? false
    }
    if isChanged == true {
      changed.append(md5)
      self.sequence += 1
    }
  }

  /// Writes the counters.
  func finish() throws {
    try edit?.save()
    guard !changed.isEmpty else { return }
    try CatalogueTable(connection: transaction.connection).setModified(catalogue, now: transaction.now)
  }
}
