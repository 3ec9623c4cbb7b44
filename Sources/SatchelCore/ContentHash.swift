import CNettle

/// Computes the MD5 and the SHA-256 of bytes that arrive in blocks.
package struct ContentHash {
  private var md5 = md5_ctx()
  private var sha256 = SHA256()

  package init() { nettle_md5_init(&md5) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    nettle_md5_update(&md5, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    sha256.update(bytes)
  }

  /// Returns the digests, and resets the hash.
  package mutating func digests() -> ContentDigests {
    var bytes = [UInt8](repeating: 0, count: Int(MD5_DIGEST_SIZE))
    nettle_md5_digest(&md5, bytes.count, &bytes)
    return ContentDigests(md5: bytes, sha256: sha256.digest())
  }

  /// Returns the digests of bytes in memory.
  package static func digests(of bytes: [UInt8]) -> ContentDigests {
    var hash = ContentHash()
    bytes.withUnsafeBytes { hash.update($0) }
    return hash.digests()
  }
}

/// The digests of content.
package struct ContentDigests: Sendable, Equatable {
  /// 16 bytes.
  package var md5: [UInt8]
  /// 32 bytes.
  package var sha256: [UInt8]
}

/// A digest that names content.
package enum ContentChecksum: Sendable, Equatable {
  case md5([UInt8])
  case sha256([UInt8])

  package func matches(_ digests: ContentDigests) -> Bool {
    switch self {
    case .md5(let bytes): digests.md5 == bytes
    case .sha256(let bytes): digests.sha256 == bytes
    }
  }
}
