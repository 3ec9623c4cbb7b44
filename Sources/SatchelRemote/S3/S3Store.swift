import CCurl
import SatchelCore

/// An object store in a bucket of Amazon S3 or of an S3-compatible server.
///
/// Tested with concurrent writers: MiniStack, SeaweedFS, Ceph. `ConditionProbe` detects a server that ignores
/// conditions, but not one that checks them without atomicity, such as OpenStack Swift. A conditional delete
/// is as atomic as the server makes it; some servers ignore its condition, so the ETag is also compared
/// before.
public final class S3Store: ObjectStore, DatedObjectStore {
  let endpoint: S3Endpoint
  let options: S3Options
  let credentials: CredentialSource
  /// The clock of signatures, corrected by what the store's answers show.
  let clock: Clock
  private let correction: Locked<Int64>
  private let region: String
  private let client: HTTPClient
  /// The quoting of ETags that the server expects, determined from its first responses.
  let quoting = Locked(ETagQuoting.unknown)
  private let latestDate = Locked<Int64?>(nil)

  /// - Parameters:
  ///   - endpoint: http:// protects only the secret key; everything else can be read and modified in transit.
  ///     Use it only for servers on this machine or in a trusted network
  ///   - region: the server's region, which is part of the signature
  ///   - credentials: the source is asked for new ones when they expire, and when the store does not accept them
  /// - Throws: `.failed(.invalid)` for an invalid region name
  public init(
    endpoint: S3Endpoint, region: String = "us-east-1", credentials: CredentialSource,
    options: S3Options = S3Options()
  ) throws(ObjectStoreError) {
    try RequestSigner.check(region: region)
    let correction = Locked(Int64(0))
    self.endpoint = endpoint
    self.options = options
    self.credentials = credentials
    self.region = region
    self.correction = correction
    clock = Clock { options.clock.now() &+ correction.withLock { $0 } }
    client = HTTPClient(
      HTTPRoute(caFile: options.caFile, proxy: options.proxy, timeouts: options.timeouts))
  }

  /// A store with credentials that do not change.
  public convenience init(
    endpoint: S3Endpoint, region: String = "us-east-1", credentials: Credentials,
    options: S3Options = S3Options()
  ) throws(ObjectStoreError) {
    try self.init(
      endpoint: endpoint, region: region, credentials: CredentialSource(credentials), options: options)
  }

  package var date: Int64? { latestDate.withLock { $0 } }

  public var listsETags: Bool { true }

  /// The endpoint's origin, bucket, style and prefix.
  public var identity: String? {
    "s3 \(endpoint.origin)\(endpoint.path) \(endpoint.bucket) \(endpoint.style.rawValue) \(endpoint.prefix?.text ?? "")"
  }

