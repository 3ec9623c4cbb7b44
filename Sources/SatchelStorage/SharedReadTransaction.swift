import SatchelCore
import Synchronization

/// A connection's read transaction that several reads share while no other connection commits.
struct SharedReadTransaction {
  private enum Index {
    case unknown
    case none
    case at(UnsafeRawPointer)
  }

  private var index = Index.unknown
  /// The WAL index header at the beginning of the transaction; nil while there is no transaction that may be
  /// shared.
  private var begun: WALIndexHeader?
  private(set) var isOpen = false
  private static let numbers = Atomic<UInt64>(0)

  /// Begins a transaction, unless the open one sees everything committed.
  mutating func begin(_ connection: Connection) throws {
    if isOpen {
      if case .at(let header) = index, begun == WALIndexHeader(header) { return }
      end(connection)
    }
    // Read before BEGIN: a commit in between makes this header outdated, and the next read begins a new
    // transaction.
    if case .at(let header) = index { begun = WALIndexHeader(header) }
    try connection.run("BEGIN")
    connection.snapshot = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    isOpen = true
  }

  /// Ends the transaction.
  mutating func end(_ connection: Connection) {
    guard isOpen else { return }
    // SQLite may have ended a failed transaction.
    if connection.isInTransaction { try? connection.run("COMMIT") }
    connection.snapshot = 0
    isOpen = false
    begun = nil
  }

  /// Whether the transaction may stay open until the next read.
  mutating func canStay(_ connection: Connection) -> Bool {
    if case .unknown = index { index = connection.findWALIndex().map { .at($0) } ?? .none }
    return begun != nil && connection.isInTransaction
  }
}
