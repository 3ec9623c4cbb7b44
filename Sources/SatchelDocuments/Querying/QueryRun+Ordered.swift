import SatchelCore
import SatchelStorage

extension QueryRun {
  /// Visits the records that match in the order of an index.
  func runOrdered(
    _ plan: QueryPlan, _ order: QueryPlan.IndexOrder, _ query: CompiledQuery,
    visit: (borrowing Candidate) throws -> Void
  ) throws {
    guard case .index(let index, var keys) = plan.access, let first = query.order.first else { return }
    if let after = query.after, let rest = after.keys(query.order, order, isOne: index.parts.count == 1) {
      keys.narrow(rest)
    }
    let ranges: [KeyRange]
    if index.parts.count == 1 {
      ranges = keys.ordered(nullsLast: first.nullsLast ?? first.isDescending, descending: first.isDescending)
    } else {
      ranges = order.isBackward ? keys.ranges.reversed() : keys.ranges
    }
    var window = query.window
    // Records with the same values in the index; where these do not decide their order, they are sorted among themselves.
    var equals = OrderedRows(query.order)
    var last: [UInt8] = []
    func emit(_ record: Int64) throws {
      _ = try fetch.one(record) { if !window.isOver, window.admitsNext() { try visit($0) } }
    }
    func flush() throws {
      if !equals.isEmpty { for record in try equals.removeSorted() where !window.isOver { try emit(record) } }
    }
    let covered = Array(query.order.prefix(order.covered))
    try IndexWalk(connection, index).run(ranges, isBackward: order.isBackward) { key, record in
      let isAlone = query.order.count == order.covered && order.isWhole && ValueKey.decidesOrder(key)
      var isNew = false
      if index.parts.count == 1 || isAlone {
        isNew = !key.elementsEqual(last)
        if isNew { last = Array(key) }
      } else {
        var values: [UInt8] = []
        _ = try fetch.one(record) { try OrderedRows.append($0, covered, to: &values) }
        isNew = values != last
        if isNew { last = values }
      }
      if isNew { try flush() }
      guard !window.isOver else { return false }
      _ = try fetch.one(record) { candidate in
        for condition in plan.rest where try !condition.matches(candidate) { return }
        if let after = query.after, try !after.isBefore(candidate, query.order) { return }
        if !isAlone { return try equals.add(candidate) }
        if window.admitsNext() { try visit(candidate) }
      }
      return true
    }
    try flush()
  }
}

/// Reads the entries of an index in the order of their keys; those with the same key in insertion order.
struct IndexWalk {
  private let connection: Connection
  private let index: CollectionIndex

  typealias Visit = (_ key: UnsafeRawBufferPointer, _ record: Int64) throws -> Bool

  init(_ connection: Connection, _ index: CollectionIndex) {
    (self.connection, self.index) = (connection, index)
  }

  /// Visits the entries of ranges, in the order of the ranges, until `visit` returns false.
  ///
  /// - Parameter after: a row, after which the first one of each range is
  func run(_ ranges: [KeyRange], isBackward: Bool = false, after: Int64? = nil, _ visit: Visit) throws {
    for range in ranges {
      guard try isBackward ? backward(range, visit) : forward(range, after: after, visit) else { return }
    }
  }

  private func forward(_ range: KeyRange, after: Int64? = nil, _ visit: Visit) throws -> Bool {
    let statement = try connection.prepared(
      """
      SELECT value, record FROM record_value WHERE index_id = ? AND value >= ? AND value < ? AND record > ?
      ORDER BY value, record
      """)
    return try range.bound { lower, upper in
      defer { statement.reset() }
      try statement.bind(.integer(index.id), at: 1)
      try statement.bind(.blob(lower), at: 2)
      try statement.bind(.blob(upper), at: 3)
      try statement.bind(.integer(after ?? 0), at: 4)
      while try statement.step() {
        guard try visit(statement.bytes(0), statement.anyInteger(1)) else { return false }
      }
      return true
    }
  }

  /// The number of entries with the same key that are held, so that they can be visited in insertion order. If there are
  /// more, they are read again from the first one.
  private static let held = 256

  private func backward(_ range: KeyRange, _ visit: Visit) throws -> Bool {
    var rest = range
    while true {
      var (key, records): ([UInt8], [Int64]) = ([], [])
      func visitHeld() throws -> Bool {
        try key.withUnsafeBytes { key in
          for record in records.reversed() where try !visit(key, record) { return false }
          return true
        }
      }
      let isOver = try eachBackward(rest) { value, record in
        if records.isEmpty || !value.elementsEqual(key) {
          guard try visitHeld() else { return .stop }
          (key, records) = (Array(value), [])
        }
        if records.count == Self.held { return .restart }
        records.append(record)
        return .next
      }
      switch isOver {
      case .next: return try visitHeld()
      case .stop: return false
      case .restart:
        guard try forward(KeyRange(key), visit) else { return false }
        rest.upper = key
      }
    }
  }

  private enum Step { case next, stop, restart }

  /// Visits the entries of a range from its end; returns the last step.
  private func eachBackward(
    _ range: KeyRange, _ visit: (_ key: UnsafeRawBufferPointer, _ record: Int64) throws -> Step
  ) throws -> Step {
    let statement = try connection.prepared(
      """
      SELECT value, record FROM record_value WHERE index_id = ? AND value >= ? AND value < ?
      ORDER BY value DESC, record DESC
      """)
    return try range.bound { lower, upper in
      defer { statement.reset() }
      try statement.bind(.integer(index.id), at: 1)
      try statement.bind(.blob(lower), at: 2)
      try statement.bind(.blob(upper), at: 3)
      while try statement.step() {
        let step = try visit(statement.bytes(0), statement.anyInteger(1))
        if case .next = step { continue }
        return step
      }
      return .next
    }
  }
}
