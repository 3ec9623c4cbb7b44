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
    // Not the store's own token: a key goes on meaning the same, whatever happens to the listing meanwhile.
    if let continuation { query.append(("start-after", continuation.text)) }
    let request = SigningRequest(.get, host: endpoint.host, path: endpoint.bucketPath, query: query)
    let response = try send(request, about: "the listing", limit: 16 << 20, cancellation)
    guard response.status == 200 else { throw failure(response, about: "the listing") }
    let listing = try S3Listing(response.body, limit: limit)
    var (page, seen) = (ObjectPage(entries: []), Set<[UInt8]>())
    if let continuation { seen.insert(Array(continuation.text.utf8)) }
    for entry in listing.entries {
      guard seen.insert(Array(entry.key.utf8)).inserted else {
        throw ObjectStoreError(.failed(.foreign), "the store's listing does not advance")
      }
      if let found = Self.entry(entry, below: base, prefix) {
        page.entries.append(found)
      } else {
        page.skipped += 1
      }
    }
    // Stores that keep directories go through them one by one.
    page.entries.sort { $0.key < $1.key }
    guard listing.isTruncated else { return page }
    guard let last = listing.entries.last else {
      throw ObjectStoreError(.failed(.foreign), "the store's listing goes on, but does not say where")
    }
    page.next = ObjectPage.Continuation(last.key)
    return page
  }

  /// Nil for what is no key of ours: a name that leads out, or one that was not asked for.
  private static func entry(_ entry: S3Listing.Entry, below base: String, _ prefix: ObjectPrefix)
    -> ObjectPage.Entry?
  {
    guard entry.key.utf8.starts(with: base.utf8), let size = entry.size, size >= 0 else { return nil }
    let text = String(decoding: entry.key.utf8.dropFirst(base.utf8.count), as: UTF8.self)
    guard text.utf8.starts(with: prefix.text.utf8), let key = try? ObjectKey(text) else { return nil }
    return ObjectPage.Entry(key: key, size: size, etag: entry.etag.flatMap(ETagSpelling.tag))
  }
}
