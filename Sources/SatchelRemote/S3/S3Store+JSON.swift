import SatchelJSON
import SatchelCore

extension S3Store {
  private static let names: Set<String> = [
    "endpoint", "bucket", "region", "access_key", "secret_key", "session_token", "prefix", "path_style",
    "ca_file", "timeouts",
  ]

  /// Opens a bucket that is described in JSON; missing options are read from the standard AWS environment
  /// variables.
  ///
  /// - Parameters:
  ///   - json: `bucket` (required), `endpoint` (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or AWS's
  ///     own), `region` (default: AWS_REGION, AWS_DEFAULT_REGION, or us-east-1), `access_key`, `secret_key`
  ///     and optionally `session_token` (all of them from here, or all from AWS_ACCESS_KEY_ID,
  ///     AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN), `prefix`, `path_style` (default: true unless the
  ///     endpoint is AWS's own), `ca_file`, `timeouts` (`connect`, `stall` and `total`, in milliseconds)
  ///   - environment: returns the value of an environment variable
  /// - Throws: `.failed(.invalid)` with the name of the invalid option, without its value
  public convenience init(
    json: JSONValue, environment: (String) -> String? = S3Store.variable
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
    let region = try text("region", or: "AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
    let address = try text("endpoint", or: "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    let prefix = try text("prefix") ?? ""
    let keyPrefix = try Self.labelingErrors("prefix") { () throws(ObjectStoreError) in
      prefix.isEmpty ? nil : try Self.prefix(prefix)
    }
    let isPathStyle = try Self.isPathStyle(object["path_style"]) ?? (address != nil)
    let endpoint = try Self.labelingErrors("endpoint") { () throws(ObjectStoreError) in
      try S3Endpoint(
        address: address ?? "https://s3.\(region).amazonaws.com", bucket: bucket,
        style: isPathStyle ? .path : .virtualHost, prefix: keyPrefix)
    }
    let keys: (String?, String?, String?) =
      object["access_key"] == nil && object["secret_key"] == nil && object["session_token"] == nil
      ? (
        environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
        environment("AWS_SESSION_TOKEN")
      )
      : (try text("access_key"), try text("secret_key"), try text("session_token"))
    guard let accessKey = keys.0, let secretKey = keys.1 else {
      throw Self.refusal(
        "\"access_key\" or \"secret_key\" is missing in the description and in the environment")
    }
    let token = keys.2.flatMap { $0.isEmpty ? nil : $0 }
    let options = S3Options(
      caFile: try text("ca_file"), timeouts: try Self.timeouts(object["timeouts"]))
    try self.init(
      endpoint: endpoint, region: region,
      credentials: try Credentials(accessKey: accessKey, secretKey: secretKey, sessionToken: token),
      options: options)
  }

  /// Returns an environment variable of this process.
  public static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

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
