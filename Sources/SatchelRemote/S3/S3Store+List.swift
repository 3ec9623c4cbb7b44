import SatchelCore
extension S3Store {
  public func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    let (limit, base) = (min(max(limit, 1), 1000), endpoint.prefix.map { $0.text + "/" } ?? "")
    var query: [SigningRequest.Field] = [
      ("list-type", "2"), ("encoding-type", "url"), ("max-keys", String(limit)),
      ("prefix", base + prefix.text),
    ]
    // start-after instead of the server's continuation token: a key stays valid whatever changes in the
    // meantime.
    if let continuation { query.append(("start-after", continuation.text)) }
    let request = SigningRequest(.get, host: endpoint.host, path: endpoint.bucketPath, query: query)
    let response = try send(request, about: "the listing", limit: 16 << 20, cancellation)
    guard response.status == 200 else { throw failure(response, about: "the listing") }
    let listing = try S3Listing(response.body, limit: limit)
    var (page, seen) = (ObjectPage(entries: []), Set<[UInt8]>())
    if let continuation { seen.insert(Array(continuation.text.utf8)) }
    for entry in listing.entries {
      guard seen.insert(Array(entry.key.utf8)).inserted else {
        throw ObjectStoreError.listingDoesNotAdvance
      }
      if let found = Self.entry(entry, below: base, prefix) {
        page.entries.append(found)
      } else {
        page.skipped += 1
      }
    }
    // Servers that keep directories list them one after the other, not in byte order.
    page.entries = page.entries.ordered { $0.key < $1.key }
    guard listing.isTruncated else { return page }
    guard let last = listing.entries.last else {
      throw ObjectStoreError(.failed(.foreign), "the store's listing is truncated, but has no entries")
    }
    page.next = ObjectPage.Continuation(last.key)
    return page
  }

  /// Converts an entry; returns nil for an invalid key, or one without the requested prefix.
  private static func entry(_ entry: S3Listing.Entry, below base: String, _ prefix: ObjectPrefix)
    -> ObjectPage.Entry?
  {
    guard entry.key.utf8.starts(with: base.utf8), let size = entry.size, size >= 0 else { return nil }
    let text = String(decoding: entry.key.utf8.dropFirst(base.utf8.count), as: UTF8.self)
    guard text.utf8.starts(with: prefix.text.utf8), let key = try? ObjectKey(text) else { return nil }
    return ObjectPage.Entry(key: key, size: size, etag: entry.etag.flatMap(ETagQuoting.tag))
  }
}

/// The XML response to ListObjectsV2.
struct S3Listing {
  struct Entry {
    var key = ""
    var size: Int64?
    var etag: String?
  }

  private(set) var entries: [Entry] = []
  private(set) var isTruncated = false

  /// - Parameter limit: the maximum number of entries that was requested
  /// - Throws: `.foreign` for a body that is not a listing, or has more entries than that
  init(_ body: [UInt8], limit: Int) throws(ObjectStoreError) {
    var (entry, entries, isTruncated, isEncoded) = (Entry(), [Entry](), false, false)
    var isListing = false
    try XMLReader.read(body) { path, text in
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
    guard isListing else {
      throw ObjectStoreError(.failed(.foreign), "the store's response is not a listing")
    }
    if isEncoded {
      for index in entries.indices { entries[index].key = Self.decode(entries[index].key) }
    }
    self.entries = entries
    self.isTruncated = isTruncated
  }

  /// Decodes percent-encoding as in HTML forms, where "+" is a space.
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
