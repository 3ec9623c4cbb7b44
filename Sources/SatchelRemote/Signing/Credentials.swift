/// Who signs. Shows itself nowhere: not in messages, not in logs, not when it is printed or dumped.
public struct Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  public let accessKey: String
  let secretKey: String
  let sessionToken: String?

  /// - Parameter sessionToken: goes with keys that are lent for a time
  /// - Throws: `.failed(.invalid)` when one of them is empty or cannot stand in a header
  public init(accessKey: String, secretKey: String, sessionToken: String? = nil) throws(ObjectStoreError) {
    for (name, value) in [
      ("access key", accessKey), ("secret key", secretKey), ("session token", sessionToken),
    ] {
      guard let value else { continue }
      guard !value.isEmpty, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw ObjectStoreError(.failed(.invalid), "the \(name) is empty or not printable ASCII")
      }
    }
    guard !accessKey.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ",") }) else {
      throw ObjectStoreError(.failed(.invalid), "the access key has a \"/\" or \",\" in it")
    }
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }

  public var description: String { "credentials" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
