import SatchelJSON
import SatchelRemoteTesting
import SatchelTesting
import Testing

import SatchelRemote

/// The kinds of stores that must pass the conformance suite. A new kind is a new case.
enum ConformingStore: CaseIterable, CustomTestStringConvertible {
  case directory
  /// Proves that the wrapper without faults changes nothing.
  case faultless
  /// A host's functions, which use a directory.
  case callbacks
  /// The same, with the optional functions for large files.
  case callbacksInParts
  /// The server of the tests, if there is one.
  case s3

  static var allCases: [ConformingStore] {
    [.directory, .faultless, .callbacks, .callbacksInParts] + (TestServer.current == nil ? [] : [.s3])
  }

  var testDescription: String {
    switch self {
    case .directory: "DirectoryStore"
    case .faultless: "FaultyStore without faults"
    case .callbacks: "CallbackStore"
    case .callbacksInParts: "CallbackStore with parts"
    case .s3: "S3Store"
    }
  }

  /// False for a server that lists directories one after the other.
  var sortsAcrossPages: Bool { self != .s3 || TestServer.current?.kind != "seaweedfs" }

  /// Calls `body` with two independent instances of the same empty store, as on two devices.
  func withStores(_ body: (_ one: any ObjectStore, _ other: any ObjectStore) throws -> Void) throws {
    if self == .s3 { return try withServer(body) }
    let directory = try TemporaryDirectory()
    let (one, other) = (try DirectoryStore(path: directory.path), try DirectoryStore(path: directory.path))
    switch self {
    case .faultless: try body(FaultyStore(one, plan: []), FaultyStore(other, plan: []))
    case .callbacks: try body(CallbackStore(HostCalls(one)), CallbackStore(HostCalls(other)))
    case .callbacksInParts:
      try body(CallbackStore(HostCalls(inParts: one)), CallbackStore(HostCalls(inParts: other)))
    default: try body(one, other)
    }
    withExtendedLifetime(directory) {}
  }

  private func withServer(_ body: (_ one: any ObjectStore, _ other: any ObjectStore) throws -> Void) throws {
    let server = try #require(TestServer.current)
    let prefix = JSONValue.string(TestServer.prefix())
    // The second device uses temporary credentials, if the server supports them.
    let access = server.description("temporary") == nil ? "store" : "temporary"
    try body(server.open("store", ["prefix": prefix]), server.open(access, ["prefix": prefix]))
  }
}
