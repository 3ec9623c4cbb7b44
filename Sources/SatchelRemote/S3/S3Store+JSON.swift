import SatchelJSON
import SatchelStorage

extension S3Store {
  private static let names: Set<String> = [
    "endpoint", "bucket", "region", "access_key", "secret_key", "session_token", "prefix", "path_style",
    "ca_file",
    "timeouts",
  ]

  /// A bucket as it is described in JSON; what is missing comes from the usual environment variables.
  ///
  /// - Parameters:
  ///   - json: `bucket`, and perhaps `endpoint` (or AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL; else that of AWS), `region`
  ///     (AWS_REGION, AWS_DEFAULT_REGION; else us-east-1), `access_key` and `secret_key` with perhaps a
  ///     `session_token` (all from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or all from here),
  ///     `prefix`, `path_style` (true unless the endpoint is that of AWS), `ca_file`, `timeouts` (`connect`, `stall`
  ///     and `total`, in milliseconds)
  ///   - environment: the value of a variable
  /// - Throws: `.failed(.invalid)` that names what is wrong, without its value
  public convenience init(
    json: JSONValue, environment: (String) -> String? = S3Store.variable
  ) throws(ObjectStoreError) {
    guard let object = json.objectValue else {
      throw Self.refusal("an object store is described by an object, not by \(json.kind)")
    }
    if let other = object.keys.first(where: { !Self.names.contains($0) }) {
      throw Self.refusal("an object store has no \"\(String(other.unicodeScalars.prefix(32)))\"")
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
    let place = try Self.naming("prefix") { () throws(ObjectStoreError) in
      prefix.isEmpty ? nil : try Self.prefix(prefix)
    }
    let isPathStyle = try Self.isPathStyle(object["path_style"]) ?? (address != nil)
    let endpoint = try Self.naming("endpoint") { () throws(ObjectStoreError) in
      try S3Endpoint(
        address: address ?? "https://s3.\(region).amazonaws.com", bucket: bucket,
        style: isPathStyle ? .path : .virtualHost,
        prefix: place)
    }
    let keys: (String?, String?, String?) =
      object["access_key"] == nil && object["secret_key"] == nil && object["session_token"] == nil
      ? (
        environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
        environment("AWS_SESSION_TOKEN")
      )
      : (try text("access_key"), try text("secret_key"), try text("session_token"))
    guard let accessKey = keys.0, let secretKey = keys.1 else {
      throw Self.refusal("\"access_key\" or \"secret_key\" is missing, here and in the environment")
    }
    let token = keys.2.flatMap { $0.isEmpty ? nil : $0 }
    let options = S3Options(
      caFile: try text("ca_file"), timeouts: try Self.timeouts(object["timeouts"]))
    try self.init(
      endpoint: endpoint, region: region,
      credentials: try Credentials(accessKey: accessKey, secretKey: secretKey, sessionToken: token),
      options: options)
  }

  /// A variable of this process's environment.
  public static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  private static func refusal(_ why: String) -> ObjectStoreError { ObjectStoreError(.failed(.invalid), why) }

  /// Says which option an error is about.
  private static func naming<Value>(
    _ option: String, _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    do throws(ObjectStoreError) {
      return try body()
    } catch {
      throw ObjectStoreError(error.reason, "\(option): \(error.message)")
    }
  }

  /// With or without a slash at its end.
  private static func prefix(_ text: String) throws(ObjectStoreError) -> ObjectKey {
    try ObjectKey(text.utf8.last == UInt8(ascii: "/") ? String(text.dropLast()) : text)
  }

  private static func isPathStyle(_ value: JSONValue?) throws(ObjectStoreError) -> Bool? {
    guard let value, !value.isNull else { return nil }
    guard let isPathStyle = value.boolValue else { throw refusal("\"path_style\" is neither true nor false") }
    return isPathStyle
  }

  private static func timeouts(_ value: JSONValue?) throws(ObjectStoreError) -> HTTPTimeouts {
    var timeouts = HTTPTimeouts()
    guard let value, !value.isNull else { return timeouts }
    guard let object = value.objectValue else { throw refusal("\"timeouts\" is not an object") }
    for (name, value) in object {
      guard let milliseconds = value.intValue, (0...86_400_000).contains(milliseconds) else {
        throw refusal("a timeout is not a number of milliseconds from 0 to a day")
      }
      switch name {
      case "connect": timeouts.connect = milliseconds
      case "stall": timeouts.stall = milliseconds
      case "total": timeouts.total = milliseconds
      default: throw refusal("\"timeouts\" are \"connect\", \"stall\" and \"total\"")
      }
    }
    return timeouts
  }
}

extension S3Store: CustomStringConvertible, CustomReflectable {
  /// Names the bucket, and nothing that would let anybody in.
  public var description: String { "S3Store(\(endpoint.origin), \(endpoint.bucket))" }
  public var customMirror: Mirror { Mirror(self, children: ["endpoint": endpoint]) }
}
