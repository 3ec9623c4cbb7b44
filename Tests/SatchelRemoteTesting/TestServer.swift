import SatchelJSON
import SatchelRemote
import SatchelCore
import SatchelStorage

/// The object store server that Tests/Servers/run.py has started for the tests.
package struct TestServer: Sendable {
  /// The server; nil when the tests were started without one.
  package static let current: TestServer? = {
    guard let text = S3Store.variable("SATCHEL_TEST_S3"), let json = try? JSONValue(parsing: text) else {
      return nil
    }
    return TestServer(json: json)
  }()

  private let json: JSONValue

  /// The kind of server, such as "ministack".
  package var kind: String { json["kind"]?.stringValue ?? "" }
  /// The endpoint of the fault proxy in front of the server.
  package var proxy: String { json["proxy"]?.stringValue ?? "" }
  /// The URL at which the proxy's faults are set.
  package var admin: String { json["admin"]?.stringValue ?? "" }
  /// A file with the certificate of an authority other than the server's.
  package var wrongCAFile: String? { json["wrong_ca_file"]?.stringValue }

  /// Returns the JSON description of a store.
  ///
  /// - Parameters:
  ///   - access: the way of access: "store", "temporary" (credentials) or "secure" (https)
  ///   - changes: members that replace those of the description
  package func description(_ access: String = "store", _ changes: JSONObject = [:]) -> JSONValue? {
    guard var object = json[access]?.objectValue else { return nil }
    for (name, value) in changes { object[name] = value }
    return .object(object)
  }

  /// Opens the store.
  package func open(_ access: String = "store", _ changes: JSONObject = [:]) throws -> S3Store {
    guard let description = description(access, changes) else {
      throw SatchelError(.notFound, "\(kind) has no \"\(access)\"")
    }
    return try S3Store(json: description, environment: { _ in nil })
  }

  /// Returns a random prefix that no other test uses.
  package static func prefix() -> String { "test-" + String(UInt64.random(in: .min ... .max), radix: 36) }
}
