import ArgumentParser
import Satchel

/// The remote and its user. Credentials are not arguments, since every process of a machine can read those.
struct RemoteArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The user whose data it is on the remote.", valueName: "id"))
  var user: String

  @Option(
    help: ArgumentHelp("The remote: a directory, or s3://bucket/prefix.", valueName: "location"),
    completion: .directory)
  var remote: String

  @OptionGroup var connection: ConnectionArguments

  func validate() throws {
    do { _ = try UserID(user) } catch let error as SatchelError {
      throw ValidationError("--\(error.message)")
    }
    try connection.validate(remote)
  }

  /// Opens the remote.
  ///
  /// - Parameter isReading: whether nothing will be written; a directory that does not exist is an error then
  /// - Throws: `SatchelError`
  func open(isReading: Bool = false) throws -> any ObjectStore {
    try connection.open(remote, isReading: isReading)
  }
}

/// How a remote is reached.
struct ConnectionArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The URL of an S3 store other than AWS: https://host.", valueName: "url"))
  var endpoint: String?

  @Option(help: "The region of an S3 store.")
  var region: String?

  @Flag(
    inversion: .prefixedNo,
    help: "Put the bucket into the URL's path, not into the host name; the default with --endpoint.")
  var pathStyle: Bool?

  @Option(
    help: ArgumentHelp("Trust the certificates in this file instead of the system's.", valueName: "file"),
    completion: .file(extensions: ["pem", "crt"]))
  var caFile: String?

  @Option(
    help: ArgumentHelp(
      "The credentials of an S3 store: a section of ~/.aws/credentials and ~/.aws/config.", valueName: "name")
  )
  var profile: String?

  @Option(help: ArgumentHelp("The proxy of an S3 store, instead of HTTPS_PROXY.", valueName: "url"))
  var proxy: String?

  @Option(
    help: ArgumentHelp(
      "The storage class of files that are uploaded to an S3 store: STANDARD_IA.", valueName: "name"))
  var storageClass: String?

  private static let scheme = "s3://"

  private func isBucket(_ remote: String) -> Bool { remote.lowercased().hasPrefix(Self.scheme) }

  /// - Throws: `ValidationError` for a remote that does not go with the options
  func validate(_ remote: String) throws {
    let isBucket = isBucket(remote)
    // The part after "//" may contain a password, so the message does not repeat it.
    guard isBucket || remote.firstRange(of: "://") == nil else {
      throw ValidationError("--remote: neither a directory nor s3://bucket/prefix")
    }
    if remote.isEmpty { throw ValidationError("--remote: empty") }
    if isBucket, remote.utf8.contains(UInt8(ascii: "@")) {
      throw ValidationError(
        "--remote: credentials are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from --profile, only"
      )
    }
    guard isBucket || (pathStyle == nil && texts.allSatisfy { $0.value == nil }) else {
      throw ValidationError(
        "--endpoint, --region, --path-style, --ca-file, --profile, --proxy and --storage-class need a remote like "
          + "s3://bucket")
    }
  }

  /// Opens the remote.
  ///
  /// - Parameter isReading: whether nothing will be written; a directory that does not exist is an error then
  /// - Throws: `SatchelError`
  func open(_ remote: String, isReading: Bool = false) throws -> any ObjectStore {
    do {
      if isBucket(remote) { return try S3Store(json: options(remote)) }
      guard !isReading || access(remote, F_OK) == 0 else {
        throw SatchelError(.notFound, "\(remote.printable): does not exist")
      }
      return try DirectoryStore(path: remote)
    } catch let error as ObjectStoreError {
      throw error.satchelError
    }
  }

  private var texts: [(name: String, value: String?)] {
    [
      ("endpoint", endpoint), ("region", region), ("ca_file", caFile), ("profile", profile), ("proxy", proxy),
      ("storage_class", storageClass),
    ]
  }

  private func options(_ remote: String) -> JSONValue {
    let path = remote.dropFirst(Self.scheme.count)
    let bucket = path.prefix { $0 != "/" }
    let prefix = path.dropFirst(bucket.count + 1)
    var options: JSONObject = ["bucket": .string(String(bucket))]
    if !prefix.isEmpty { options["prefix"] = .string(String(prefix)) }
    for (name, value) in texts { if let value { options[name] = .string(value) } }
    if let pathStyle { options["path_style"] = .bool(pathStyle) }
    return .object(options)
  }
}
