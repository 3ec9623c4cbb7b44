@testable import SatchelRecords

/// A device's collection, as a simulation sees it.
protocol SimulatedRecords: RecordLedger {
  func put(_ id: String, _ document: [UInt8], now: Int64) throws
  func delete(_ id: String, now: Int64) throws
  func document(_ id: String) throws -> [UInt8]?
  /// The oldest first.
  func conflicts() throws -> [SimulatedConflict]
  /// Ends an open conflict; a document of nil deletes.
  func resolve(_ conflict: SimulatedConflict, _ document: [UInt8]?, now: Int64) throws
}

/// A line of the list of conflicts.
struct SimulatedConflict: Sendable, Equatable {
  var id: Int64
  var record: String
  /// Else it tells what was lost.
  var isOpen: Bool
  /// Nil when it was deleted here.
  var local: [UInt8]?
  /// The envelope that stood against it.
  var remote: [UInt8]
  var base: [UInt8]?
}
