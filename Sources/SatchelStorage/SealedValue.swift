import SatchelCore

/// The stored format of a sensitive value: one byte of format version, 8 bytes of key name, 12 of nonce, the
/// encrypted bytes, 16 of tag. The tag also authenticates the location, so that a value that is moved to
/// another location of the store cannot be opened.
package enum SealedValue {
  package static let format: UInt8 = 1
  private static let headLength = 1 + EncryptionKey.nameLength

  /// - Parameter location: is authenticated
  package static func seal(_ text: [UInt8], by key: EncryptionKey, at location: String) -> [UInt8] {
    [format] + key.name + key.seal(text, context: context(location, keyName: key.name))
  }

  /// - Parameters:
  ///   - keys: the keys that are set, by name
  ///   - location: for messages
  ///   - sealedAt: the location that it was sealed at, if it differs
  /// - Throws: `.unauthorized` when its key is not set, `.damaged` when it was modified
  package static func open(
    _ sealed: [UInt8], by keys: Keyring.Keys, at location: String, sealedAt: String? = nil
  ) throws -> [UInt8] {
    guard let name = keyName(of: sealed) else {
      throw SatchelError(.damaged, "\(location): is sealed in an unknown format")
    }
    guard !keys.isEmpty else {
      throw SatchelError.keyNotSet(location)
    }
    guard let key = keys[name] else {
      throw SatchelError.otherKey(location)
    }
    guard let text = key.open(sealed[headLength...], context: context(sealedAt ?? location, keyName: name))
    else {
      throw SatchelError(.damaged, "\(location): was modified since it was sealed, and cannot be opened")
    }
    return text
  }

  /// Returns the name of the key that sealed a value; nil when it is not a sealed value.
  package static func keyName(of sealed: [UInt8]) -> [UInt8]? {
    guard sealed.first == format, sealed.count >= headLength + EncryptionKey.overhead else { return nil }
    return Array(sealed[1...EncryptionKey.nameLength])
  }

  private static func context(_ location: String, keyName: [UInt8]) -> [UInt8] {
    [format] + keyName + Array(location.utf8)
  }
}

extension SatchelError {
  /// The error for sensitive content whose encryption key is not set.
  ///
  /// - Parameter location: begins the message
  package static func keyNotSet(_ location: String) -> SatchelError {
    SatchelError(.unauthorized, "\(location): is sensitive; set the encryption key first")
  }

  /// The error for sensitive content that was sealed with another key than the one that is set.
  ///
  /// - Parameter location: begins the message
  package static func otherKey(_ location: String) -> SatchelError {
    SatchelError(.unauthorized, "\(location): was sealed with another encryption key")
  }

  /// The error for a key that is not the one of the store.
  ///
  /// - Parameters:
  ///   - location: begins the message
  ///   - other: what is sealed with the store's key
  package static func notTheKey(_ location: String, _ other: String) -> SatchelError {
    SatchelError(
      .unauthorized,
      "\(location): the key is not the store's current key: “\(other)” is sealed with another key")
  }
}
