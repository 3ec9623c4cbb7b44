/// Who signs. Shows itself nowhere: not in messages, not in logs, not when it is printed or dumped. What is secret is
/// erased from memory when the last copy of this goes.
public struct Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  public let accessKey: String
  let secretKey: Secret
  let sessionToken: Secret?

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
    guard let secretKey = Secret(secretKey) else { throw Self.noMemory }
    self.secretKey = secretKey
    guard let sessionToken else {
      self.sessionToken = nil
      return
    }
    guard let sessionToken = Secret(sessionToken) else { throw Self.noMemory }
    self.sessionToken = sessionToken
  }

  private static let noMemory = ObjectStoreError(.failed(.noMemory), "no memory for credentials")

  /// Whether a text holds one of them, so that it must not be shown.
  func areIn(_ text: String) -> Bool {
    let text = Array(text.utf8)
    let isIn = { (part: UnsafeRawBufferPointer) in
      text.indices.contains { text[$0...].starts(with: part) }
    }
    return Array(accessKey.utf8).withUnsafeBytes(isIn) || secretKey.withBytes(isIn)
      || sessionToken?.withBytes(isIn) == true
  }

  public var description: String { "credentials" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
