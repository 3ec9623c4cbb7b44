import SatchelJSON
import SatchelRemoteTesting
import SatchelTesting
import Testing

@testable import SatchelRemote

/// A kind of store that has to pass the conformance suite. A new store is one more case.
enum ConformingStore: CaseIterable, CustomTestStringConvertible {
  case directory
  /// Proves that the wrapper itself changes nothing, so that what it does in other tests are its faults.
  case faultless
  /// A host's own, which happens to be a directory.
  case callbacks
  /// A real server, when there is one.
  case s3

  static var allCases: [ConformingStore] {
    [.directory, .faultless, .callbacks] + (TestServer.current == nil ? [] : [.s3])
  }

  var testDescription: String {
    switch self {
    case .directory: "DirectoryStore"
    case .faultless: "FaultyStore without faults"
    case .callbacks: "CallbackStore"
    case .s3: "S3Store"
    }
  }

  /// False for one that goes through directories one by one.
  var sortsAcrossPages: Bool { self != .s3 || TestServer.current?.kind != "seaweedfs" }

  /// Gives `body` two independent ways to the same empty objects, as two devices have them.
  func withStores(_ body: (_ one: any ObjectStore, _ other: any ObjectStore) throws -> Void) throws {
    if self == .s3 { return try withServer(body) }
    let directory = try TemporaryDirectory()
    let (one, other) = (try DirectoryStore(path: directory.path), try DirectoryStore(path: directory.path))
    switch self {
    case .faultless: try body(FaultyStore(one, plan: []), FaultyStore(other, plan: []))
    case .callbacks: try body(CallbackStore(HostCalls(one)), CallbackStore(HostCalls(other)))
    default: try body(one, other)
    }
    withExtendedLifetime(directory) {}
  }

  private func withServer(_ body: (_ one: any ObjectStore, _ other: any ObjectStore) throws -> Void) throws {
    let server = try #require(TestServer.current)
    let prefix = JSONValue.string(TestServer.prefix())
    // The second device knows the store by keys that are lent for a time, where there are such.
    let way = server.description("temporary") == nil ? "store" : "temporary"
    try body(server.open("store", ["prefix": prefix]), server.open(way, ["prefix": prefix]))
  }
}
