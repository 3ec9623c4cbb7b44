import SatchelCore

/// The time columns of a subject's tables, by "table.column".
struct SubjectTimes {
  var subject: Change.Subject
  var columns: [String: StoredTime]
}

/// Stamps the times of a table that are ahead of the clock again, in steps: a time that was stamped is not ahead, so
/// that the next call goes on after one that was interrupted.
struct Stamping {
  /// The maximum number of rows of a step.
  static let rowsOfStep = 20_000

  let table: String
  let hasRowID: Bool
  let keys: [String]
  let columns: [(name: String, time: StoredTime)]
  let now: Int64
  private var limit: Int64 { now + StoreClock.tolerance }

  /// Returns the tables of a store that have times of the store's clock.
  static func tables(_ times: [SubjectTimes], at now: Int64, _ connection: Connection) throws -> [(
    Change.Subject, Stamping
  )] {
    let present: [String: Bool] = Dictionary(
      try ValueCheck.tables(connection).map { ($0.name, $0.hasRowID) },
      uniquingKeysWith: { first, _ in first })
    return try times.flatMap { times in
      var tables: [String: [(String, StoredTime)]] = [:]
      for (name, time) in times.columns.ordered(by: { $0.key < $1.key }) where time != .kept {
        let parts = name.split(separator: ".").map { String($0) }
        if parts.count == 2 { tables[parts[0], default: []].append((parts[1], time)) }
      }
      return try tables.ordered { $0.key < $1.key }.compactMap {
        table, columns -> (Change.Subject, Stamping)? in
        guard let hasRowID = present[table] else { return nil }
        var keys: [String] = []
        try connection.visit("PRAGMA main.table_info(\(RecoveredTable.quoted(table)))") { row in
          if row.anyInteger(5) > 0 { keys.append(RecoveredTable.quoted(row.text(1))) }
        }
        return (
          times.subject, Stamping(table: table, hasRowID: hasRowID, keys: keys, columns: columns, now: now)
        )
      }
    }
  }

  // MARK: SQL

  private func condition(_ column: String, _ time: StoredTime) -> String {
    switch time {
    case .stamp, .ordered: "\(column) > \(limit)"
    case .expiry(let timeToLive): "\(column) > \(limit) + \(timeToLive)"
    case .earliestExpiry: "\(column) > \(now)"
    case .kept: "0"
    }
  }

  private func value(_ column: String, _ time: StoredTime) -> String {
    switch time {
    case .stamp, .earliestExpiry: "\(now)"
    case .expiry(let timeToLive): "\(now) + \(timeToLive)"
    case .ordered(let group, let number):
      """
      max(\(now), coalesce((SELECT p.\(column) FROM \(table) p WHERE p.\(group) = \(table).\(group)
      AND p.\(number) < \(table).\(number) AND p.\(column) <= \(limit) ORDER BY p.\(number) DESC LIMIT 1), 0))
      """
    case .kept: column
    }
  }

  private var isAhead: String {
    "(" + columns.map { condition($0.name, $0.time) }.joined(separator: " OR ") + ")"
  }

  private var assignments: String {
    columns.map { column, time in
      "\(column) = CASE WHEN \(condition(column, time)) THEN \(value(column, time)) ELSE \(column) END"
    }.joined(separator: ", ")
  }

  // MARK: Steps

  /// Whether a row has a time that is ahead.
  func isNeeded(_ connection: Connection) throws -> Bool {
    var isNeeded = false
    try connection.visit("SELECT EXISTS(SELECT 1 FROM \(table) WHERE \(isAhead))") { isNeeded = $0.flag(0) }
    return isNeeded
  }

  /// Stamps the times of the next rows.
  ///
  /// - Parameter position: the row after which it begins; advanced
  /// - Returns: the number of rows; 0 when none is left
  func step(after position: inout Int64, _ connection: Connection) throws -> Int64 {
    guard hasRowID else {
      let keys = keys.joined(separator: ", ")
      try connection.execute(
        """
        UPDATE \(table) SET \(assignments) WHERE (\(keys)) IN (
        SELECT \(keys) FROM \(table) WHERE \(isAhead) ORDER BY \(keys) LIMIT \(Self.rowsOfStep))
        """)
      return connection.changes
    }
    var last: Int64?
    try connection.visit(
      """
      SELECT max(row) FROM (SELECT rowid AS row FROM \(table) WHERE rowid > \(position) AND \(isAhead)
      ORDER BY rowid LIMIT \(Self.rowsOfStep))
      """
    ) { last = $0.isNull(0) ? nil : $0.anyInteger(0) }
    guard let last else { return 0 }
    try connection.execute(
      "UPDATE \(table) SET \(assignments) WHERE rowid > \(position) AND rowid <= \(last) AND \(isAhead)")
    position = last
    return connection.changes
  }
}
