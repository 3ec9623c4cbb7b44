import SatchelCore
import SatchelRemote

extension HostCalls {
  /// Creates a host that forwards its calls to another store, and has the optional functions: parts are in memory until
  /// they are completed.
  package init(inParts store: any ObjectStore) {
    self.init(store)
    let uploads = Locked<[String: [Int: [UInt8]]]>([:])
    transfers = HostTransfers(
      getRange: { key, offset, count, known, cancellation in
        let object = try store.get(ObjectKey(key), cancellation: cancellation)
        guard known == nil || known == object.etag.text else { throw SatchelError(.conflict, "changed") }
        let rest = object.body.dropFirst(Int(clamping: offset)).prefix(Int(clamping: count))
        return HostRange(body: Array(rest), size: Int64(object.body.count), etag: object.etag.text)
      },
      putPart: { _, upload, number, body, _ in
        uploads.withLock { $0[upload, default: [:]][number] = body }
      },
      complete: { key, upload, parts, condition, metadata, cancellation in
        let known = uploads.withLock { $0.removeValue(forKey: upload) } ?? [:]
        if parts == 0 { return "" }
        let bodies = (1...parts).compactMap { known[$0] }
        guard bodies.count == parts else { throw SatchelError(.notFound, "no such upload") }
        return try store.put(
          ObjectKey(key), Array(bodies.joined()), condition: condition, metadata: ObjectMetadata(metadata),
          cancellation: cancellation
        ).text
      })
  }

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
