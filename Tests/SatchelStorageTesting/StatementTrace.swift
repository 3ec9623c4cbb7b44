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
