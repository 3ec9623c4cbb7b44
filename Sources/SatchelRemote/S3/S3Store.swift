import SatchelStorage

/// Objects in a bucket of S3, or of a store that speaks its language.
///
/// Known to keep what it promises under many writers at once: MiniStack, SeaweedFS, Ceph. A store that ignores
/// conditions can be found out (`ConditionProbe`); one that tests them but not atomically, as OpenStack Swift, cannot.
/// Removing with a condition is as atomic as the store makes it; some ignore the condition of a removal, so that
/// it is also compared before.
public final class S3Store: ObjectStore {
  let endpoint: S3Endpoint
  let options: S3Options
  let credentials: Credentials
  private let signer: RequestSigner
  private let client: HTTPClient
  /// Learned from the first answers.
  let spelling = Guarded(ETagSpelling.unknown)

  /// - Parameters:
  ///   - endpoint: over http:// everything but the secret key is there for all to see, and can be changed on the
  ///     way: only for stores on this machine or in a network of one's own
  ///   - region: as the store's own, for it is part of the signature
  /// - Throws: `.failed(.invalid)` for a region that is no name
  public init(
    endpoint: S3Endpoint, region: String = "us-east-1", credentials: Credentials,
    options: S3Options = S3Options()
  ) throws(ObjectStoreError) {
    self.endpoint = endpoint
    self.options = options
    self.credentials = credentials
    signer = try RequestSigner(credentials: credentials, region: region, clock: options.clock)
    client = HTTPClient(caFile: options.caFile, timeouts: options.timeouts)
  }

  public var listsTags: Bool { true }

  /// Address, bucket, style and prefix.
  public var identity: String? {
    "s3 \(endpoint.origin) \(endpoint.bucket) \(endpoint.style) \(endpoint.prefix?.text ?? "")"
  }

  public func get(_ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectReading
  {
    var headers: [SigningRequest.Field] = []
    if let known { headers.append(("if-none-match", spelling.withLock { $0 }.header(known))) }
    let request = SigningRequest(
      .get, host: endpoint.host, path: try endpoint.path(of: key), headers: headers)
    let response = try send(request, about: key.text, limit: options.maximumSize, cancellation)
    if response.status == 304, known != nil { return .notModified }
    guard response.status == 200 else { throw failure(response, about: key.text) }
    let etag = try etag(of: response, key)
    // Not every store compares for us.
    if etag == known { return .notModified }
    return .object(StoredObject(body: response.body, etag: etag, metadata: Self.metadata(response)))
  }

  public func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    let request = SigningRequest(.head, host: endpoint.host, path: try endpoint.path(of: key))
    let response = try send(request, about: key.text, cancellation)
    guard response.status == 200 else { throw failure(response, about: key.text) }
    guard let size = response.headers["content-length"].flatMap({ Int64($0) }), size >= 0 else {
      throw ObjectStoreError(.failed(.foreign), "\(key): the store does not say how large the object is")
    }
    return ObjectHead(size: size, etag: try etag(of: response, key), metadata: Self.metadata(response))
  }

  /// Signs and sends, and tells what became of it when there is no answer.
  ///
  /// - Parameters:
  ///   - what: names it in messages
  ///   - body: what is written; nil for reading
  ///   - limit: the most bytes of an answer
  func send(
    _ request: SigningRequest, about what: String, body: [UInt8]? = nil, limit: Int64 = 1 << 20,
    needsOwnConnection: Bool = false, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> HTTPResponse {
    try cancellation.check()
    let signed = try signer.sign(request)
    let call = HTTPRequest(
      method: signed.method.rawValue, url: endpoint.origin + signed.target, headers: signed.headers,
      body: body,
      needsOwnConnection: needsOwnConnection, limit: limit)
    do throws(HTTPFailure) {
      return try client.perform(call, cancellation: cancellation)
    } catch {
      throw Self.failure(error, about: what, isWriting: request.isWriting)
    }
  }

  func etag(of response: HTTPResponse, _ key: ObjectKey) throws(ObjectStoreError) -> ETag {
    guard let etag = response.headers["etag"].flatMap(ETagSpelling.tag) else {
      throw ObjectStoreError(.failed(.foreign), "\(key): the store gave no ETag that could be given back")
    }
    return etag
  }

  /// Without what others may have written there that none of our writers could.
  private static func metadata(_ response: HTTPResponse) -> ObjectMetadata {
    let prefix = "x-amz-meta-"
    var values: [String: String] = [:]
    for (name, value) in response.headers where name.hasPrefix(prefix) {
      let name = String(name.dropFirst(prefix.count))
      if (try? ObjectMetadata([name: value])) != nil { values[name] = value }
    }
    return (try? ObjectMetadata(values)) ?? .none
  }
}

extension SigningRequest {
  /// Whether it may change something.
  var isWriting: Bool { method != .get && method != .head }
}
