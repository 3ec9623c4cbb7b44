import SatchelCore

extension S3Store {
  public func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try put(
      key, { .bytes(body) }, digests: ContentHash.digests(of: body), condition: condition,
      headers: headers(key, metadata), cancellation: cancellation)
  }

  /// Writes an object.
  ///
  /// - Parameters:
  ///   - body: called for each request
  ///   - headers: those of a new object
  ///   - readsBack: whether the caller reads the object back when the condition is not met
  func put(
    _ key: ObjectKey, _ body: () -> HTTPBody, digests: ContentDigests, condition: ObjectCondition,
    headers: [SigningRequest.Field], readsBack: Bool = false, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    var request = SigningRequest(
      .put, host: endpoint.host, path: try endpoint.path(of: key),
      headers: headers + [Self.checksum(digests)], payload: PayloadHash(of: digests))
    let response = try send(
      &request, about: key, body: body, condition: condition, readsBack: readsBack, cancellation)
    guard response.isSuccess else { throw failure(response, about: key.text, isWriting: true) }
    if response.headers["etag"] != nil { return try etag(of: response, key) }
    // Some gateways respond to a PUT without an ETag.
    do throws(ObjectStoreError) {
      return try head(key, cancellation: cancellation).etag
    } catch {
      throw ObjectStoreError(.unknownOutcome(retryAfter: error.retryAfter), error.message)
    }
  }

  /// The headers of a new object.
  ///
  /// - Parameter isFile: whether it has the storage class of files
  func headers(_ key: ObjectKey, _ metadata: ObjectMetadata, isFile: Bool = false) -> [SigningRequest.Field] {
    var headers: [SigningRequest.Field] = [("content-type", Self.contentType(of: key))]
    headers += metadata.values.map { ("x-amz-meta-" + $0.key, $0.value) }
    if isFile, let name = options.storageClass { headers.append(("x-amz-storage-class", name)) }
    if let name = options.encryption { headers.append(("x-amz-server-side-encryption", name)) }
    if let key = options.encryptionKey {
      headers.append(("x-amz-server-side-encryption-aws-kms-key-id", key))
    }
    return headers
  }

  /// The checksum header of a body, which buckets with Object Lock demand.
  static func checksum(_ digests: ContentDigests) -> SigningRequest.Field {
    ("content-md5", Base64.encode(digests.md5))
  }

  /// Sends a request that writes an object, under a condition.
  ///
  /// - Parameter readsBack: whether the caller tells its own object from another writer's: then a reused connection,
  ///   on which libcurl may repeat the request unnoticed, is fine, and saves establishing one for each file
  func send(
    _ request: inout SigningRequest, about key: ObjectKey, body: () -> HTTPBody, condition: ObjectCondition,
    readsBack: Bool = false, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> HTTPResponse {
    switch condition {
    case .none: return try send(request, about: key.text, body: body(), cancellation)
    case .ifAbsent:
      request.headers.append(("if-none-match", "*"))
      return try send(request, about: key.text, body: body(), needsOwnConnection: !readsBack, cancellation)
    case .ifMatch(let known):
      return try send(request, about: key, body: body, ifMatch: known, cancellation)
    }
  }

  /// The media type for browsers and other programs, by the key's extension.
  static func contentType(of key: ObjectKey) -> String {
    if key.text.hasSuffix(".csv") { return "text/csv" }
    if key.text.hasSuffix(".json") { return "application/json" }
    return "application/octet-stream"
  }

  public func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    let request = SigningRequest(.delete, host: endpoint.host, path: try endpoint.path(of: key))
    let response: HTTPResponse
    if let known {
      // Most servers ignore the condition of a delete.
      guard try head(key, cancellation: cancellation).etag == known else {
        throw ObjectStoreError(.preconditionFailed, "\(key): the object has been changed: its ETag differs")
      }
      response = try send(request, about: key, body: { .none }, ifMatch: known, cancellation)
    } else {
      response = try send(request, about: key.text, cancellation)
    }
    if response.isSuccess { return }
    let failure = failure(response, about: key.text, isWriting: true)
    guard known == nil, failure.reason == .notFound else { throw failure }
  }

  /// Sends a request with If-Match, with the ETag quoted as the server expects.
  private func send(
    _ request: SigningRequest, about key: ObjectKey, body: () -> HTTPBody, ifMatch known: ETag,
    _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> HTTPResponse {
    func attempt(_ quoting: ETagQuoting) throws(ObjectStoreError) -> HTTPResponse {
      var request = request
      request.headers.append(("if-match", quoting.header(known)))
      let response = try send(
        request, about: key.text, body: body(), needsOwnConnection: true, cancellation)
      // A delete proves nothing: most servers ignore its condition.
      if response.isSuccess, request.method != .delete { self.quoting.withLock { $0 = quoting } }
      return response
    }
    let quoting = quoting.withLock { $0 }
    guard quoting == .unknown else { return try attempt(quoting) }
    let response = try attempt(.quoted)
    // The condition appears to be met, but the server refused it: it may expect the ETag without quotes. This
    // is tested once; if the test is not possible now, the refusal is returned.
    guard response.status == 412, let head = try? head(key, cancellation: cancellation), head.etag == known
    else { return response }
    return try attempt(.bare)
  }
}

/// The quoting of ETags that a server expects in conditions.
enum ETagQuoting: Sendable {
  /// Not determined yet.
  case unknown
  /// With quotes, as specified by HTTP and S3.
  case quoted
  /// Without quotes: Ceph does not match a quoted ETag.
  case bare

  func header(_ etag: ETag) -> String { self == .bare ? Self.inner(etag.text) : etag.text }

  /// Normalizes an ETag from a response: quoted, and never weak, because servers do not accept weak ones in
  /// If-Match.
  static func tag(_ text: String) -> ETag? {
    let inner = inner(text.hasPrefix("W/") ? String(text.dropFirst(2)) : text)
    return inner.isEmpty ? nil : ETag("\"\(inner)\"")
  }

  private static func inner(_ text: String) -> String {
    text.utf8.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
      ? String(text.dropFirst().dropLast()) : text
  }
}
