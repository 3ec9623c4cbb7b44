import SatchelStorage

extension S3Store {
  public func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    var headers: [SigningRequest.Field] = [("content-type", "application/octet-stream")]
    headers += metadata.values.map { ("x-amz-meta-" + $0.key, $0.value) }
    var request = SigningRequest(
      .put, host: endpoint.host, path: try endpoint.path(of: key), headers: headers,
      payload: PayloadHash(of: body))
    let response: HTTPResponse
    switch condition {
    case .none: response = try send(request, about: key.text, body: body, cancellation)
    case .ifAbsent:
      request.headers.append(("if-none-match", "*"))
      response = try send(request, about: key.text, body: body, needsOwnConnection: true, cancellation)
    case .ifMatch(let known): response = try send(request, body, ifMatch: known, key, cancellation)
    }
    guard response.isSuccess else { throw failure(response, about: key.text, isWriting: true) }
    if response.headers["etag"] != nil { return try etag(of: response, key) }
    // Some gateways answer a PUT without the tag.
    do throws(ObjectStoreError) {
      return try head(key, cancellation: cancellation).etag
    } catch {
      throw ObjectStoreError(.unknownOutcome(retryAfter: error.retryAfter), error.message)
    }
  }

  public func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    let request = SigningRequest(.delete, host: endpoint.host, path: try endpoint.path(of: key))
    let response: HTTPResponse
    if let known {
      // Most stores do not look at the condition of a removal.
      guard try head(key, cancellation: cancellation).etag == known else {
        throw ObjectStoreError(.preconditionFailed, "\(key): the object is another one by now")
      }
      response = try send(request, nil, ifMatch: known, key, cancellation)
    } else {
      response = try send(request, about: key.text, cancellation)
    }
    if response.isSuccess { return }
    let failure = failure(response, about: key.text, isWriting: true)
    guard known == nil, failure.reason == .notFound else { throw failure }
  }

  /// Sends a request that depends on a tag, in the spelling that the store understands.
  private func send(
    _ request: SigningRequest, _ body: [UInt8]?, ifMatch known: ETag, _ key: ObjectKey,
    _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> HTTPResponse {
    func attempt(_ spelling: ETagSpelling) throws(ObjectStoreError) -> HTTPResponse {
      var request = request
      request.headers.append(("if-match", spelling.header(known)))
      let response = try send(
        request, about: key.text, body: body, needsOwnConnection: true, cancellation)
      // A removal teaches nothing: most stores do not look at its condition.
      if response.isSuccess, request.method == .put { self.spelling.withLock { $0 = spelling } }
      return response
    }
    let spelling = spelling.withLock { $0 }
    guard spelling == .unknown else { return try attempt(spelling) }
    let response = try attempt(.quoted)
    // Met, as far as can be seen, and yet refused: another spelling may be wanted. What it costs to find out is
    // asked once; if it cannot be found out now, the refusal stands.
    guard response.status == 412, let head = try? head(key, cancellation: cancellation), head.etag == known
    else { return response }
    return try attempt(.bare)
  }
}
