import Foundation
import SatchelJSON
import SatchelRemote
import SatchelCore
import SatchelStorage

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A proxy between a store and its server that injects faults (Tests/Servers/faultproxy.py).
package struct FaultProxy {
  /// A request that the proxy received.
  package struct Request: Equatable, Decodable, Sendable {
    package var method: String
    package var path: String
    package var ifMatch: String
    package var fault: String
    /// The number of the connection.
    package var connection: Int
    /// The server's status; nil when the request was not forwarded.
    package var status: Int?
  }

  /// Serializes the use of the proxy, which depends on the order of requests. The value is unused: the thread
  /// sanitizer confuses a value of size zero with its neighbour.
  private static let turn = Locked(0)

  private let server: TestServer

  /// Runs `body` with exclusive use of the proxy.
  ///
  /// - Parameters:
  ///   - faults: one for each following request, as described in faultproxy.py
  ///   - changes: members of the store's description
  package static func with<Result>(
    _ faults: [JSONValue], _ changes: JSONObject = [:],
    _ body: (_ store: S3Store, _ proxy: FaultProxy) throws -> Result
  ) throws -> Result {
    guard let server = TestServer.current else { throw SatchelError(.notFound, "no server was started") }
    return try turn.withLock { _ in
      let proxy = FaultProxy(server: server)
      try proxy.expect(faults)
      let timeouts: JSONValue = ["connect": 5000, "stall": 1000]
      var description: JSONObject = [
        "endpoint": .string(server.proxy), "timeouts": timeouts, "prefix": .string(TestServer.prefix()),
      ]
      for (name, value) in changes { description[name] = value }
      return try body(server.open("store", description), proxy)
    }
  }

  /// Replaces the planned faults, and clears the recorded requests.
  package func expect(_ faults: [JSONValue]) throws {
    let text = try JSONValue.array(faults).text
    _ = try ask("?" + (text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "[]"))
  }

  /// Returns the requests since the faults were set.
  package func seen() throws -> [Request] {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode([Request].self, from: ask(""))
  }

  private func ask(_ query: String) throws -> Data {
    guard let url = URL(string: server.admin + "/" + query) else {
      throw SatchelError(.invalid, "not an address: \(server.admin)")
    }
    return try Data(contentsOf: url)
  }
}
