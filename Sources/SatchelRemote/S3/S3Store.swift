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
  let credentials: Credentials
  private let signer: RequestSigner
  private let client: HTTPClient
  /// The quoting of ETags that the server expects, determined from its first responses.
  let quoting = Locked(ETagQuoting.unknown)
  private let latestDate = Locked<Int64?>(nil)

  /// - Parameters:
  ///   - endpoint: http:// protects only the secret key; everything else can be read and modified in transit.
  ///     Use it only for servers on this machine or in a trusted network
  ///   - region: the server's region, which is part of the signature
  /// - Throws: `.failed(.invalid)` for an invalid region name
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
    guard response.status == 200 else { throw failure(response, about: key.text) }
    let etag = try etag(of: response, key)
    // Some servers ignore If-None-Match on GET.
    if etag == known { return .notModified }
    return .object(StoredObject(body: response.body, etag: etag, metadata: Self.metadata(response)))
  }

  public func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    let request = SigningRequest(.head, host: endpoint.host, path: try endpoint.path(of: key))
    let response = try send(request, about: key.text, cancellation)
    if response.status == 400 || response.status == 403 {
      // An answer to HEAD has no body that would name the cause: an expired token, for example.
      throw try reasonToRefuse(key, cancellation) ?? failure(response, about: key.text)
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
    return response.isSuccess || response.status == 416 ? nil : failure(response, about: key.text)
  }

  /// Signs and sends a request, and converts failures without a response.
  ///
  /// - Parameters:
  ///   - subject: the subject for messages
  ///   - limit: the maximum size of the response body in bytes
  func send(
    _ request: SigningRequest, about subject: String, body: HTTPBody = .none, limit: Int64 = 1 << 20,
    receiver: HTTPBodyReceiver? = nil, needsOwnConnection: Bool = false, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> HTTPResponse {
    try cancellation.check()
    let signed = try signer.sign(request)
    let call = HTTPRequest(
      method: signed.method.rawValue, url: endpoint.origin + signed.target, headers: signed.headers,
      body: body, receiver: receiver,
      needsOwnConnection: needsOwnConnection, limit: limit)
    do throws(HTTPFailure) {
      let response = try client.perform(call, cancellation: cancellation)
      note(date: response)
      return response
    } catch {
      throw Self.failure(error, about: subject, isWriting: request.isWriting)
    }
  }

  private func note(date response: HTTPResponse) {
    guard let text = response.headers["date"] else { return }
    let seconds = ccurl_date(text)
    guard seconds > 0, seconds <= StoreClock.latest / 1000 else { return }
    latestDate.withLock { $0 = Int64(seconds) * 1000 }
  }

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
