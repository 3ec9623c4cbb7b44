import SatchelDocuments
import SatchelRemoteTesting

@testable import SatchelPhotos
@testable import SatchelSync
@testable import SatchelCore
@testable import SatchelStorage

/// One device of a simulation: a real catalogue in a real store, and what it did.
// Unchecked: the simulation runs one thread at a time.
final class SimulationDevice: @unchecked Sendable {
  let number: Int
  let catalogue: PhotoCatalogue
  let fiber: SimulationFiber
  let onConflict: ConflictPolicy
  /// Its changes by photo, oldest first.
  var edits: [[SimulationEdit]]
  /// Its pending uploads by shard.
  var pendingUploads: [Shard.Index: [Int: String]] = [:]
  /// The running sync.
  var sync: SimulationSync<SyncReport>?

  init(number: Int, catalogue: PhotoCatalogue, fiber: SimulationFiber, onConflict: ConflictPolicy) {
    self.number = number
    self.catalogue = catalogue
    self.fiber = fiber
    self.onConflict = onConflict
    edits = Array(repeating: [], count: SimulationPhoto.all.count)
  }

  /// The file name that the device shows for a photo.
  func value(_ photo: Int) throws -> String? {
    try catalogue.photo(SimulationPhoto.all[photo])?.photo.filename
  }

  /// Whether a change of a photo is pending.
  func hasChange(_ photo: Int) throws -> Bool { try change(photo) { _ in true } }

  /// Whether a change of a photo that was synchronized is pending.
  func changesBase(_ photo: Int) throws -> Bool { try change(photo) { $0.base.line != nil } }

  private func change(_ photo: Int, _ body: (BaseTable.Row) -> Bool) throws -> Bool {
    try catalogue.read(otherwise: false) { connection, catalogue in
      try BaseTable(connection: connection, catalogue: catalogue).row(SimulationPhoto.all[photo]).map(body)
        ?? false
    }
  }

  /// Conflicts of the log after one.
  func conflicts(after id: Int64) throws -> [ConflictEntry] {
    try catalogue.read(otherwise: []) { connection, catalogue in
      try ConflictLog(connection).rows(of: ConflictLog.Owner(.photos, catalogue), after: id, limit: 10_000)
        .map {
          try PhotoCatalogue.conflict($0, connection)
        }
    }
  }
}

/// The photos of a simulation: few, so that devices conflict.
enum SimulationPhoto {
  static let shards = [Shard.Index(3), Shard.Index(10)].compactMap { $0 }
  static let all: [MD5] = shards.flatMap { shard in
    (0..<3).compactMap { MD5("\(shard)" + String(repeating: "0", count: 30) + "\($0)") }
  }

  static func number(_ md5: MD5) -> Int? { all.firstIndex(of: md5) }

  /// File names by photo, of a shard's bytes.
  static func values(_ bytes: [UInt8]) -> [Int: String] {
    var values: [Int: String] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: ","), maxSplits: 2)
      guard fields.count > 1, let md5 = MD5(String(decoding: fields[0], as: UTF8.self)) else { continue }
      if let number = number(md5) { values[number] = String(decoding: fields[1], as: UTF8.self) }
    }
    return values
  }
}
