import Synchronization

/// The read transaction of a connection, kept from one read to the next while nobody has committed in between.
struct ReadView {
  private enum Index {
    case unknown
    case none
    case at(UnsafeRawPointer)
  }

  private var index = Index.unknown
  /// The log when the transaction under way began; nil while there is none that may be used again.
  private var begun: WALIndexHeader?
  private(set) var isOpen = false
  private static let numbers = Atomic<UInt64>(0)

  /// Begins a transaction, unless one is open that sees all that is committed.
  mutating func begin(_ connection: Connection) throws {
    if isOpen {
      if case .at(let header) = index, begun == WALIndexHeader(header) { return }
      end(connection)
    }
    // Before the transaction: what is committed in between makes this state old, and not the transaction wrong.
    if case .at(let header) = index { begun = WALIndexHeader(header) }
    try connection.run("BEGIN")
    connection.snapshot = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
    isOpen = true
  }

  /// Ends it.
  mutating func end(_ connection: Connection) {
    guard isOpen else { return }
    // One that has failed may be over.
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
