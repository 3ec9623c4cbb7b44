import SatchelJSON

/// A migration that the host carries out.
public struct RecordCallback: Sendable {
  /// Makes the document of another version; gets the record's id, its document and both versions.
  public typealias Body =
    @Sendable (_ id: String, _ document: JSONObject, _ from: Int, _ to: Int) throws -> JSONObject

  /// Whether it can also go back, with `to` smaller than `from`.
  public let hasInverse: Bool
  private let body: Body?

  /// - Parameter body: nil when the host gave none, which is an error only when it is needed.
  public init(hasInverse: Bool = false, _ body: Body?) {
    self.hasInverse = hasInverse
    self.body = body
  }

  func run(id: String, document: JSONObject, from: Int, to: Int) throws -> JSONObject {
    guard let body else {
      throw JSONError("version \(max(from, to)) is made by a callback, and the host gave none")
    }
    let result = try body(id, document, from, to)
    guard JSONValue.object(result).depth <= JSONValue.maximumDepth else {
      throw JSONError("the document has more than \(JSONValue.maximumDepth) levels")
    }
    return result
  }
}
