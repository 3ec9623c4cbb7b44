import Foundation
import SatchelCore
import SatchelJSON
import SatchelRemote

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A part of the backend that Tests/Servers/run.py has started, with its own content, faults and counts (content.py).
package struct ContentServer: Sendable {
  /// What the tests were told; nil when they were started without a backend.
  private static let told: JSONValue? = S3Store.variable("SATCHEL_TEST_CONTENT").flatMap {
    try? JSONValue(parsing: $0)
  }

  package static var isRunning: Bool { told != nil }

  /// A request that the backend received.
  package struct Request: Decodable, Sendable {
    package var site: Int
    package var path: String
    package var query: [String: [String]]
    package var headers: [String: String]
    package var status: Int?
  }

  package struct Counts: Decodable, Sendable {
    package var requests: Int
    package var answered: Int
    package var most: Int
    package var mostAlike: Int
    package var open: Int
    package var seen: [Request]
  }

  private let name = "swift-" + String(UInt64.random(in: .min ... .max), radix: 36)
  private let told: JSONValue

  /// A space that no other test uses.
  package init() throws {
    guard let told = Self.told else { throw SatchelError(.notFound, "no backend was started") }
    self.told = told
  }

  private func site(_ name: String) -> String { told[name]?.stringValue ?? "" }

  /// The URL of the space on the first site.
  package var url: String { site("url") + "/" + name }
  /// The URL of the space on another site.
  package var other: String { site("other") + "/" + name }
  /// A URL on which nothing listens.
  package var closed: String { site("closed") + "/" + name }

  /// Changes the space, as content.py describes.
  package func change(_ changes: JSONObject) throws {
    let text = try JSONValue.object(changes).text
    _ = try ask("?" + (text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""))
  }

  /// Lets faults happen, one after the other.
  package func expect(_ faults: JSONObject...) throws {
    try change(["faults": .array(faults.map { .object($0) }), "reset": true])
  }

  package func counts() throws -> Counts {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Counts.self, from: ask(""))
  }

  private func ask(_ query: String) throws -> Data {
    guard let url = URL(string: site("admin") + "/" + name + query) else {
      throw SatchelError(.invalid, "not a URL: \(site("admin"))")
    }
    return try Data(contentsOf: url)
  }
}
