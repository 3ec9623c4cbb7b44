import Foundation

@testable import SatchelRemote

/// A directory of its own for one test, removed with it.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "satchel-remote-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Relative paths of all files, sorted.
  func files() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isDirectory)
        && !isDirectory.boolValue
    }.sorted()
  }

  func write(_ text: String, to name: String) throws {
    let place = URL(filePath: path).appending(path: name)
    try FileManager.default.createDirectory(
      at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: place)
  }
}

/// Why something failed; nil when it did not.
func reason(_ body: () throws -> Void) throws -> ObjectStoreError.Reason? {
  do {
    try body()
    return nil
  } catch let error as ObjectStoreError {
    return error.reason
  }
}

/// Repeatable chance (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension [UInt8] {
  init(_ text: String) { self = Array(text.utf8) }
}
