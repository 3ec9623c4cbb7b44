/// A page of a listing as S3 sends it.
struct S3Listing {
  struct Entry {
    var key = ""
    var size: Int64?
    var etag: String?
  }

  private(set) var entries: [Entry] = []
  private(set) var isTruncated = false

  /// - Parameter limit: the most entries that were asked for
  /// - Throws: `.foreign` for what is no listing, or has more entries than that
  init(_ body: [UInt8], limit: Int) throws(ObjectStoreError) {
    var (entry, entries, isTruncated, isEncoded) = (Entry(), [Entry](), false, false)
    var isListing = false
    try XMLText.read(body) { path, text in
      guard path.first == "ListBucketResult" else { return false }
      isListing = true
      switch path.dropFirst() {
      case ["IsTruncated"]: isTruncated = text == "true"
      case ["EncodingType"]: isEncoded = text == "url"
      case ["Contents", "Key"]: entry.key = text
      case ["Contents", "Size"]: entry.size = Int64(text)
      case ["Contents", "ETag"]: entry.etag = text
      case ["Contents"]:
        entries.append(entry)
        entry = Entry()
        return entries.count <= limit
      default: break
      }
      return true
    }
    guard isListing else { throw ObjectStoreError(.failed(.foreign), "the store's answer is no listing") }
    if isEncoded {
      for index in entries.indices { entries[index].key = Self.decode(entries[index].key) }
    }
    self.entries = entries
    self.isTruncated = isTruncated
  }

  /// As forms are encoded: "+" is a space there.
  static func decode(_ text: String) -> String {
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "+") {
        bytes.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isHexadecimal),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte | 0x20 {
    case 0x30...0x39, UInt8(ascii: "a")...UInt8(ascii: "f"): true
    default: false
    }
  }
}
