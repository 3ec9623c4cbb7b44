import SatchelStorage

/// What a request says about its body: the SHA-256 of it.
public struct PayloadHash: Sendable, Equatable {
  /// As it stands in `x-amz-content-sha256`.
  public let text: String

  private init(text: String) { self.text = text }

  public init(of body: [UInt8]) { text = SHA256.digest(body).hexadecimal }

  /// A hash that is known already; nil unless it has 32 bytes.
  public init?(digest: [UInt8]) {
    guard digest.count == 32 else { return nil }
    text = digest.hexadecimal
  }

  /// That of no body.
  public static let empty = PayloadHash(of: [])

  /// The body is not part of what is signed: for bodies that are not known beforehand.
  public static let unsigned = PayloadHash(text: "UNSIGNED-PAYLOAD")
}
