import SatchelCore
import SatchelJSON
import SatchelRemote

extension ContentRequest {
  /// Reads the object that `json` returns; all but `location` may be missing or null.
  ///
  /// - Throws: `JSONError` with the pointer of the member
  public init(json: JSONValue, cancellation: Cancellation = .never) throws {
    guard let object = json.objectValue else {
      throw JSONError("must be an object with a location, not \(json.kind)", pointer: "")
    }
    let location: Location
    do {
      location = try Location(json: object["location"] ?? .null)
    } catch let error as JSONError {
      throw JSONError(error.reason, pointer: "/location" + (error.pointer ?? ""))
    }
    func text(_ name: String) throws -> String? {
      guard let value = object[name], !value.isNull else { return nil }
      guard let text = value.stringValue else { throw JSONError("must be a string", pointer: "/" + name) }
      return text
    }
    var entities: [String] = []
    if let value = object["entities"], !value.isNull {
      guard let elements = value.arrayValue else { throw JSONError("must be an array", pointer: "/entities") }
      for (index, element) in elements.enumerated() {
        guard let id = element.stringValue else {
          throw JSONError("must be a string", pointer: "/entities/\(index)")
        }
        entities.append(id)
      }
    }
    var attempt: Int64 = 1
    if let value = object["attempt"], !value.isNull {
      guard let number = value.intValue, (1...Int64(Int32.max)).contains(number) else {
        throw JSONError("must be a positive integer", pointer: "/attempt")
      }
      attempt = number
    }
    self.init(
      location: location, section: try text("section"), entities: entities, etag: try text("etag"),
      attempt: Int(attempt), cancellation: cancellation)
  }
}

extension ContentAnswer: JSONConvertible {
  /// An object with `result`, "content", "not_modified" or "not_found"; `body`, the content as a string, `etag`, `max_age`
  /// and `complete`.
  public var json: JSONValue {
    func object(
      _ result: String, _ body: [UInt8]?, _ etag: String?, _ maxAge: Int64?, _ isComplete: Bool
    ) -> JSONValue {
      [
        "result": .string(result),
        "body": body.map { .string(String(decoding: $0, as: UTF8.self)) } ?? .null,
        "etag": etag.map { .string($0) } ?? .null, "max_age": maxAge.map { .int($0) } ?? .null,
        "complete": .bool(isComplete), "message": .null, "retry_after": .null,
      ]
    }
    return switch self {
    case .content(let body, let etag, let maxAge, let isComplete):
      object("content", body, etag, maxAge, isComplete)
    case .notModified(let etag, let maxAge): object("not_modified", nil, etag, maxAge, false)
    case .notFound(let maxAge): object("not_found", nil, nil, maxAge, false)
    }
  }
}

extension SourceFailure: CustomStringConvertible {
  public var description: String { message }

  /// An object with `result`, "transient" or "final", `message` and `retry_after`.
  package var json: JSONValue {
    [
      "result": .string(isFinal ? "final" : "transient"), "body": .null, "etag": .null, "max_age": .null,
      "complete": false, "message": .string(message),
      "retry_after": retryAfter.map { .int($0) } ?? .null,
    ]
  }
}
