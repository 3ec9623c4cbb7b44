import SatchelStorage

/// The form of a sensitive value: a byte for the form, 8 that name the key, 12 of nonce, the encrypted bytes,
/// 16 of tag. The tag vouches for the place, too: a value that is moved to another key cannot be opened.
enum SealedValue {
  static let form: UInt8 = 1
  private static let nonceLength = 12
  private static let headLength = 1 + EncryptionKey.nameLength + nonceLength

  static func seal(_ text: [UInt8], by key: EncryptionKey, at place: String) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    let nonce = (0..<nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let head = [form] + key.name + nonce
    return head + key.encrypt(text, nonce: nonce, context: context(place, keyName: key.name))
  }

  /// - Parameter keys: those at hand, by their names
  /// - Throws: `.invalid` when it was sealed by another key, `.damaged` when it was changed
  static func open(_ sealed: [UInt8], by keys: Keyring.Keys, at place: String) throws -> [UInt8] {
    guard let name = keyName(of: sealed) else {
      throw SatchelError(.damaged, "\(place): is sealed, and not in a form that is known")
    }
    guard !keys.isEmpty else { throw SatchelError(.invalid, "\(place): is sensitive, and needs a key") }
    guard let key = keys[name] else { throw SatchelError(.invalid, "\(place): was sealed with another key") }
    let nonce = Array(sealed[(1 + EncryptionKey.nameLength)..<headLength])
    let text = key.decrypt(sealed[headLength...], nonce: nonce, context: context(place, keyName: name))
    guard let text else {
      throw SatchelError(.damaged, "\(place): was changed since it was sealed, and cannot be opened")
    }
    return text
  }

  /// What names the key of a sealed value; nil when it is none.
  static func keyName(of sealed: [UInt8]) -> [UInt8]? {
    guard sealed.first == form, sealed.count >= headLength + EncryptionKey.tagLength else { return nil }
    return Array(sealed[1...EncryptionKey.nameLength])
  }

  private static func context(_ place: String, keyName: [UInt8]) -> [UInt8] {
    [form] + keyName + Array(place.utf8)
  }
}
