import SatchelCore
import SatchelJSON
import SatchelSync

/// A value, or its removal, at one moment: `{"value": …}`, for a sensitive one `{"value": …, "sensitive":
/// true}`.
struct StateSyncValue: Equatable, Sendable {
  struct Content: Equatable, Sendable {
    /// JSON that is not sealed.
    var bytes: [UInt8]
    var isSensitive: Bool
  }

  /// Nil when the value was removed.
  var content: Content?
  /// Unix milliseconds: of the change.
  var time: Int64

  init(content: Content?, time: Int64) {
    self.content = content
    self.time = time
  }

  init?(document: JSONValue, time: Int64) {
    guard let value = document["value"], let bytes = StateContent.bytes(value) else { return nil }
    let sensitive = document["sensitive"] ?? false
    guard let isSensitive = sensitive.boolValue else { return nil }
    self.init(content: Content(bytes: bytes, isSensitive: isSensitive), time: time)
  }

  func document(at location: String) throws -> JSONValue {
    guard let content else { return .null }
    var object: JSONObject = ["value": try StateStore.value(of: content.bytes, at: location)]
    if content.isSensitive { object["sensitive"] = true }
    return .object(object)
  }

  /// Whether this one is kept when both were changed: the newer one or, at the same time, the one with the
  /// greater bytes.
  func wins(over other: StateSyncValue) -> Bool {
    if time != other.time { return time > other.time }
    guard let content, let other = other.content else { return content != nil }
    if content.bytes != other.bytes { return other.bytes.lexicographicallyPrecedes(content.bytes) }
    return content.isSensitive
  }
}
