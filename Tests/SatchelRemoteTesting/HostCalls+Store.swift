import SatchelRemote

extension HostCalls {
  /// Creates a host that forwards its calls to another store.
  package init(_ store: any ObjectStore) {
    self.init(
      get: { key, known, limit, cancellation in
        let known = known.flatMap { ETag($0) }
        switch try store.get(
          ObjectKey(key), ifNoneMatch: known, limit: limit, cancellation: cancellation)
        {
        case .notModified: return .notModified
        case .object(let object):
          return .object(body: object.body, etag: object.etag.text, metadata: object.metadata.values)
        }
      },
      put: { key, body, condition, metadata, cancellation in
        try store.put(
          ObjectKey(key), body, condition: condition, metadata: ObjectMetadata(metadata),
          cancellation: cancellation
        ).text
      },
      head: { key, cancellation in
        let head = try store.head(ObjectKey(key), cancellation: cancellation)
        return HostHead(size: head.size, etag: head.etag.text, metadata: head.metadata.values)
      },
      delete: { key, known, cancellation in
        try store.delete(ObjectKey(key), ifMatch: known.flatMap { ETag($0) }, cancellation: cancellation)
      },
      list: { prefix, after, limit, cancellation in
        let page = try store.list(
          ObjectPrefix(prefix), from: after.map { ObjectPage.Continuation($0) }, limit: limit,
          cancellation: cancellation)
        return HostPage(
          entries: page.entries.map {
            HostPage.Entry(key: $0.key.text, size: $0.size, etag: $0.etag?.text)
          }, hasMore: page.next != nil)
      })
  }
}
