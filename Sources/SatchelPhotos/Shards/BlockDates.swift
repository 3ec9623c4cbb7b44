import SatchelCore
import SatchelStorage

/// The table `photo_date`: the photodates of blocks, apart from their lines. A query by date reads these,
/// which are a thirtieth of the bytes, to find the blocks that it has to read.
///
/// A block's dates are in the order of its photos, four bytes each, as seconds after the earliest. A block
/// without dates in the table has to be read: its dates lie too far apart, or it was written before the table
/// existed.
struct BlockDates {
  let connection: Connection

  /// Returns the encoded dates of a block's photos, given in their order.
  ///
  /// - Returns: nil when they are too far apart, and for an empty block
  static func encoded(_ dates: [Int64], from earliest: Int64, to latest: Int64) -> [UInt8]? {
    let (span, isTooFar) = latest.subtractingReportingOverflow(earliest)
    guard !dates.isEmpty, !isTooFar, span <= Int64(UInt32.max) else { return nil }
    return [UInt8](unsafeUninitializedCapacity: dates.count * 4) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      while count < dates.count * 4 {
        let distance = UInt32(truncatingIfNeeded: dates[count / 4] &- earliest)
        bytes.storeBytes(of: distance.littleEndian, toByteOffset: count, as: UInt32.self)
        count += 4
      }
    }
  }

  func put(_ dates: [Int64], from earliest: Int64, to latest: Int64, block: Int64) throws {
    guard let bytes = Self.encoded(dates, from: earliest, to: latest) else {
      return try remove(block...block)
    }
    try bytes.withUnsafeBytes {
      try connection.run(
        "INSERT OR REPLACE INTO photo_date(block, earliest, dates) VALUES(?, ?, ?)", .integer(block),
        .integer(earliest), .blob($0))
    }
  }

  func remove(_ blocks: ClosedRange<Int64>) throws {
    try connection.run(
      "DELETE FROM photo_date WHERE block BETWEEN ? AND ?", .integer(blocks.lowerBound),
      .integer(blocks.upperBound))
  }

  /// Returns the blocks of a version that are known to have no photo of these dates.
  func blocks(of version: ShardVersion, without dates: ClosedRange<Int64>) throws -> Set<Int64> {
    var blocks: Set<Int64> = []
    if version.id == 0 || dates == .min ... .max { return blocks }
    try connection.each(
      "SELECT earliest, dates, block FROM photo_date WHERE block BETWEEN ? AND ?",
      .integer(version.blocks.lowerBound), .integer(version.blocks.upperBound)
    ) { row in
      if !Dates(row).containsAny(in: dates) { blocks.insert(row.anyInteger(2)) }
    }
    return blocks
  }

  /// Whether the table has no dates of a block, or exactly these.
  func areMissing(or dates: [Int64], block: Int64) throws -> Bool {
    try connection.first("SELECT earliest, dates FROM photo_date WHERE block = ?", .integer(block)) { row in
      guard let earliest = dates.min(), let latest = dates.max(),
        let bytes = Self.encoded(dates, from: earliest, to: latest)
      else { return false }
      return row.anyInteger(0) == earliest && row.bytes(1).elementsEqual(bytes)
    } ?? true
  }

  /// Passes the known dates of a version's photos to `body`, in any order.
  ///
  /// - Returns: how many dates are known, those out of range included
  @discardableResult
  func each(of version: ShardVersion, in dates: ClosedRange<Int64>, _ body: (Int64) -> Void) throws -> Int64 {
    guard version.id != 0 else { return 0 }
    var known: Int64 = 0
    try connection.each(
      "SELECT earliest, dates FROM photo_date WHERE block BETWEEN ? AND ?",
      .integer(version.blocks.lowerBound),
      .integer(version.blocks.upperBound)
    ) { row in
      let block = Dates(row)
      known += Int64(block.count)
      block.each(in: dates, body)
    }
    return known
  }

  /// A block's row; valid until the statement steps.
  struct Dates {
    private let earliest: Int64
    private let bytes: UnsafeRawBufferPointer

    /// - Parameter row: a statement whose columns begin with earliest, dates
    init(_ row: Statement) {
      earliest = row.anyInteger(0)
      bytes = row.bytes(1)
    }

    var count: Int { bytes.count / 4 }

    func containsAny(in dates: ClosedRange<Int64>) -> Bool {
      guard let wanted = wanted(dates) else { return false }
      for index in 0..<count where wanted.contains(self[index]) { return true }
      return false
    }

    func each(in dates: ClosedRange<Int64>, _ body: (Int64) -> Void) {
      guard let wanted = wanted(dates) else { return }
      for index in 0..<count where wanted.contains(self[index]) { body(earliest &+ Int64(self[index])) }
    }

    private subscript(index: Int) -> UInt32 {
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
    }

    /// Returns the encoded values to search for; nil when the block cannot hold any.
    private func wanted(_ dates: ClosedRange<Int64>) -> ClosedRange<UInt32>? {
      func distance(_ date: Int64) -> Int64 {
        let (distance, isTooFar) = date.subtractingReportingOverflow(earliest)
        return isTooFar ? (date < earliest ? .min : .max) : distance
      }
      let (lower, upper) = (distance(dates.lowerBound), distance(dates.upperBound))
      guard upper >= 0, lower <= Int64(UInt32.max) else { return nil }
      return UInt32(clamping: lower)...UInt32(clamping: upper)
    }
  }
}
