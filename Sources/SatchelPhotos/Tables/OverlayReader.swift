import SatchelStorage

/// Reads a shard's changes in the order of their md5. One at a time on a connection.
final class OverlayReader {
  private let statement: Statement?
  /// The two ends, lent to the statement.
  private let bounds: UnsafeMutableRawBufferPointer
  /// The change that comes next; its bytes are valid until `advance`.
  private(set) var current: OverlayTable.Row?

  /// - Parameters:
  ///   - range: of one shard, or part of it
  ///   - isEmpty: nothing is there to be read
  init(_ connection: Connection, catalogue: Int64, in range: ClosedRange<MD5>, isEmpty: Bool = false) throws {
    let bounds = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 8)
    range.lowerBound.withBytes { bounds.copyMemory(from: $0) }
    range.upperBound.withBytes { UnsafeMutableRawBufferPointer(rebasing: bounds[16...]).copyMemory(from: $0) }
    self.bounds = bounds
    guard !isEmpty else {
      statement = nil
      return
    }
    let statement = try connection.prepared(
      """
      SELECT md5, sequence, photodate, in_base, line FROM photo_change
      WHERE catalogue = ? AND md5 BETWEEN ? AND ? ORDER BY md5
      """)
    self.statement = statement
    try statement.bind(.integer(catalogue), at: 1)
    try statement.bind(.blob(UnsafeRawBufferPointer(rebasing: bounds[..<16])), at: 2)
    try statement.bind(.blob(UnsafeRawBufferPointer(rebasing: bounds[16...])), at: 3)
    try advance()
  }

  deinit {
    statement?.reset()
    bounds.deallocate()
  }

  func advance() throws {
    guard let statement, try statement.step() else {
      current = nil
      return
    }
    current = try OverlayTable.read(statement)
  }
}
