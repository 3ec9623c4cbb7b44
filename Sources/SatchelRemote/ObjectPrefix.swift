/// What the keys of a listing begin with: bytes of a key, not necessarily whole components.
public struct ObjectPrefix: Sendable, CustomStringConvertible {
  public let text: String

  /// Every key.
  public static let all = ObjectPrefix()

  private init() { text = "" }

  /// - Throws: `.invalidKey` for what no key could begin with
  public init(_ text: String) throws(ObjectStoreError) {
    try ObjectKey.check(text, isPrefix: true)
    self.text = text
  }

  public var description: String { text }
}