  public func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    var headers: [SigningRequest.Field] = []
    if let known { headers.append(("if-none-match", quoting.withLock { $0 }.header(known))) }
    let request = SigningRequest(
      .get, host: endpoint.host, path: try endpoint.path(of: key), headers: headers)
    let limit = min(limit, options.maximumSize)
    let response: HTTPResponse
    do throws(ObjectStoreError) {
      response = try send(request, about: key.text, limit: limit, cancellation)
    } catch {
      throw error.reason == .tooLarge ? .tooLarge(key, limit: limit) : error
    }
    if response.status == 304, known != nil { return .notModified }
    guard response.status == 200 else { throw failure(response, reading: key, cancellation) }
    let etag = try etag(of: response, key)
    // Some servers ignore If-None-Match on GET.
    if etag == known { return .notModified }
    return .object(StoredObject(body: response.body, etag: etag, metadata: Self.metadata(response)))
  }

  public func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    let request = SigningRequest(.head, host: endpoint.host, path: try endpoint.path(of: key))
    var response = try send(request, about: key.text, cancellation)
    if response.status == 400 || response.status == 403 {
      // An answer to HEAD has no body that would name the cause: an expired token, for example.
      if let reason = try reasonToRefuse(key, cancellation) { throw reason }
      // The cause is mended: new credentials, or the store's time.
      response = try send(request, about: key.text, cancellation)
    }
    guard response.status == 200 else { throw failure(response, about: key.text) }
    var size = response.headers["content-length"].flatMap { Int64($0) }
    // Optional in HTTP, and removed by proxies that compress.
    if size == nil { size = try listedSize(of: key, cancellation) }
    guard let size, size >= 0 else {
      throw ObjectStoreError(
        .failed(.foreign),
        "\(key): the store says the size of the object neither in a response to HEAD nor in a listing",
        faultClass: .object)
    }
    return ObjectHead(size: size, etag: try etag(of: response, key), metadata: Self.metadata(response))
  }

  private func listedSize(of key: ObjectKey, _ cancellation: Cancellation) throws(ObjectStoreError) -> Int64?
  {
    let page = try list(ObjectPrefix(key.text), from: nil, limit: 1, cancellation: cancellation)
    return page.entries.first { $0.key == key }?.size
  }

  /// The failure of reading the first byte of an object; nil when it can be read.
  private func reasonToRefuse(_ key: ObjectKey, _ cancellation: Cancellation) throws(ObjectStoreError)
    -> ObjectStoreError?
  {
    let request = SigningRequest(
      .get, host: endpoint.host, path: try endpoint.path(of: key), headers: [("range", "bytes=0-0")])
    let response = try send(request, about: key.text, limit: 1 << 16, cancellation)
    if response.isSuccess || response.status == 416 { return nil }
    return failure(response, reading: key, cancellation)
  }

  /// The failure of a read. Where the credentials may not list, S3 answers 403 for an object that does not exist; where
  /// they may, and a store answers so all the same, the listing shows it.
  func failure(_ response: HTTPResponse, reading key: ObjectKey, _ cancellation: Cancellation)
    -> ObjectStoreError
  {
    let failure = failure(response, about: key.text)
    let code = S3ErrorBody(response.body).code
    guard response.status == 403, code.isEmpty || code == "AccessDenied" else { return failure }
    do throws(ObjectStoreError) {
      let page = try list(ObjectPrefix(key.text), from: nil, limit: 1, cancellation: cancellation)
      if page.entries.contains(where: { $0.key == key }) { return failure }
      return ObjectStoreError(.notFound, "\(key): the object does not exist")
    } catch {
      guard error.reason == .denied else { return failure }
      return ObjectStoreError(
        .denied,
        "\(failure.message) (the credentials may not read it, or it does not exist: without the right to list, "
          + "s3:ListBucket, a store does not say which)")
    }
  }

  /// Signs and sends a request, and converts failures without a response. A request that was refused for its date or its
  /// credentials is signed again, once with the store's time, and once with new credentials.
  ///
  /// - Parameters:
  ///   - subject: the subject for messages
  ///   - limit: the maximum size of the response body in bytes
  func send(
    _ request: SigningRequest, about subject: String, body: HTTPBody = .none, limit: Int64 = 1 << 20,
    receiver: HTTPBodyReceiver? = nil, needsOwnConnection: Bool = false, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> HTTPResponse {
    var (isCorrected, isRenewed) = (false, false)
    while true {
      try cancellation.check()
      let known = try credentials.current(at: clock.now())
      let signed = try RequestSigner(credentials: known, region: region, clock: clock).sign(request)
      let call = HTTPRequest(
        method: signed.method.rawValue, url: endpoint.origin + signed.target, headers: signed.headers,
        body: body, receiver: receiver,
        needsOwnConnection: needsOwnConnection, limit: limit)
      let response: HTTPResponse
      do throws(HTTPFailure) {
        response = try client.perform(call, cancellation: cancellation)
      } catch {
        throw Self.failure(error, about: subject, isWriting: request.isWriting)
      }
      let date = Self.date(response)
      if let date { latestDate.withLock { $0 = date } }
      guard (400..<500).contains(response.status), !response.body.isEmpty else { return response }
      let code = S3ErrorBody(response.body).code
      if !isCorrected, code == "RequestTimeTooSkewed", let date, isSkewed(date) {
        isCorrected = true
        correction.withLock { $0 = date &- options.clock.now() }
      } else if !isRenewed, CredentialSource.isRenewing(code), try credentials.renew(known) {
        isRenewed = true
      } else {
        return response
      }
      body.reader?.rewind()
    }
  }

  /// The time of a response, Unix milliseconds.
  static func date(_ response: HTTPResponse) -> Int64? {
    guard let text = response.headers["date"] else { return nil }
    let seconds = Int64(ccurl_date(text))
    return seconds > 0 && seconds <= StoreClock.latest / 1000 ? seconds * 1000 : nil
  }

  /// Whether the time of signatures differs so much from the store's that this may be the cause of a refusal.
  func isSkewed(_ date: Int64) -> Bool { (clock.now() - date).magnitude > 300_000 }

  func etag(of response: HTTPResponse, _ key: ObjectKey) throws(ObjectStoreError) -> ETag {
    guard let etag = response.headers["etag"].flatMap(ETagQuoting.tag) else {
      throw ObjectStoreError(.failed(.foreign), "\(key): the store's response has no valid ETag")
    }
    return etag
  }

  /// Returns the valid metadata of a response; other programs may have written names or values that are not
  /// valid.
  static func metadata(_ response: HTTPResponse) -> ObjectMetadata {
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
  /// Whether the request may change an object.
  var isWriting: Bool { method != .get && method != .head }
}

/// Options of an S3 store.
public struct S3Options: Sendable {
  /// The path of a PEM file with the certificates to trust instead of the system's.
  public var caFile: String?
  public var timeouts: HTTPTimeouts
  /// The URL of a proxy, such as "http://proxy.example.org:3128"; nil for none.
  public var proxy: String?
  /// The storage class of files that are uploaded, such as "STANDARD_IA"; nil for the bucket's. Objects that every
  /// synchronization reads (manifests, shards, logs) have the bucket's in any case.
  public var storageClass: String?
  /// The encryption by the store, "AES256" or "aws:kms"; nil for the bucket's.
  public var encryption: String?
  /// The key of "aws:kms"; nil for the account's.
  public var encryptionKey: String?
  /// The maximum size of an object that is read, in bytes, which limits memory use.
  public var maximumSize: Int64
  /// The clock for the dates in signatures.
  public var clock: Clock

  public init(
    caFile: String? = nil, timeouts: HTTPTimeouts = HTTPTimeouts(), maximumSize: Int64 = 1 << 30,
    clock: Clock = .system
  ) {
    self.caFile = caFile
    self.timeouts = timeouts
    self.maximumSize = maximumSize
    self.clock = clock
  }
}
