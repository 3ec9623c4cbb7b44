import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage

@testable import SatchelRecords

/// One device of a simulation: its collection, and what it changed there.
// Unchecked: the simulation's baton sees to it that only one thread at a time touches it.
final class RecordSimulationDevice: @unchecked Sendable {
  /// Something the device changed that must not be lost.
  struct Claim {
    /// What a field was set to; nil when the record was deleted.
    var field: String?
    var value: String?
    /// Which of the remote's versions it was made on top of; -1 for none.
    var base: Int
    /// The newest line of the device's conflicts at that time.
    var conflict: Int64
  }

  let number: Int
  let records: any SimulatedRecords
  let writer: String
  let fiber: SimulationFiber
  let onConflict: ConflictPolicy
  /// How far its clock is off, in milliseconds.
  let skew: Int64
  var claims: [String: [Claim]] = [:]
  /// Numbers of its edits by record that may still come to the remote: each may do so once.
  var edits: [String: Set<String>] = [:]
  /// Those that there were when it was last about to send the record.
  var sent: [String: Set<String>] = [:]
  /// Deletions by record that may still come to the remote.
  var deletions: [String: Int] = [:]
  /// The last of the remote's versions with content that it has written, by record.
  var landed: [String: Int] = [:]
  /// The sync under way.
  var sync: SimulationSync<RecordSyncReport>?

  init(
    number: Int, records: any SimulatedRecords, writer: String, fiber: SimulationFiber,
    onConflict: ConflictPolicy, skew: Int64
  ) {
    self.number = number
    self.records = records
    self.writer = writer
    self.fiber = fiber
    self.onConflict = onConflict
    self.skew = skew
  }
}

/// The documents of a simulation: fields of texts that are never used twice, and the number of the edit.
enum SimulatedDocument {
  static let fields = ["one", "two", "three"]

  static func parse(_ bytes: [UInt8]?) throws -> JSONObject? {
    try bytes.flatMap { try JSONValue(parsing: $0).objectValue }
  }

  static func text(_ bytes: [UInt8]?) -> String {
    bytes.map { String(decoding: $0, as: UTF8.self) } ?? "deleted"
  }
}
