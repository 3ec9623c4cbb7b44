import SatchelJSON
import SatchelRemote
import SatchelStorage

/// The object store that Tests/Servers/run.py has started beside the tests.
package struct TestServer: Sendable {
  /// Nil when the tests were started without it.
  package static let current: TestServer? = {
    guard let text = S3Store.variable("SATCHEL_TEST_S3"), let json = try? JSONValue(parsing: text) else {
      return nil
    }
    return TestServer(json: json)
  }()

  private let json: JSONValue

  /// As "ministack".
  package var kind: String { json["kind"]?.stringValue ?? "" }
  /// The endpoint of a proxy before the store, which makes things go wrong.
  package var proxy: String { json["proxy"]?.stringValue ?? "" }
  /// Where the proxy is told what.
  package var admin: String { json["admin"]?.stringValue ?? "" }
  /// Certificates of another authority than the store's.
  package var wrongCAFile: String? { json["wrong_ca_file"]?.stringValue }

  /// How a store is described that is reached in one way or another: "store", "temporary" or "secure".
  ///
  /// - Parameter changes: members that take the place of the described ones
  package func description(_ way: String = "store", _ changes: JSONObject = [:]) -> JSONValue? {
    guard var object = json[way]?.objectValue else { return nil }
    for (name, value) in changes { object[name] = value }
    return .object(object)
  }

  /// Opens the store.
  package func open(_ way: String = "store", _ changes: JSONObject = [:]) throws -> S3Store {
    guard let description = description(way, changes) else {
      throw SatchelError(.notFound, "\(kind) has no \"\(way)\"")
    }
    return try S3Store(json: description, environment: { _ in nil })
  }

  /// A prefix that no other test uses.
  package static func prefix() -> String { "test-" + String(UInt64.random(in: .min ... .max), radix: 36) }
}
