import Foundation
import SatchelJSON
import SatchelRemote
import SatchelStorage

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A proxy between a store and its server that does what it is told to go wrong (Tests/Servers/faultproxy.py).
package struct FaultProxy {
  /// A request as the proxy saw it.
  package struct Request: Equatable, Decodable, Sendable {
    package var method: String
    package var path: String
    package var ifMatch: String
    package var fault: String
    /// What the server answered; nil when it was not asked.
    package var status: Int?
  }

  /// There is one proxy, and it goes by the order of requests. The number says nothing: thread sanitizers take a
  /// value without bytes for its neighbour.
  private static let turn = Guarded(0)

  private let server: TestServer

  /// Runs `body` with nobody else using the proxy.
  ///
  /// - Parameters:
  ///   - faults: one for each request to come, as faultproxy.py describes them
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

  /// Forgets what was to come, and what was seen.
  package func expect(_ faults: [JSONValue]) throws {
    let text = try JSONValue.array(faults).text
    _ = try ask("?" + (text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "[]"))
  }

  /// The requests since the faults were told.
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
