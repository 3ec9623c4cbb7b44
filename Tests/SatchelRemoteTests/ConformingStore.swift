import Testing

@testable import SatchelRemote

/// A kind of store that has to pass the conformance suite. A new store is one more case.
enum ConformingStore: CaseIterable, CustomTestStringConvertible {
  case directory
  /// Proves that the wrapper itself changes nothing, so that what it does in other tests are its faults.
  case faultless

  var testDescription: String {
    switch self {
    case .directory: "DirectoryStore"
    case .faultless: "FaultyStore without faults"
    }
  }

  /// Gives `body` two independent ways to the same empty objects, as two devices have them.
  func withStores(_ body: (_ one: any ObjectStore, _ other: any ObjectStore) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let (one, other) = (try DirectoryStore(path: directory.path), try DirectoryStore(path: directory.path))
    switch self {
    case .directory: try body(one, other)
    case .faultless: try body(FaultyStore(one, plan: []), FaultyStore(other, plan: []))
    }
    withExtendedLifetime(directory) {}
  }
}
