import CNettle

/// The MD5 of bytes that come a part at a time.
struct MD5Hash {
  private var context = md5_ctx()

  init() { nettle_md5_init(&context) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    nettle_md5_update(&context, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
  }

  /// Afterwards it stands at its beginning again.
  mutating func digest() -> MD5 {
    var bytes = [UInt8](repeating: 0, count: Int(MD5_DIGEST_SIZE))
    nettle_md5_digest(&context, bytes.count, &bytes)
    func word(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
    return MD5(high: word(bytes.prefix(8)), low: word(bytes.dropFirst(8)))
  }
}
