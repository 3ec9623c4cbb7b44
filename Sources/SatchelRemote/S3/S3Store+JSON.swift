import SatchelJSON
import SatchelCore

extension S3Store {
  private static let names: Set<String> = [
    "endpoint", "bucket", "region", "access_key", "secret_key", "session_token", "profile", "prefix",
    "path_style", "ca_file", "timeouts", "proxy", "storage_class", "encryption", "encryption_key",
  ]

  /// Opens a bucket that is described in JSON; missing options are read from the standard AWS environment
  /// variables, and from the files of AWS's tools.
  ///
  /// - Parameters:
  ///   - json: `bucket` (required), `endpoint` (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's, or AWS's
  ///     own), `region` (default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1), `access_key`,
  ///     `secret_key` and optionally `session_token`, or `profile`, a name in the shared files; `prefix`, `path_style`
  ///     (default: true unless the endpoint is AWS's own), `ca_file`, `timeouts` (`connect`, `stall` and `total`, in
  ///     milliseconds), `proxy` (default: HTTPS_PROXY, except for this machine and NO_PROXY), `storage_class`,
  ///     `encryption`, `encryption_key`
  ///   - credentials: a function; nil for those of `json`, of its profile, of AWS_ACCESS_KEY_ID,
  ///     AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or of the profile AWS_PROFILE, in this order
  ///   - environment: returns the value of an environment variable
  /// - Throws: `.failed(.invalid)` with the name of the invalid option, without its value
  public convenience init(
    json: JSONValue, credentials: CredentialSource? = nil,
    environment: @escaping @Sendable (String) -> String? = S3Store.variable
  ) throws(ObjectStoreError) {
    guard let object = json.objectValue else {
      throw Self.refusal("the object store's description is \(json.kind), not an object")
    }
    if let other = object.keys.first(where: { !Self.names.contains($0) }) {
      throw Self.refusal("unknown object store option \"\(String(other.unicodeScalars.prefix(32)))\"")
    }
    func text(_ name: String, or variables: String...) throws(ObjectStoreError) -> String? {
      guard let value = object[name], !value.isNull else {
        return variables.lazy.compactMap(environment).first { !$0.isEmpty }
      }
      guard let text = value.stringValue else { throw Self.refusal("\"\(name)\" is not a string") }
      return text
    }
    guard let bucket = try text("bucket") else { throw Self.refusal("\"bucket\" is missing") }
    let shared = SharedProfile(try text("profile"), environment)
    let region = try text("region", or: "AWS_REGION", "AWS_DEFAULT_REGION") ?? shared.value("region")
    let address =
      try text("endpoint", or: "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") ?? shared.value("endpoint_url")
    let prefix = try text("prefix") ?? ""
    let keyPrefix = try Self.labelingErrors("prefix") { () throws(ObjectStoreError) in
      prefix.isEmpty ? nil : try Self.prefix(prefix)
    }
    let isPathStyle = try Self.isPathStyle(object["path_style"]) ?? (address != nil)
    let endpoint = try Self.labelingErrors("endpoint") { () throws(ObjectStoreError) in
      try S3Endpoint(
        address: address ?? "https://s3.\(region ?? Self.defaultRegion).amazonaws.com", bucket: bucket,
        style: isPathStyle ? .path : .virtualHost, prefix: keyPrefix)
    }
    let source = try Self.source(
      (text("access_key"), text("secret_key"), text("session_token")), function: credentials, shared: shared)
    var options = S3Options(
      caFile: try text("ca_file"), timeouts: try Self.timeouts(object["timeouts"]))
    options.proxy = try text("proxy") ?? ProxySettings(environment).proxy(for: endpoint)
    if options.proxy?.isEmpty == true { options.proxy = nil }
    for (name, path) in [
      ("storage_class", \S3Options.storageClass), ("encryption", \.encryption),
      ("encryption_key", \.encryptionKey),
    ] {
      guard let value = try text(name) else { continue }
      guard (1...2048).contains(value.utf8.count), value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else {
        throw Self.refusal("\"\(name)\" is empty or not printable ASCII")
      }
      options[keyPath: path] = value
    }
    try self.init(
      endpoint: endpoint, region: region ?? Self.defaultRegion, credentials: source, options: options)
  }

  private static let defaultRegion = "us-east-1"

  /// The source of credentials, which has some.
  private static func source(
    _ keys: (access: String?, secret: String?, token: String?), function: CredentialSource?,
    shared: SharedProfile
  ) throws(ObjectStoreError) -> CredentialSource {
    let hasKeys = keys.access != nil || keys.secret != nil || keys.token != nil
    let given = [hasKeys, function != nil, shared.isNamed].filter { $0 }
    guard given.count <= 1 else {
      throw refusal(
        "\"access_key\", \"profile\" and a function exclude each other: one of them has the credentials")
    }
    if let function { return function }
    if hasKeys {
      guard let access = keys.access, let secret = keys.secret else {
        throw refusal("\"access_key\" or \"secret_key\" is missing")
      }
      let token = keys.token.flatMap { $0.isEmpty ? nil : $0 }
      return CredentialSource(
        try Credentials(accessKey: access, secretKey: secret, sessionToken: token))
    }
    let source = CredentialSource { try shared.credentials() }
    _ = try source.current(at: 0)
    return source
  }

  /// Returns an environment variable of this process.
  @Sendable public static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  private static func refusal(_ reason: String) -> ObjectStoreError {
    ObjectStoreError(.failed(.invalid), reason)
  }

  /// Calls `body`, and adds the name of the option to its errors.
  private static func labelingErrors<Value>(
    _ option: String, _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    do throws(ObjectStoreError) {
      return try body()
    } catch {
      throw ObjectStoreError(error.reason, "\(option): \(error.message)")
    }
  }

  /// Parses a prefix, with or without a slash at its end.
  private static func prefix(_ text: String) throws(ObjectStoreError) -> ObjectKey {
    try ObjectKey(text.utf8.last == UInt8(ascii: "/") ? String(text.dropLast()) : text)
  }

  private static func isPathStyle(_ value: JSONValue?) throws(ObjectStoreError) -> Bool? {
    guard let value, !value.isNull else { return nil }
    guard let isPathStyle = value.boolValue else { throw refusal("\"path_style\" is not a boolean") }
    return isPathStyle
  }

  private static func timeouts(_ value: JSONValue?) throws(ObjectStoreError) -> HTTPTimeouts {
    var timeouts = HTTPTimeouts()
    guard let value, !value.isNull else { return timeouts }
    guard let object = value.objectValue else { throw refusal("\"timeouts\" is not an object") }
    for (name, value) in object {
      guard let milliseconds = value.intValue, (0...86_400_000).contains(milliseconds) else {
        throw refusal("\"timeouts\": a timeout must be an integer from 0 to 86400000 milliseconds")
      }
      switch name {
      case "connect": timeouts.connect = milliseconds
      case "stall": timeouts.stall = milliseconds
      case "total": timeouts.total = milliseconds
      default: throw refusal("\"timeouts\": the options are \"connect\", \"stall\" and \"total\"")
      }
    }
    return timeouts
  }
}

extension S3Store: CustomStringConvertible, CustomReflectable {
  /// The origin and the bucket, without credentials.
  public var description: String { "S3Store(\(endpoint.origin), \(endpoint.bucket))" }
  public var customMirror: Mirror { Mirror(self, children: ["endpoint": endpoint]) }
}
