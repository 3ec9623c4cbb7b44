import CSQLite
import Foundation

/// Calls `observer` with the SQL of every statement that runs on a connection; nil ends it.
package func traceStatements(of connection: OpaquePointer, _ observer: (@Sendable (String) -> Void)?) {
  observers[connection] = observer
  guard observer != nil else {
    sqlite3_trace_v2(connection, 0, nil, nil)
    return
  }
  sqlite3_trace_v2(
    connection, UInt32(SQLITE_TRACE_STMT),
    { _, connection, statement, _ in
      guard let connection, let statement, let sql = sqlite3_sql(OpaquePointer(statement)) else { return 0 }
      observers[OpaquePointer(connection)]?(String(cString: sql))
      return 0
    }, UnsafeMutableRawPointer(connection))
}

/// Returns the steps of EXPLAIN QUERY PLAN of a statement.
package func queryPlan(of sql: String, on connection: OpaquePointer) throws -> [String] {
  var statement: OpaquePointer?
  let code = sqlite3_prepare_v2(connection, "EXPLAIN QUERY PLAN " + sql, -1, &statement, nil)
  defer { sqlite3_finalize(statement) }
  guard code == SQLITE_OK else { throw CocoaError(.featureUnsupported) }
  var steps: [String] = []
  while sqlite3_step(statement) == SQLITE_ROW {
    if let text = sqlite3_column_text(statement, 3) { steps.append(String(cString: text)) }
  }
  return steps
}

private let observers = Observers()

// Unchecked: the lock guards the dictionary.
private final class Observers: @unchecked Sendable {
  private let lock = NSLock()
  private var all: [OpaquePointer: @Sendable (String) -> Void] = [:]

  subscript(connection: OpaquePointer) -> (@Sendable (String) -> Void)? {
    get { lock.withLock { all[connection] } }
    set { lock.withLock { all[connection] = newValue } }
  }
}
