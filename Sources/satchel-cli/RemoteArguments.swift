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

  private static let scheme = "s3://"

  private var isBucket: Bool { remote.lowercased().hasPrefix(Self.scheme) }

  func validate() throws {
    do { _ = try UserID(user) } catch let error as SatchelError {
      throw ValidationError("--\(error.message)")
    }
    // The part after "//" may contain a password, so the message does not repeat it.
    guard isBucket || remote.firstRange(of: "://") == nil else {
      throw ValidationError("--remote: neither a directory nor s3://bucket/prefix")
    }
    if remote.isEmpty { throw ValidationError("--remote: empty") }
    if isBucket, remote.utf8.contains(UInt8(ascii: "@")) {
      throw ValidationError(
        "--remote: credentials are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only")
    }
    guard isBucket || (endpoint == nil && region == nil && pathStyle == nil && caFile == nil) else {
      throw ValidationError("--endpoint, --region, --path-style and --ca-file need a remote like s3://bucket")
    }
  }

  /// Opens the remote.
  ///
  /// - Parameter isReading: whether nothing will be written; a directory that does not exist is an error then
  /// - Throws: `SatchelError`
  func open(isReading: Bool = false) throws -> any ObjectStore {
    do {
      if isBucket { return try S3Store(json: options) }
      guard !isReading || access(remote, F_OK) == 0 else {
        throw SatchelError(.notFound, "\(remote.printable): does not exist")
      }
      return try DirectoryStore(path: remote)
    } catch let error as ObjectStoreError {
      throw error.satchelError
    }
  }

  private var options: JSONValue {
    let path = remote.dropFirst(Self.scheme.count)
    let bucket = path.prefix { $0 != "/" }
    let prefix = path.dropFirst(bucket.count + 1)
    var options: JSONObject = ["bucket": .string(String(bucket))]
    if !prefix.isEmpty { options["prefix"] = .string(String(prefix)) }
    if let endpoint { options["endpoint"] = .string(endpoint) }
    if let region { options["region"] = .string(region) }
    if let pathStyle { options["path_style"] = .bool(pathStyle) }
    if let caFile { options["ca_file"] = .string(caFile) }
    return .object(options)
  }
}
